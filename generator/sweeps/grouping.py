"""Letters for outputs: equal letters are equal tokens, equal numbers equal probabilities too."""

from __future__ import annotations

from collections.abc import Sequence

from generator import analysis
from generator.answers import Answer
from generator.sweeps import drift
from generator.sweeps.cells import Measured, Sheet, bits, tokens
from generator.sweeps.designs import is_label
from generator.sweeps.parts import Group, Line


class Grouping:
    """The outputs of a sweep in the order in which they first came, the baseline's first."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        """Group *answers*, of which the first is the baseline's."""
        self._answers: dict[tuple[object, ...], list[Answer]] = {}
        self._variants: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        for answer in answers:
            self._answers.setdefault(tokens(answer), []).append(answer)
            variants = self._variants.setdefault(tokens(answer), [])
            if bits(answer) not in variants:
                variants.append(bits(answer))

    def name(self, answer: Answer) -> str:
        """Return an answer's group: `A`, or `A2` if its tokens came with several probabilities."""
        key = tokens(answer)
        letter, variants = _letter(list(self._answers).index(key)), self._variants[key]
        return letter if len(variants) == 1 else f"{letter}{variants.index(bits(answer)) + 1}"

    def of(self, measured: Measured | None) -> str | None:
        """Return the group of a cell that is stable."""
        return self.name(measured.answers[0]) if measured and measured.stable else None

    def groups(self, baseline: Answer | None) -> list[Group]:
        """Describe every output, with where it leaves the baseline's."""
        return [
            _group(_letter(index), found, len(self._variants[key]), baseline)
            for index, (key, found) in enumerate(self._answers.items())
        ]

    def lines(self, sheet: Sheet) -> list[Line]:
        """Return the matrix of what was set against what was asked."""
        return [
            Line(
                settings=name,
                intervention=not is_label(name),
                groups={
                    ask: [self.name(answer) if answer else None for answer in answers]
                    for ask, answers in asks.items()
                },
            )
            for name, asks in sheet.lines.items()
        ]


def _letter(index: int) -> str:
    """Return A, B, …, Z, AA, AB, …."""
    before, last = divmod(index, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + last)


def _group(letter: str, answers: list[Answer], variants: int, baseline: Answer | None) -> Group:
    other = answers[0]
    apart = analysis.divergence(baseline, other) if baseline else None
    moved = drift.compare(baseline, other) if baseline else None
    return Group(
        group=letter,
        text=other.text,
        answers=len(answers),
        variants=variants,
        divergence=apart,
        gap=moved.gap if moved else None,
        moved=moved.moved if moved else None,
    )
