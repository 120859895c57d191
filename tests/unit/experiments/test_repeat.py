"""`repeat`: how many different outputs, and who stands apart."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from generator.experiments.repeat import KIND, Repeat
from generator.plan import DrawnSeed
from tests.factory import chat_response, completion_response, make_ask, make_boot
from tests.unit.experiments.resolving import resolved


def _analysed(*responses: dict[str, Any] | None) -> Any:
    return KIND.analyse([make_boot(responses)])


def test_all_runs_are_asked_in_one_boot() -> None:
    sampling = {"seed": "drawn", "temperature": 0.7}
    (boot,) = KIND.expand(resolved(Repeat, runs=5, sampling=sampling))
    assert (boot.name, boot.engine, boot.model) == ("main", "some-engine", "some-model")
    assert len(boot.asks) == 5
    assert {ask.seed for ask in boot.asks} == {DrawnSeed()}
    assert {ask.body["temperature"] for ask in boot.asks} == {0.7}


@pytest.mark.parametrize("runs", [1, 0, -1, 10_001, 2.0, "5", True])
def test_a_number_of_runs_that_makes_no_sense_is_refused(runs: Any) -> None:
    with pytest.raises(ValidationError):
        resolved(Repeat, runs=runs)


def test_four_alike_and_one_apart() -> None:
    result = _analysed(*(completion_response(text) for text in ("aab", "aab", "xyz", "aac", "aab")))
    assert (result.asked, result.answered, result.failed, result.invalid) == (5, 5, 0, 0)
    assert result.distinct == 3
    assert [group.asks for group in result.groups] == [["1", "2", "5"], ["3"], ["4"]]
    assert result.outlier.ask == "3"
    assert (result.apart, result.shared_tokens) == (1, 0)
    assert [run.text for run in result.runs] == ["aab", "aab", "xyz", "aac", "aab"]
    assert result.length.spread == 0


def test_all_alike() -> None:
    result = _analysed(*[completion_response("ab")] * 3)
    assert (result.distinct, result.apart, result.outlier, result.shared_tokens) == (1, 0, None, 2)


def test_two_runs_say_nothing_about_one_apart() -> None:
    result = _analysed(completion_response("ab"), completion_response("ac"))
    assert (result.distinct, result.apart, result.shared_tokens) == (2, None, 1)


def test_nothing_answered_is_nothing_measured() -> None:
    result = _analysed(None, None, None)
    assert (result.asked, result.answered, result.failed) == (3, 0, 3)
    assert (result.distinct, result.apart, result.outlier) == (None, None, None)
    assert (result.shared_tokens, result.length, result.runs) == (None, None, [])


def test_one_answer_shares_nothing_with_nobody() -> None:
    result = _analysed(None, completion_response("ab"))
    assert (result.asked, result.answered, result.failed) == (2, 1, 1)
    assert (result.distinct, result.apart, result.shared_tokens) == (1, None, None)


def test_an_unplanned_cache_is_shown_and_not_counted() -> None:
    result = _analysed(completion_response("a"), completion_response("b", cache_n=5, prompt_n=5))
    assert (result.answered, result.invalid, result.distinct) == (2, 1, 1)
    assert [run.valid for run in result.runs] == [True, False]
    assert [group.asks for group in result.groups] == [["1"]]


def test_runs_without_a_seed_say_so() -> None:
    result = KIND.analyse([make_boot([make_ask(completion_response(), seed=None)])])
    assert result.runs[0].seed is None


def test_empty_contents_after_different_thinking_are_different_outputs() -> None:
    result = _analysed(*(chat_response("", thinking=t, stop="length") for t in ("a", "b")))
    assert result.distinct == 2
    assert result.stops == {"limit": 2}
