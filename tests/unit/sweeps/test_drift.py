"""Two answers position by position: gap, drift, and bounds that the whole distributions keep."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.answers import Answer, read_answers
from generator.sweeps.drift import ROUNDING, compare, divergence_bounds, steps
from tests.factory import make_boot
from tests.unit.experiments.sweeping import DRIFTED, A, B, C, Candidates, response

WEIGHTS = st.lists(st.floats(1e-4, 1.0), min_size=6, max_size=6)


def answer(positions: Sequence[Candidates]) -> Answer:
    (read,) = read_answers([make_boot([response(positions, cache_n=0, prompt_n=9)])])
    return read


def test_an_answer_has_not_drifted_from_itself() -> None:
    drift = compare(answer(A), answer(A))
    assert (drift.positions, drift.largest, drift.best_changed) == (3, 0.0, 0.0)
    assert (drift.kl_at_least, drift.tv_at_least) == (0.0, 0.0)
    assert (drift.gap, drift.moved, drift.explains_flip) == (None, None, None)


def test_a_drift_below_the_gap_moves_no_token() -> None:
    drift = compare(answer(A), answer(DRIFTED))
    assert drift.largest == pytest.approx(0.1)
    assert (drift.best_changed, drift.gap) == (0.0, None)
    assert [(step.token, step.flip) for step in steps(answer(A), answer(DRIFTED))] == [
        (0, False),
        (1, False),
        (2, False),
    ]
    near = steps(answer(A), answer(DRIFTED))[1]
    assert near.gap == pytest.approx(0.01)
    assert near.drift == pytest.approx(0.004)


def test_at_a_flip_the_lead_shrinks_by_more_than_it_was() -> None:
    drift = compare(answer(A), answer(B))
    assert drift.positions == 2
    assert drift.gap == pytest.approx(0.01)
    assert drift.moved == pytest.approx(0.04)
    assert drift.explains_flip
    assert drift.best_changed == 0.5
    last = steps(answer(A), answer(B))[-1]
    assert (last.token, last.flip) == (1, True)
    assert last.drift == drift.moved


def test_what_comes_after_a_flip_is_not_compared() -> None:
    assert len(steps(answer(A), answer(B))) == 2


def test_candidates_that_are_not_told_explain_nothing() -> None:
    unheard: Sequence[Candidates] = ({"elsewhere": -0.3, "a": -1.5},)
    drift = compare(answer(A), answer(unheard))
    assert (drift.gap, drift.explains_flip) == (None, None)
    assert steps(answer(A), answer(unheard)) == []
    forgotten: Sequence[Candidates] = ({"y": -0.3, "k": -1.5},)
    drift = compare(answer(A), answer(forgotten))
    assert drift.gap == pytest.approx(2.4)
    assert (drift.moved, drift.explains_flip) == (None, None)
    assert steps(answer(A), answer(forgotten))[0].drift is None


def test_another_choice_without_a_drift_is_not_explained() -> None:
    given = response(A, cache_n=0, prompt_n=9)
    other = response(C, cache_n=0, prompt_n=9)
    position = given["completion_probabilities"][0]
    odd = {**position, **{k: position["top_logprobs"][1][k] for k in ("id", "token", "logprob")}}
    other["completion_probabilities"][0] = odd
    other["tokens"][0] = odd["id"]
    one, two = read_answers([make_boot([given, other])])
    assert compare(one, two).explains_flip is False


def test_an_answer_that_ends_early_shares_what_it_has() -> None:
    drift = compare(answer(A), answer(A[:2]))
    assert (drift.positions, drift.gap) == (2, None)


def test_without_tokens_there_is_nothing_to_compare() -> None:
    drift = compare(answer(A), answer(()))
    assert (drift.positions, drift.best_changed, drift.tv_at_most) == (0, 0.0, 0.0)


def _distribution(weights: Sequence[float]) -> list[float]:
    return [weight / math.fsum(weights) for weight in weights]


def _told(p: Sequence[float], count: int) -> dict[int, float]:
    best = sorted(range(len(p)), key=lambda token: -p[token])[:count]
    return {token: math.log(p[token]) for token in best}


@given(WEIGHTS, WEIGHTS, st.integers(1, 6), st.integers(1, 6))
def test_bounds_hold_for_the_whole_distributions(
    left: list[float], right: list[float], of_left: int, of_right: int
) -> None:
    p, q = _distribution(left), _distribution(right)
    kl = math.fsum(one * math.log(one / two) for one, two in zip(p, q, strict=True))
    tv = math.fsum(abs(one - two) for one, two in zip(p, q, strict=True)) / 2
    at_least, low, high = divergence_bounds(_told(p, of_left), _told(q, of_right))
    slack = 10 * ROUNDING
    assert 0 <= at_least <= kl + slack
    assert low - slack <= tv <= high + slack
    assert low <= high <= 1


@given(WEIGHTS, WEIGHTS)
def test_bounds_meet_where_everything_is_told(left: list[float], right: list[float]) -> None:
    p, q = _distribution(left), _distribution(right)
    kl = math.fsum(one * math.log(one / two) for one, two in zip(p, q, strict=True))
    at_least, low, high = divergence_bounds(_told(p, 6), _told(q, 6))
    assert at_least == pytest.approx(kl, abs=2e-5)
    assert low == pytest.approx(high, abs=ROUNDING)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_distribution_may_be_all_but_certain(count: int) -> None:
    sure, unsure = {1: -1e-9, 2: -30.0}, {1: -0.7, 2: -0.7}
    told = dict(list(sure.items())[:count])
    at_least, low, high = divergence_bounds(told, unsure)
    assert 0 <= at_least <= 0.7
    assert 0 <= low <= high <= 1


@given(st.floats(1e-7, 4e-6), st.floats(0.05, 0.9))
def test_a_lower_bound_stays_one_however_the_servers_sums_are_rounded(
    rest: float, other: float
) -> None:
    # all that the server's rounding may hide of the second rest is hidden
    p, q = {1: 1 - other}, {1: 1 - rest}
    hidden = {1: min(0.0, math.log(1 - rest + 0.9 * ROUNDING))}
    truth = p[1] * math.log(p[1] / q[1]) + other * math.log(other / rest)
    bound, _, _ = divergence_bounds({1: math.log(p[1])}, hidden)
    assert bound <= truth + 2 * ROUNDING
