"""Flips in a receipt: two equal requests whose answers have different tokens, of whatever kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from generator.analysis import Divergence, divergence
from generator.answers import Answer, read_answers
from generator.canonical import digest
from generator.errors import Fault, InputError, near_miss
from generator.receipt import AskRecord, BootRecord, Failed, Receipt

ANOTHER = "Name two other asks, each as BOOT/ASK, or none: --left and --right."


@dataclass(frozen=True)
class Asked:
    """An answered ask, where it stands, and the asks that its server was sent before."""

    boot: BootRecord
    ask: AskRecord
    answer: Answer

    @property
    def name(self) -> str:
        """Its name in the receipt: `boot/ask`."""
        return f"{self.boot.name}/{self.ask.name}"

    @property
    def company(self) -> list[AskRecord]:
        """What was sent at once with it."""
        word, own = self.ask.together, self.ask.name
        return [a for a in self.boot.asks if word and a.together == word and a.name != own]

    @property
    def earlier(self) -> list[AskRecord]:
        """What its server had been asked when it was sent."""
        own = [ask.name for ask in self.boot.asks].index(self.ask.name)
        company = {ask.name for ask in self.company}
        return [ask for ask in self.boot.asks[:own] if ask.name not in company]

    @property
    def before(self) -> list[AskRecord]:
        """All that is asked of its server to ask it again: what was earlier, and its company."""
        return [*self.earlier, *self.company]

    @property
    def replayable(self) -> bool:
        """Whether it can be asked again as it was: nothing before it failed, nothing was rolled."""
        asks = [*self.before, self.ask]
        return all(a.replayable and not isinstance(a.outcome, Failed) for a in asks)


@dataclass(frozen=True)
class Flip:
    """Two answers of which the right one leaves the left one at a token."""

    left: Asked
    right: Asked
    divergence: Divergence

    @property
    def differing(self) -> dict[str, list[Any]]:
        """The server settings that differ between its two sides, by name."""
        ours, theirs = self.left.boot.settings, self.right.boot.settings
        return {
            name: [ours.get(name), theirs.get(name)]
            for name in sorted(ours.keys() | theirs.keys())
            if ours.get(name) != theirs.get(name)
        }


def plainest_flip(receipt: Receipt, name: str) -> Flip:
    """Return the flip between the fewest differing settings; of several, the earliest.

    Of those at one token it is the one that takes the fewest asks to see. Requests count as equal
    if they are so in every field, to one model on one engine. With a temperature above 0, both must
    have been sent the same seed.

    Args:
        receipt: The receipt.
        name: How its file is called in messages.

    Raises:
        InputError: There is none.
    """
    found = [flip for pair in _comparable(receipt) if (flip := _flip(*pair)) is not None]
    if not found:
        raise _error(
            name,
            "$.boots",
            "no two equal asks of this receipt, valid and replayable, have different tokens",
            "that is a result, and nothing to report",
            "Report another receipt, or look for a flip: receipts hunt.",
        )
    return min(found, key=_cost)


def named_flip(receipt: Receipt, name: str, left: str, right: str) -> Flip:
    """Return the flip between two asks, each named as `boot/ask`.

    Raises:
        InputError: There is no such ask, or they cannot be compared, or they do not differ.
    """
    asked = {one.name: one for one in _asked(receipt)}
    for wanted in (left, right):
        if wanted not in asked:
            problem = f"no ask was answered as {wanted!r}"
            raise _error(name, "$.boots", problem, near_miss(wanted, asked))
    first, second = asked[left], asked[right]
    for one in (first, second):
        if not one.replayable:
            problem = f"{one.name} cannot be asked again: an ask before it failed, or had no seed"
            raise _error(name, "$.boots", problem, "name another ask")
        if one.ask.mismatches:
            odd = ", ".join(mismatch.name for mismatch in one.ask.mismatches)
            problem = f"the response of {one.name} reports another {odd} than was asked"
            raise _error(name, "$.boots", problem, "name another ask")
    for what, ours, theirs in (
        ("engine", first.boot.engine, second.boot.engine),
        ("model", first.boot.model, second.boot.model),
        ("endpoint", first.ask.endpoint, second.ask.endpoint),
        ("chat template", _template(first), _template(second)),
    ):
        if ours != theirs:
            problem = f"the asks are of two: {what} {ours} and {what} {theirs}"
            raise _error(name, "$.boots", problem, f"name two asks of one {what}")
    if first.answer.prompt is None or first.answer.prompt != second.answer.prompt:
        problem = f"{left} and {right} were not given one known prompt"
        raise _error(name, "$.boots", problem, "name two asks whose prompts are the same")
    flip = _flip(first, second)
    if flip is None:
        problem = f"{left} and {right} have the same tokens, or tokens were not told"
        raise _error(name, "$.boots", problem, "name two asks whose tokens differ")
    return flip


def _asked(receipt: Receipt) -> list[Asked]:
    answers = {(answer.boot, answer.ask): answer for answer in read_answers(receipt.boots)}
    return [
        Asked(boot, ask, answers[boot.name, ask.name])
        for boot, ask in receipt.asks()
        if (boot.name, ask.name) in answers
    ]


def _comparable(receipt: Receipt) -> Iterator[tuple[Asked, Asked]]:
    groups: dict[tuple[str, ...], list[Asked]] = {}
    for one in _asked(receipt):
        decided = one.ask.request.get("temperature") == 0 or "seed" in one.ask.request
        if decided and one.answer.valid and one.replayable:
            pins = one.boot.engine, one.boot.model, _template(one)
            key = (*pins, one.ask.endpoint, digest(one.ask.request))
            groups.setdefault(key, []).append(one)
    for group in groups.values():
        yield from combinations(group, 2)


def _template(one: Asked) -> str:
    return one.boot.settings.get("chat_template") or "of the model"


def _flip(left: Asked, right: Asked) -> Flip | None:
    told = left.answer.ids and right.answer.ids
    if not told or left.answer.ids == right.answer.ids:
        return None
    found = divergence(left.answer, right.answer)
    return None if found is None else Flip(left, right, found)


def _cost(flip: Flip) -> tuple[int, int, int]:
    """Return how many settings differ, at which token it is, and how many asks it takes to see."""
    left, right = len(flip.left.before), len(flip.right.before)
    one_boot = flip.left.boot is flip.right.boot
    asks = max(left, right) + 1 if one_boot else left + right + 2
    return len(flip.differing), flip.divergence.token, asks


def _error(name: str, path: str, problem: str, allowed: str, remedy: str = ANOTHER) -> InputError:
    return InputError([Fault(name, 1, 1, path, problem, allowed)], remedy)
