"""The measures shared by all kinds: pure functions over answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from generator.answers import Answer, Token
from generator.schema import Count, Model


class Group(Model):
    """Asks whose outputs are identical, byte for byte, named by the first of them."""

    asks: list[str]
    size: Count


class Spread(Model):
    """The smallest and the largest of some values and the distance between them."""

    smallest: float
    largest: float
    spread: float


class Candidate(Model):
    """A token that could have been chosen, with its natural log probability."""

    id: int
    text: str
    logprob: float


class Divergence(Model):
    """Where an answer first leaves the one that it is compared with.

    Attributes:
        token: Index of the first differing token, from 0.
        character: Index of the first differing character of the text, from 0.
        baseline: The token that the other answer has there; null if it ended before.
        chosen: The token that this answer has there; null if it ended before.
        gap: By how much the best candidate led the second in the other answer, in nats.
    """

    token: Count
    character: Count
    baseline: str | None
    chosen: str | None
    gap: float | None
    candidates: list[Candidate]


class Outlier(Model):
    """The one answer that parts from all the others earlier than any of them part.

    Attributes:
        ask: Its ask.
        shared_tokens: How many opening tokens it shares with its nearest neighbour.
        others_share: The fewest that any other answer shares with its nearest neighbour.
    """

    ask: str
    shared_tokens: Count
    others_share: Count


def groups(answers: Sequence[Answer]) -> list[Group]:
    """Group identical outputs (thinking and text), the largest group first, then by first ask."""
    found: dict[tuple[str, str], list[str]] = {}
    for answer in answers:
        found.setdefault(answer.output, []).append(answer.ask)
    return sorted(
        (Group(asks=asks, size=len(asks)) for asks in found.values()),
        key=lambda group: -group.size,
    )


def shared_prefix(left: Sequence[object], right: Sequence[object]) -> int:
    """Return how many opening items two sequences share."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )


def divergence(baseline: Answer, other: Answer) -> Divergence | None:
    """Return where *other* first leaves *baseline*, or None if tokens and output are the same."""
    if baseline.ids == other.ids and baseline.output == other.output:
        return None
    index = shared_prefix(baseline.ids, other.ids)
    there = baseline.tokens[index] if index < len(baseline.tokens) else None
    chosen = other.tokens[index] if index < len(other.tokens) else None
    return Divergence(
        token=index,
        character=shared_prefix(baseline.thinking + baseline.text, other.thinking + other.text),
        baseline=there.text if there else None,
        chosen=chosen.text if chosen else None,
        gap=there.gap if there else None,
        candidates=_candidates(there) if there else [],
    )


def _candidates(token: Token) -> list[Candidate]:
    return [Candidate(id=c.id, text=c.text, logprob=c.logprob) for c in token.top]


def same_tokens(left: Answer, right: Answer) -> bool:
    """Whether two answers have the same tokens; where none were told, whether they read alike."""
    return left.ids == right.ids and (bool(left.ids) or left.output == right.output)


def same_logprobs(left: Answer, right: Answer) -> bool:
    """Whether two answers agree bitwise: the same tokens with the same log probabilities."""
    return (
        bool(left.ids)
        and left.ids == right.ids
        and [token.logprob for token in left.tokens] == [token.logprob for token in right.tokens]
    )


def outlier(answers: Sequence[Answer]) -> Outlier | None:
    """Return the answer apart, if there is exactly one.

    Each answer has a nearest neighbour, the one with which it shares the most opening tokens. The
    outlier is the single answer whose neighbour is farther away than everybody else's.
    """
    if len(answers) < 3:  # noqa: PLR2004 - of two, neither is the one apart
        return None
    # in lexicographic order, the sequence sharing the most with another stands beside it
    ranked = sorted(range(len(answers)), key=lambda index: answers[index].ids)
    shared = [
        shared_prefix(answers[one].ids, answers[other].ids) for one, other in pairwise(ranked)
    ]
    nearest = {index: max(shared[max(rank - 1, 0) : rank + 1]) for rank, index in enumerate(ranked)}
    order = sorted(nearest, key=lambda index: nearest[index])
    first, second = order[0], order[1]
    if nearest[first] == nearest[second]:
        return None
    return Outlier(
        ask=answers[first].ask, shared_tokens=nearest[first], others_share=nearest[second]
    )


def spread(values: Sequence[float]) -> Spread | None:
    """Return the range of *values*, or None if there are none."""
    if not values:
        return None
    return Spread(
        smallest=min(values), largest=max(values), spread=round(max(values) - min(values), 9)
    )


def stops(answers: Sequence[Answer]) -> dict[str, int]:
    """Return how often generation ended for which reason."""
    return dict(sorted(Counter(answer.stop for answer in answers).items()))


@dataclass(frozen=True)
class Comparison:
    """Two answers side by side: bitwise equal, equal in tokens, or diverging somewhere."""

    bitwise: bool
    same_tokens: bool
    divergence: Divergence | None


def compare(baseline: Answer, other: Answer) -> Comparison:
    """Compare *other* with *baseline*."""
    return Comparison(
        same_logprobs(baseline, other),
        same_tokens(baseline, other),
        divergence(baseline, other),
    )
