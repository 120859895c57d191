"""`replay`: whether a fixed seed repeats its answer."""

from __future__ import annotations

from typing import Any

import pytest

from generator.experiments.replay import KIND, Replay
from generator.plan import FixedSeed
from generator.settings import Sampling
from tests.factory import chat_response, completion_response, make_boot
from tests.unit.experiments.resolving import resolved


def _analysed(*responses: dict[str, Any] | None) -> Any:
    return KIND.analyse([make_boot(responses)])


def test_all_replays_have_one_seed() -> None:
    (boot,) = KIND.expand(resolved(Replay, runs=3, sampling={"seed": 42}))
    assert [ask.seed for ask in boot.asks] == [FixedSeed(42)] * 3


@pytest.mark.parametrize(("seed", "refused"), [(42, False), ("drawn", True), ("engine", True)])
def test_only_a_fixed_seed_can_be_replayed(seed: Any, refused: bool) -> None:
    objections = resolved(Replay, runs=2).spec.objections(Sampling(seed=seed))
    assert bool(objections) is refused
    assert all(path == ("sampling", "seed") for path, _, _ in objections)


def test_identical_answers_at_different_speeds() -> None:
    speeds = (10.0, 12.346, 11.0)
    result = _analysed(*(completion_response("ab", tokens_per_second=speed) for speed in speeds))
    assert (result.identical, result.identical_bytes, result.identical_tokens) == (3, True, True)
    assert (result.distinct, result.cap_eaten) == (1, 0)
    assert result.tokens_per_second.spread == 2.35
    assert [run.divergence for run in result.runs] == [None] * 3


def test_one_answer_that_differs() -> None:
    result = _analysed(*(completion_response(text) for text in ("ab", "ac", "ab")))
    assert (result.identical, result.identical_bytes, result.identical_tokens) == (2, False, False)
    assert [run.same_bytes for run in result.runs] == [True, False, True]
    assert (result.runs[1].divergence.token, result.distinct) == (1, 2)


def test_the_same_text_from_other_tokens_is_not_the_same() -> None:
    result = _analysed(completion_response(["ab"]), completion_response(["a", "b"]))
    assert (result.identical, result.identical_bytes, result.identical_tokens) == (1, True, False)


def test_nothing_answered_is_nothing_measured() -> None:
    result = _analysed(None, None)
    assert (result.asked, result.answered, result.failed) == (2, 0, 2)
    assert (result.identical, result.identical_bytes, result.identical_tokens) == (None,) * 3
    assert (result.distinct, result.tokens_per_second, result.runs) == (None, None, [])


def test_one_answer_repeats_nothing() -> None:
    result = _analysed(completion_response("a"), None)
    assert (result.answered, result.failed, result.identical) == (1, 1, None)
    assert result.identical_bytes is None


def test_an_unplanned_cache_is_not_compared() -> None:
    result = _analysed(
        completion_response("x", cache_n=4, prompt_n=6),
        completion_response("a"),
        completion_response("a"),
    )
    assert (result.invalid, result.identical, result.identical_bytes) == (1, 2, True)
    assert [run.same_bytes for run in result.runs] == [None, True, True]
    assert result.runs[0].divergence is None


@pytest.mark.parametrize("thoughts", [("a", "b"), ("a", "a")])
def test_what_was_cut_off_while_thinking_repeats_no_answer(thoughts: tuple[str, str]) -> None:
    result = _analysed(*(chat_response("", thinking=t, stop="length") for t in thoughts))
    assert (result.answered, result.invalid, result.cap_eaten) == (2, 0, 2)
    assert (result.identical, result.identical_bytes, result.identical_tokens) == (None,) * 3
    assert result.distinct is None
    assert [run.same_bytes for run in result.runs] == [None, None]


def test_one_cut_off_answer_is_no_difference_either() -> None:
    whole = chat_response("hi", thinking="hm")
    result = _analysed(whole, chat_response("", thinking="hmm", stop="length"), whole)
    assert (result.cap_eaten, result.identical, result.identical_bytes) == (1, 2, True)


def test_the_same_answer_after_other_thinking_is_not_the_same() -> None:
    result = _analysed(*(chat_response("hi", thinking=thinking) for thinking in ("a", "b")))
    assert (result.identical, result.identical_bytes) == (1, False)


def test_an_unreadable_response_is_a_failure() -> None:
    result = _analysed({"error": "x"}, completion_response(), completion_response())
    assert (result.asked, result.answered, result.failed, result.identical) == (3, 2, 1, 2)
