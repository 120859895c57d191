"""What an experiment on company declares, and what is refused of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from generator.declaration import UNFIXED_SEED, Experiment, Objection
from generator.settings import Sampling
from generator.sweeps.declared import Control

Mode = Literal["serial", "identical", "mixed", "prefix"]
Size = Literal["small", "full"]


@dataclass(frozen=True)
class Extent:
    """How much is asked: at which numbers of slots, how many at once, and how often."""

    slots: tuple[int, ...]
    asks: int
    rounds: int


SLOTS = (1, 2, 4, 8)
OPENINGS = (1, 511, 2048, 4097)
EXTENTS: Mapping[tuple[Mode, Size], Extent] = {
    ("serial", "small"): Extent((1,), 8, 1),
    ("serial", "full"): Extent((1,), 1000, 1),
    ("identical", "small"): Extent(SLOTS, 8, 1),
    ("identical", "full"): Extent(SLOTS, 1000, 1),
    ("mixed", "small"): Extent(SLOTS, 8, 2),
    ("mixed", "full"): Extent(SLOTS, 128, 50),
    ("prefix", "small"): Extent(SLOTS, 8, 2),
    ("prefix", "full"): Extent(SLOTS, 50, 50),
}
"""Small is for two cores; full is as large as the published measurements."""


def _each_once(numbers: list[int]) -> list[int]:
    if len(set(numbers)) < len(numbers):
        raise ValueError("a number is named twice → name each once")
    return numbers


Slots = Annotated[
    list[Annotated[int, Field(ge=1, le=256)]], Field(min_length=1), AfterValidator(_each_once)
]
Lengths = Annotated[
    list[Annotated[int, Field(ge=1)]], Field(min_length=1), AfterValidator(_each_once)
]


class Concurrency(Experiment):
    """Send asks at once, at several numbers of slots, and see whether their company moves a token.

    Every text that is looked at is first asked alone, on the same server, and all of that once more
    on a fresh boot. The declared `n_ctx` is what one slot gets: a server has it as many times as
    slots, unless `kv_unified` lets them share it. With `cache_prompt` on, the server chooses slots
    by what lies in them, and an answer depends on one more thing: leave it off.

    Attributes:
        mode: *Serial*: the prompt again and again on one slot, each ask after the one before.
            *Identical*: copies of the prompt at once. *Mixed*: the (first) prompt at once with
            long and short pieces of the others. *Prefix*: openings of the prompt at once.
        size: How much is asked where the fields below do not say: *small* is for two cores.
        slots: The numbers of slots, each on a server of its own.
        asks: How many asks are sent at once.
        rounds: How often that many are sent, each round after the one before.
        fresh: Whether a *mixed* prompt has other neighbours in each round. If not, the same flock
            is sent every time, and every one of it is looked at.
        lengths: The *prefix* openings, in characters.
        control: The negative control.
    """

    several_prompts: ClassVar[bool] = True

    kind: Literal["concurrency"]
    mode: Mode
    size: Size = "small"
    slots: Slots | None = None
    asks: Annotated[int, Field(ge=2, le=1000)] | None = None
    rounds: Annotated[int, Field(ge=1, le=1000)] | None = None
    fresh: bool = True
    lengths: Lengths = Field(default_factory=lambda: list(OPENINGS))
    control: Control = Control()

    @property
    def extent(self) -> Extent:
        """How much is asked, by its size and by what is said beside it."""
        extent = EXTENTS[self.mode, self.size]
        return Extent(
            tuple(self.slots or extent.slots),
            self.asks or extent.asks,
            self.rounds or extent.rounds,
        )

    def objections(self, sampling: Sampling) -> list[Objection]:
        """Refuse what would move tokens by itself, and fields that mean nothing in the mode."""
        return [*_sampling_objections(sampling, self.control), *_mode_objections(self)]


def _sampling_objections(sampling: Sampling, control: Control) -> Iterator[Objection]:
    if not isinstance(sampling.seed, int):
        yield UNFIXED_SEED
    elif sampling.seed == control.seed:
        problem = "the negative control has the seed of the others"
        yield ("control", "seed"), problem, "give it another one"


def _mode_objections(spec: Concurrency) -> Iterator[Objection]:
    if spec.mode != "mixed" and len(spec.prompts) > 1:
        yield ("prompts",), f"`{spec.mode}` asks one prompt", "give it as `prompt`"
    if spec.mode == "serial" and spec.extent.slots != (1,):
        yield ("slots",), "asks in a row need one slot", "leave `slots` out"
