"""The cells of a sweep: all answers that fresh boots gave under the same settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from generator.answers import Answer
from generator.sweeps.attribution import Output
from generator.sweeps.designs import RUNS, Cell

CONTROL = "control"
Expectation = Literal["as", "unlike"]


@dataclass(frozen=True)
class Measured:
    """The answers of one cell.

    Attributes:
        name: The cell's settings, or the name of an intervention.
        asked: How many asks there were.
        answers: Those that were answered with the cache as planned.
    """

    name: str
    asked: int
    answers: tuple[Answer, ...]

    @property
    def stable(self) -> bool | None:
        """Whether every fresh boot gave the same, bit for bit; None without two that answered."""
        if len({answer.boot for answer in self.answers}) < len(RUNS):
            return None
        return len({bits(answer) for answer in self.answers}) == 1

    @property
    def output(self) -> Output | None:
        """What it puts out, if that is one and the same."""
        if not self.stable:
            return None
        return Output(tokens(self.answers[0]), bits(self.answers[0]))

    @property
    def tokens_per_second(self) -> float | None:
        """The median speed of generation by the server's clock."""
        return _median([answer.tokens_per_second for answer in self.answers])

    @property
    def seconds(self) -> float | None:
        """The median time of a whole answer by the server's clock: reading the prompt, writing."""
        return _median([(a.prompt_ms + a.predicted_ms) / 1000 for a in self.answers])


@dataclass(frozen=True)
class Intervened:
    """An intervention: what was done, what was predicted, and what was measured.

    Attributes:
        settings: The settings that its server was started with and the baseline's was not.
        state: Whether it was the first ask after a boot or a later one.
        expects: Whether it must give what the *predicted* cell gives, or something else.
    """

    name: str
    settings: tuple[str, ...]
    state: str
    expects: Expectation
    predicted: Cell
    measured: Measured


@dataclass(frozen=True)
class Sheet:
    """Everything that a sweep measured.

    Attributes:
        cells: The cells of the design by their settings, the baseline first.
        lines: For each arrangement and intervention, each ask's answers by boot: None is a failure
            or a cache that was not used as planned.
        idle: Settings that changed nothing of what the server reports to be in effect.
    """

    cells: Mapping[Cell, Measured]
    interventions: tuple[Intervened, ...]
    control: Measured
    lines: Mapping[str, Mapping[str, list[Answer | None]]]
    idle: frozenset[str] = frozenset()


def tokens(answer: Answer) -> tuple[object, ...]:
    """Return what tells an answer's tokens from another's."""
    return (answer.ids, answer.output)


def bits(answer: Answer) -> tuple[object, ...]:
    """Return what tells an answer from another: its tokens and all candidates' probabilities."""
    told = tuple((t.logprob, tuple((c.id, c.logprob) for c in t.top)) for t in answer.tokens)
    return (*tokens(answer), told)


def _median(values: Sequence[float]) -> float | None:
    told = [value for value in values if value > 0]
    return round(median(told), 4) if told else None
