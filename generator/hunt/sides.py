"""The two sides of a hunt: which settings each has, read from words such as `n_ubatch=64`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from generator.errors import COMMAND_LINE, Fault, InputError, near_miss
from generator.settings import ServerSettings
from generator.sweeps.designs import CACHE, Level, level_fault

ENGINE = "engine"
# a chat template shapes chats alone, and a hunt asks for completions
_NOT_HERE = ("extra", "chat_template")


@dataclass(frozen=True)
class Side:
    """One way to ask.

    Attributes:
        words: Its settings as they were given.
        engine: The pinned engine that answers.
        server: What its server is started with.
        cache: Whether nothing of the prompt is cached, or all but its last token.
    """

    words: str
    engine: str
    server: ServerSettings
    cache: Literal["cold", "warm"]

    def level(self, factor: str) -> Level:
        """Return its level of a factor."""
        if factor in (ENGINE, CACHE):
            return self.engine if factor == ENGINE else self.cache
        value: Level = getattr(self.server, factor)
        return value


def factors() -> list[str]:
    """Return everything in which two sides may differ."""
    return [*(name for name in ServerSettings.model_fields if name not in _NOT_HERE), ENGINE, CACHE]


def read_sides(left: str, right: str, common: str, engine: str) -> tuple[Side, Side]:
    """Read two sides.

    Args:
        left: Settings, parted by spaces or commas, such as `n_ubatch=512 flash_attn=off`.
        right: The other side's.
        common: Settings of both.
        engine: The engine, where a side names none.

    Raises:
        InputError: With every unknown setting, wrong value, and contradiction.
    """
    faults: list[Fault] = []
    shared = _levels(common, "--settings", faults)
    given = [_levels(words, "--between", faults) for words in (left, right)]
    faults += [
        _fault("--between", f"{name} is named under --settings too", "name it in one place")
        for name in sorted(shared.keys() & (given[0].keys() | given[1].keys()))
    ]
    if faults:
        raise InputError(faults)
    shared |= _batch([{**shared, **own} for own in given])
    ours, theirs = (
        _side(words, {**shared, **own}, engine)
        for words, own in zip((left, right), given, strict=True)
    )
    for side in (ours, theirs):
        if side.cache == "warm" and not side.server.cache_prompt:
            problem = f"{side.words}: without a prompt cache no ask is warm"
            raise InputError([_fault("--between", problem, "leave out cache_prompt=false")])
    if not differing(ours, theirs):
        problem = "both sides are the same"
        remedy = "change a setting, as in: --between cache=cold cache=warm"
        raise InputError([_fault("--between", problem, remedy)])
    return ours, theirs


def differing(left: Side, right: Side) -> dict[str, list[Level]]:
    """Return each factor in which two sides differ, with both levels."""
    return {
        factor: [left.level(factor), right.level(factor)]
        for factor in factors()
        if left.level(factor) != right.level(factor)
    }


def _batch(sides: Sequence[Mapping[str, Level]]) -> dict[str, Level]:
    """Return a logical batch wide enough for both physical ones, unless one was named."""
    if any("n_batch" in side for side in sides):
        return {}
    widths = [int(side.get("n_ubatch", 0)) for side in sides]
    return {"n_batch": max(ServerSettings().n_batch, *widths)}


def _side(words: str, levels: Mapping[str, Level], engine: str) -> Side:
    server: dict[str, Any] = {k: v for k, v in levels.items() if k not in (ENGINE, CACHE)}
    return Side(
        words=" ".join(re.split(r"[\s,]+", words.strip())),
        engine=str(levels.get(ENGINE, engine)),
        server=ServerSettings.model_validate(server),
        cache="warm" if levels.get(CACHE) == "warm" else "cold",
    )


def _levels(words: str, where: str, faults: list[Fault]) -> dict[str, Level]:
    levels: dict[str, Level] = {}
    for word in filter(None, re.split(r"[\s,]+", words)):
        name, sign, text = word.partition("=")
        value = _value(text)
        if not sign or not text:
            faults.append(_fault(where, f"{word!r} is no setting", "write name=value"))
        elif name not in factors():
            near = near_miss(name, factors())
            faults.append(_fault(where, f"unknown setting {name!r}", near))
        elif name in levels:
            faults.append(_fault(where, f"{name} is named twice", "name it once"))
        else:
            faults += [_fault(where, *found) for found in level_fault(name, value)]
        levels[name] = value
    return levels


def _value(text: str) -> Level:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?[0-9]+", text, re.ASCII) else text


def _fault(where: str, problem: str, remedy: str) -> Fault:
    return Fault(COMMAND_LINE, 1, 1, where, problem, remedy)
