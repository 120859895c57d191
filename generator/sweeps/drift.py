"""Two answers side by side, position by position: how far probabilities moved, and where it told.

The server tells only the best few candidates of a position. What cannot be known from them is not
made up: a Kullback-Leibler divergence becomes a lower bound, a total variation distance two bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from generator.analysis import shared_prefix
from generator.answers import Answer, Token
from generator.schema import Count, Model

ROUNDING = 1e-6
"""How far the server's sums of probabilities, which are 32-bit floats, may be off."""
DIGITS = 9


class Drift(Model):
    """How far an answer's probabilities are from the baseline's, where both read the same.

    Attributes:
        positions: Positions compared: those of the shared tokens and, at a flip, the one after.
        largest: The largest change of one candidate's log probability, in nats.
        best_changed: The share of the positions whose best candidate is another.
        kl_at_least: A lower bound of the largest Kullback-Leibler divergence from the baseline.
        tv_at_least: A lower bound of the largest total variation distance; `tv_at_most` an upper.
        gap: At the flip, by how much the baseline's token led the other one there, in nats.
        moved: At the flip, by how much that lead has shrunk, in nats.
    """

    positions: Count
    largest: float
    best_changed: float
    kl_at_least: float
    tv_at_least: float
    tv_at_most: float
    gap: float | None
    moved: float | None

    @property
    def explains_flip(self) -> bool | None:
        """Whether the lead shrank by as much as it was; None if the candidates do not tell."""
        return None if self.gap is None or self.moved is None else self.moved >= self.gap


class Step(Model):
    """One position: the lead that the baseline's token has there, and how far it moved.

    Attributes:
        token: The position, from 0.
        gap: By how much the baseline's token leads its nearest rival, in nats; at a flip, the token
            that was chosen instead.
        drift: By how much that lead is another in the other answer; null where it is not told.
    """

    token: Count
    gap: float
    drift: float | None
    flip: bool


def compare(baseline: Answer, other: Answer) -> Drift:
    """Measure how far *other* is from *baseline*, as long as both read the same."""
    pairs = list(_comparable(baseline, other))
    bounds = [divergence_bounds(_known(one), _known(two)) for one, two in pairs]
    flip = pairs[-1] if pairs and pairs[-1][0].id != pairs[-1][1].id else None
    gap, moved = _lead(*flip, rival=flip[1].id) if flip else (None, None)
    changed = sum(_best(one) != _best(two) for one, two in pairs)
    return Drift(
        positions=len(pairs),
        largest=max((_largest(one, two) for one, two in pairs), default=0.0),
        best_changed=round(changed / len(pairs), DIGITS) if pairs else 0.0,
        kl_at_least=max((kl for kl, _, _ in bounds), default=0.0),
        tv_at_least=max((low for _, low, _ in bounds), default=0.0),
        tv_at_most=max((high for _, _, high in bounds), default=0.0),
        gap=gap,
        moved=moved,
    )


def steps(baseline: Answer, other: Answer) -> list[Step]:
    """Return gap and drift at every position at which both answers read the same before it."""
    found = []
    for index, (one, two) in enumerate(_comparable(baseline, other)):
        flip = one.id != two.id
        rivals = [two.id] if flip else [c.id for c in one.top if c.id != one.id]
        if not rivals:
            continue
        gap, moved = _lead(one, two, rival=rivals[0])
        if gap is not None:
            drift = None if moved is None else abs(moved)
            found.append(Step(token=index, gap=gap, drift=drift, flip=flip))
    return found


def _comparable(baseline: Answer, other: Answer) -> Iterator[tuple[Token, Token]]:
    """Pair the tokens of equal positions as long as all tokens before them are the same."""
    shared = shared_prefix(baseline.ids, other.ids)
    return zip(baseline.tokens[: shared + 1], other.tokens[: shared + 1], strict=False)


def _known(token: Token) -> dict[int, float]:
    chosen = {} if token.logprob is None else {token.id: token.logprob}
    return chosen | {c.id: c.logprob for c in token.top}


def _best(token: Token) -> int:
    return token.top[0].id if token.top else token.id


def _largest(one: Token, two: Token) -> float:
    left, right = _known(one), _known(two)
    return max((abs(left[id_] - right[id_]) for id_ in left.keys() & right.keys()), default=0.0)


def _lead(one: Token, two: Token, *, rival: int) -> tuple[float | None, float | None]:
    """Return how far *one*'s token leads *rival* there, and by how much less it does in *two*."""
    left, right = _known(one), _known(two)
    if rival not in left or one.id not in left:
        return None, None
    gap = left[one.id] - left[rival]
    if one.id not in right or rival not in right:
        return gap, None
    return gap, gap - (right[one.id] - right[rival])


def divergence_bounds(p: Mapping[int, float], q: Mapping[int, float]) -> tuple[float, float, float]:
    """Bound how far the distribution *q* is from *p*, of which only some logarithms are known.

    What is known of both is compared; all the rest is one outcome, whose probability is what is
    missing to 1. Merging outcomes never increases a divergence (the log-sum inequality: Cover and
    Thomas, Elements of Information Theory, theorem 2.7.1), so what is left is a lower bound. The
    rest's total variation is at least the difference of its two sums and at most their mean. The
    Kullback-Leibler divergence has no upper bound: an unseen candidate may be as good as impossible
    in *q*.

    Args:
        p: Natural log probabilities of the baseline's known candidates.
        q: Those of the other answer.

    Returns:
        A lower bound of KL(p, q) in nats, and a lower and an upper bound of the total variation
        distance, to nine digits: the same on every machine.
    """
    shared = sorted(p.keys() & q.keys())
    pairs = [(math.exp(p[token]), math.exp(q[token])) for token in shared]
    rest_p = max(0.0, 1.0 - math.fsum(one for one, _ in pairs))
    rest_q = max(0.0, 1.0 - math.fsum(two for _, two in pairs))
    room = min(1.0, rest_q + ROUNDING)
    known_kl = math.fsum(
        one * (p[token] - q[token]) for token, (one, _) in zip(shared, pairs, strict=True)
    )
    known_tv = math.fsum(abs(one - two) for one, two in pairs)
    # the lowest x·log(x/y) for any x and y that both rests may be: it falls until x is y/e
    least = min(max(room / math.e, rest_p - ROUNDING), rest_p + ROUNDING)
    rest_kl = least * math.log(least / room)
    return (
        round(max(0.0, known_kl + rest_kl), DIGITS),
        round((known_tv + abs(rest_p - rest_q)) / 2, DIGITS),
        round(min(1.0, (known_tv + rest_p + rest_q) / 2), DIGITS),
    )
