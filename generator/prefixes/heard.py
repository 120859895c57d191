"""The boots of an experiment on cached openings, read as cells: one for each opening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.answers import Answer, read_answers
from generator.prefixes.declared import (
    AGAIN,
    AS_COLD,
    CACHED,
    COLD,
    CONTROL,
    OPENING,
    UNUSED,
    WHOLE,
)
from generator.receipt import BootRecord
from generator.sweeps.counting import takes_opening

Answers = Mapping[tuple[str, str], Answer]


@dataclass(frozen=True)
class Cell:
    """One opening.

    Attributes:
        opening_tokens: How many tokens the ask for the opening evaluated.
        given: The whole prompt's answer after it, whatever it took from the cache.
        valid: Whether it took what the opening left there.
        answer: The answer, if it is valid; *again* the one of the fresh boot.
        widest: The micro-batch with which the rest was evaluated.
        as_cold: The answer of a cold server whose micro-batch is *width* tokens wide, if there is;
            *as_cold_again* the one of the fresh boot.
    """

    characters: int
    opening_tokens: int | None
    given: Answer | None
    valid: bool | None
    answer: Answer | None
    again: Answer | None
    widest: int
    width: int | None
    as_cold: Answer | None
    as_cold_again: Answer | None

    @property
    def same_shape(self) -> bool:
        """Whether both evaluate the rest in one batch, and nothing else in it."""
        if self.answer is None or self.width is None:
            return False
        rest = self.answer.prompt_n
        return self.width == self.answer.cache_n and rest <= min(self.width, self.widest)


@dataclass(frozen=True)
class Sheet:
    """Everything that was measured; *answers* are those that count, the cold one in front."""

    asked: int
    answered: int
    invalid: int
    cold: Answer | None
    cold_again: Answer | None
    control: Answer | None
    unused: Answer | None
    unused_again: Answer | None
    cells: tuple[Cell, ...]
    answers: tuple[Answer, ...]


def as_intended(opening: Answer, whole: Answer) -> bool:
    """Whether a prompt took what its opening had left, and tells its probabilities."""
    return whole.told and takes_opening(opening, whole)


def read_sheet(boots: Sequence[BootRecord]) -> Sheet:
    """Sort the answers into cells; the names of boots and asks say which."""
    found = {(answer.boot, answer.ask): answer for answer in read_answers(boots)}
    counted = {key: answer for key, answer in found.items() if answer.valid and answer.told}
    names = [boot.name for boot in boots]
    widths = {boot.name: int(boot.settings["n_ubatch"]) for boot in boots}
    # a width that the engine lowered makes other batches than were foretold
    lowered = {b.name for b in boots if any(m.name == "n_ubatch" for m in b.mismatches)}
    as_cold = {
        b: counted.get((b, COLD)) for b in widths if b.startswith(AS_COLD) and b not in lowered
    }
    lengths = [
        int(name.removeprefix(CACHED))
        for name in names
        if name.startswith(CACHED) and not name.endswith(AGAIN)
    ]
    cells = tuple(_cell(length, found, widths, as_cold) for length in lengths)
    wrong = [key for key, answer in found.items() if not _as_planned(key, answer, found)]
    cold, unused = counted.get((COLD, COLD)), _unused(UNUSED, counted)
    listed = [cold, *(cell.answer for cell in cells), *(cell.as_cold for cell in cells), unused]
    return Sheet(
        asked=sum(len(boot.asks) for boot in boots),
        answered=len(found),
        invalid=len(wrong),
        cold=cold,
        cold_again=counted.get((COLD + AGAIN, COLD)),
        control=counted.get((COLD, CONTROL)),
        unused=unused,
        unused_again=_unused(UNUSED + AGAIN, counted),
        cells=cells,
        answers=tuple(answer for answer in listed if answer),
    )


def _as_planned(key: tuple[str, str], answer: Answer, found: Answers) -> bool:
    boot, ask = key
    opening = found.get((boot, OPENING))
    if ask != WHOLE or boot.startswith(UNUSED) or opening is None:
        return answer.valid and answer.told
    return as_intended(opening, answer)


def _cell(
    length: int,
    found: Answers,
    widths: Mapping[str, int],
    colds: Mapping[str, Answer | None],
) -> Cell:
    name, cold = f"{CACHED}{length}", f"{AS_COLD}{length}"
    opening, whole = found.get((name, OPENING)), found.get((name, WHOLE))
    valid = as_intended(opening, whole) if opening and whole else None
    return Cell(
        characters=length,
        opening_tokens=opening.prompt_n if opening else None,
        given=whole,
        valid=valid,
        answer=_taken(name, found),
        again=_taken(name + AGAIN, found),
        widest=widths[name],
        width=widths.get(cold),
        as_cold=colds.get(cold),
        as_cold_again=colds.get(cold + AGAIN),
    )


def _taken(boot: str, found: Answers) -> Answer | None:
    """Return the whole prompt's answer if it took from the cache what its opening had left."""
    opening, whole = found.get((boot, OPENING)), found.get((boot, WHOLE))
    return whole if opening and whole and as_intended(opening, whole) else None


def _unused(boot: str, counted: Answers) -> Answer | None:
    """Return what was answered past a cache; one that an opening failed to fill is none."""
    return counted.get((boot, WHOLE)) if (boot, OPENING) in counted else None
