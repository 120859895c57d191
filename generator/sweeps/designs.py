"""The design of a sweep: which settings are changed together, and what each cell is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

from pydantic import ValidationError

from generator.errors import near_miss
from generator.settings import ServerSettings

Design = Literal["one-at-a-time", "pairs", "full"]
Level = bool | int | str
Factors = Mapping[str, Sequence[Level]]
Cell = frozenset[str]
"""The settings of a cell that are not the baseline's, each written `factor=level`."""

BASELINE = "baseline"
RUNS = ("a", "b")
# factors that are no settings of a server: pins, and what was asked before
PINS = ("engine", "model")
CACHE, PREFIX = "cache", "prefix"
MAX_CELLS = 100


def written(level: Level) -> str:
    """Return a level as it is written in names; 1 and true are two levels."""
    return str(level).lower() if isinstance(level, bool) else str(level)


@dataclass(frozen=True)
class Change:
    """One factor at a level which is not the baseline's."""

    factor: str
    level: Level

    def __str__(self) -> str:
        """Return it as it is written in names: `n_ubatch=256`, `repack=false`."""
        return f"{self.factor}={written(self.level)}"


def known_factors() -> list[str]:
    """Return every name that a factor may have."""
    return [*(name for name in ServerSettings.model_fields if name != "extra"),
            *PINS, CACHE, PREFIX]  # fmt: skip


def changed_at_once(factors: Factors, design: Design) -> int:
    """Return how many factors a design changes at once, at most."""
    return {"one-at-a-time": 1, "pairs": 2, "full": len(factors)}[design]


def arrangements(factors: Factors, design: Design) -> list[tuple[Change, ...]]:
    """Return what each boot changes: the baseline (nothing) first, then ever more at once.

    The cache is in no arrangement: it costs an ask and no boot, so every boot is asked in all of
    its states.
    """
    crossed = [
        [Change(factor, level) for level in levels[1:]]
        for factor, levels in factors.items()
        if factor != CACHE
    ]
    return [
        changes
        for size in range(changed_at_once(factors, design) + 1)
        for chosen in combinations(crossed, size)
        for changes in product(*chosen)
    ]


def count_arrangements(factors: Factors, design: Design) -> int:
    """Return how many arrangements there are, without making them: there may be millions."""
    by_size = [1]  # the coefficients of the product of (1 + changes · x)
    for factor, levels in factors.items():
        if factor != CACHE:
            changes = len(levels) - 1
            by_size = [
                here + changes * below
                for here, below in zip([*by_size, 0], [0, *by_size], strict=True)
            ]
    return sum(by_size[: changed_at_once(factors, design) + 1])


def label(settings: Iterable[str]) -> str:
    """Return the name of a cell, its settings in the order in which they are given."""
    return " ".join(settings) or BASELINE


def read_label(text: str) -> Cell:
    """Return the cell that goes by a name."""
    return frozenset() if text == BASELINE else frozenset(text.split(" "))


def is_label(text: str) -> bool:
    """Whether *text* is the name of a cell, rather than that of an intervention."""
    return text == BASELINE or "=" in text


def factor_of(setting: str) -> str:
    """Return the factor of a setting such as `n_ubatch=256`."""
    return setting.partition("=")[0]


def level_faults(factor: str, levels: Sequence[Level]) -> list[tuple[str, str]]:
    """Return what is wrong with a factor, each fault with what is allowed."""
    if factor not in known_factors():
        return [(f"unknown factor {factor!r}", near_miss(factor, known_factors()))]
    faults = [fault for level in levels for fault in level_fault(factor, level)]
    if len(set(map(written, levels))) < len(levels):
        faults.append(("a level is named twice", "name each level once"))
    if len(levels) < 2:  # noqa: PLR2004 - a baseline, and something else to compare with it
        faults.append(("one level changes nothing", "name the baseline's and at least one more"))
    if factor == CACHE and levels[:1] != ["cold"]:
        faults.append(("the baseline is the first ask of a boot", "begin with cold"))
    if factor == PREFIX and levels[:1] != [0]:
        faults.append(("the baseline has no earlier ask", "begin with 0"))
    return faults


def level_fault(factor: str, level: Level) -> list[tuple[str, str]]:
    """Return what is wrong with one level of a known factor."""
    text = isinstance(level, str)
    if text and (not level or set(str(level)) & set(" =\t\n")):
        return [(f"{level!r} has a space or a `=`", "these part the settings of a cell's name")]
    if factor == CACHE:
        return (
            [] if level in ("cold", "warm") else [(f"{level!r} is no cache", "write cold or warm")]
        )
    if factor == PREFIX:
        whole = isinstance(level, int) and not isinstance(level, bool)
        allowed = "write a number of characters; -1 leaves off the last"
        return [] if whole else [(f"{level!r} is no prefix", allowed)]
    if factor in PINS:
        return (
            [] if text else [(f"{level!r} is no {factor}", f"write the name of a pinned {factor}")]
        )
    try:
        ServerSettings.model_validate({factor: level})
    except ValidationError as error:
        allowed = error.errors()[0]["msg"].replace("Input should be", "write")
        return [(f"{level!r} is no {factor}", allowed)]
    return []
