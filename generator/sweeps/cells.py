"""A sweep's boots read as cells: all answers that fresh boots gave under the same settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from generator.answers import Answer, read_answers
from generator.receipt import AskRecord, BootRecord
from generator.sweeps.attribution import Output
from generator.sweeps.designs import (
    BASELINE,
    CACHE,
    PREFIX,
    RUNS,
    Cell,
    factor_of,
    is_label,
    label,
    read_label,
)

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
    """

    cells: Mapping[Cell, Measured]
    interventions: tuple[Intervened, ...]
    control: Measured
    lines: Mapping[str, Mapping[str, list[Answer | None]]]


def tokens(answer: Answer) -> tuple[object, ...]:
    """Return what tells an answer's tokens from another's."""
    return (answer.ids, answer.output)


def bits(answer: Answer) -> tuple[object, ...]:
    """Return what tells an answer from another: its tokens and all candidates' probabilities."""
    told = tuple((t.logprob, tuple((c.id, c.logprob) for c in t.top)) for t in answer.tokens)
    return (*tokens(answer), told)


def read_sheet(boots: Sequence[BootRecord]) -> Sheet:
    """Sort the answers of a sweep's boots into its cells; the names of boots and asks say which.

    Raises:
        ValueError: A boot or an ask has no name of ours.
    """
    given = {(answer.boot, answer.ask): answer for answer in read_answers(boots)}
    heap = _Heap()
    for boot in boots:
        head = _head(boot.name)
        for ask in boot.asks:
            answer = given.get((boot.name, ask.name))
            counted = answer if answer and counts(answer, ask, head) else None
            heap.put(boot, head, ask.name, counted)
    return heap.sheet(boots)


def counts(answer: Answer, ask: AskRecord, head: str) -> bool:
    """Whether an answer's use of the cache was as planned.

    Beside a shared prefix a plan cannot say how much of the cache is used, but some must be.
    """
    shares = PREFIX in map(factor_of, head.split(" ")) and ask.cache == "any"
    return answer.valid and (not shares or ask.name == PREFIX or answer.cache_n > 0)


@dataclass(frozen=True)
class Tally:
    """What became of the asks."""

    asked: int
    answered: int
    invalid: int


def tally(boots: Sequence[BootRecord]) -> Tally:
    """Count all asks of a sweep, those too that only fill the cache."""
    given = {(answer.boot, answer.ask): answer for answer in read_answers(boots)}
    planned = [(boot, ask) for boot in boots for ask in boot.asks]
    invalid = [
        ask
        for boot, ask in planned
        if (answer := given.get((boot.name, ask.name)))
        and not counts(answer, ask, _head(boot.name))
    ]
    return Tally(len(planned), len(given), len(invalid))


def _head(name: str) -> str:
    """Return a boot's name without the word that tells it from its twin."""
    return name.rpartition(" ")[0]


@dataclass
class _Heap:
    """Answers by cell and by intervention, in the order in which they come."""

    cells: dict[Cell, list[Answer | None]] = field(default_factory=dict)
    names: dict[Cell, str] = field(default_factory=dict)
    foretold: dict[tuple[str, str], list[Answer | None]] = field(default_factory=dict)
    control: list[Answer | None] = field(default_factory=list)
    lines: dict[str, dict[str, list[Answer | None]]] = field(default_factory=dict)

    def put(self, boot: BootRecord, head: str, ask: str, answer: Answer | None) -> None:
        state, _, prediction = ask.partition(" ")
        if state == PREFIX or (not is_label(head) and not prediction):
            return  # it only fills the cache
        if state == CONTROL:
            self.control.append(answer)
            return
        self.lines.setdefault(head, {}).setdefault(state, []).append(answer)
        if not is_label(head):
            self.foretold.setdefault((head, ask), []).append(answer)
            return
        settings = [] if head == BASELINE else head.split(" ")
        if state.startswith("warm"):
            settings.append(f"{CACHE}=warm")
        elif state != "cold":
            raise ValueError(f"{boot.name}: no ask of a sweep is called {ask!r}")
        self.cells.setdefault(frozenset(settings), []).append(answer)
        self.names.setdefault(frozenset(settings), label(settings))

    def sheet(self, boots: Sequence[BootRecord]) -> Sheet:
        interventions = []
        for (name, ask), answers in self.foretold.items():
            state, expects, predicted = ask.split(" ", 2)
            if expects not in ("as", "unlike"):
                raise ValueError(f"{name}: no ask of a sweep is called {ask!r}")
            interventions.append(
                Intervened(
                    name,
                    _settings(boots, name),
                    state,
                    "as" if expects == "as" else "unlike",
                    read_label(predicted),
                    _measured(name, answers),
                )
            )
        cells = {key: _measured(self.names[key], found) for key, found in self.cells.items()}
        cells.setdefault(frozenset(), Measured(BASELINE, 0, ()))
        return Sheet(cells, tuple(interventions), _measured(CONTROL, self.control), self.lines)


def _measured(name: str, answers: Sequence[Answer | None]) -> Measured:
    return Measured(name, len(answers), tuple(a for a in answers if a is not None))


def _settings(boots: Sequence[BootRecord], name: str) -> tuple[str, ...]:
    """Return what an intervention's server was started with and the baseline's was not."""
    boot = next(boot for boot in boots if boot.name.startswith(f"{name} "))
    base = boots[0].settings
    return tuple(f"{key}={value}" for key, value in boot.settings.items() if value != base[key])


def _median(values: Sequence[float]) -> float | None:
    told = [value for value in values if value > 0]
    return round(median(told), 4) if told else None
