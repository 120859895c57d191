"""A sweep's boots sorted into cells; the names of boots and asks say where each answer belongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from generator.answers import Answer, read_answers
from generator.receipt import AskRecord, BootRecord
from generator.sweeps.cells import CONTROL, Intervened, Measured, Sheet
from generator.sweeps.counting import counts, in_force, same_tokenizer
from generator.sweeps.designs import (
    BASELINE,
    CACHE,
    PREFIX,
    Cell,
    factor_of,
    is_label,
    label,
    read_label,
)

# what a server makes of these depends on the model and the engine, and it reports what it came to
IN_EFFECT = {"repack": "weights_repacked", "flash_attn": "flash_attn_used"}


@dataclass(frozen=True)
class Heard:
    """An ask and what came of it.

    Attributes:
        answer: The answer; None is a failure.
        counts: Whether it was given as planned, so that something may be concluded from it.
    """

    boot: BootRecord
    ask: AskRecord
    answer: Answer | None
    counts: bool


def hear(boots: Sequence[BootRecord]) -> list[Heard]:
    """Read every ask of a sweep, in order."""
    given = {(answer.boot, answer.ask): answer for answer in read_answers(boots)}
    baseline = given.get((boots[0].name, "cold")) if boots else None
    heard: list[Heard] = []
    for boot in boots:
        fits = in_force(boot, boots[0])
        before: list[Answer | None] = []
        for ask in boot.asks:
            answer = given.get((boot.name, ask.name))
            counted = fits and answer is not None and counts(ask, answer, before)
            if counted and answer and baseline and boot.model != boots[0].model:
                counted = same_tokenizer(baseline, answer)
            heard.append(Heard(boot, ask, answer, counted))
            before.append(answer)
    return heard


def read_sheet(boots: Sequence[BootRecord], heard: Sequence[Heard]) -> Sheet:
    """Sort what was heard of a sweep's boots into its cells.

    Raises:
        ValueError: An ask has no name of ours.
    """
    heap = _Heap()
    for one in heard:
        # the last word of a boot's name tells it from its twin
        head = one.boot.name.rpartition(" ")[0]
        heap.put(head, one.ask.name, one.answer if one.counts else None)
    return heap.sheet(boots)


@dataclass(frozen=True)
class Tally:
    """What became of the asks, those too that only fill the cache."""

    asked: int
    answered: int
    invalid: int


def tally(heard: Sequence[Heard]) -> Tally:
    """Count the asks of a sweep."""
    told = [one.counts for one in heard if one.answer is not None]
    return Tally(len(heard), len(told), told.count(False))


@dataclass
class _Heap:
    """Answers by cell and by intervention, in the order in which they come."""

    cells: dict[Cell, list[Answer | None]] = field(default_factory=dict)
    names: dict[Cell, str] = field(default_factory=dict)
    foretold: dict[tuple[str, str], list[Answer | None]] = field(default_factory=dict)
    control: list[Answer | None] = field(default_factory=list)
    lines: dict[str, dict[str, list[Answer | None]]] = field(default_factory=dict)

    def put(self, head: str, ask: str, answer: Answer | None) -> None:
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
            raise ValueError(f"{head}: no ask of a sweep is called {ask!r}")
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
        control = _measured(CONTROL, self.control)
        return Sheet(cells, tuple(interventions), control, self.lines, _idle(boots))


def _idle(boots: Sequence[BootRecord]) -> frozenset[str]:
    """Return the settings with which a server reports to be doing what the baseline's does."""
    reported = {boot.name.rpartition(" ")[0]: boot.effective for boot in boots}
    baseline = reported.get(BASELINE, {})
    return frozenset(
        setting
        for setting, effective in reported.items()
        if (state := IN_EFFECT.get(factor_of(setting))) is not None
        and len(read_label(setting)) == 1
        and state in effective
        and effective[state] == baseline.get(state)
    )


def _measured(name: str, answers: Sequence[Answer | None]) -> Measured:
    return Measured(name, len(answers), tuple(a for a in answers if a is not None))


def _settings(boots: Sequence[BootRecord], name: str) -> tuple[str, ...]:
    """Return what an intervention's server was started with and the baseline's was not."""
    boot = next(boot for boot in boots if boot.name.startswith(f"{name} "))
    base = boots[0].settings
    pins = [("engine", boot.engine, boots[0].engine), ("model", boot.model, boots[0].model)]
    return (
        *(f"{factor}={pin}" for factor, pin, plain in pins if pin != plain),
        *(f"{key}={value}" for key, value in boot.settings.items() if value != base[key]),
    )
