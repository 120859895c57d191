"""`panel`: whether a build repeats itself, and whether the thread count moves tokens."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from generator.experiments.panel import KIND, Panel
from generator.receipt import BootRecord
from generator.settings import Sampling, ServerSettings
from tests.factory import TokenLike, completion_response, make_ask, make_boot
from tests.unit.experiments.resolving import resolved

PROMPTS = {"first": {"text": "One"}, "second": {"text": "Two"}}
A: list[TokenLike] = ["a", ("b", -0.5, -0.75), "c"]
DRIFT: list[TokenLike] = ["a", ("b", -0.5625, -0.75), "c"]
FLIP: list[TokenLike] = ["a", "x", "c"]


def _boot(name: str, *answers: list[TokenLike] | None, cache_n: int = 0) -> BootRecord:
    threads = int(name.removeprefix("t").partition("-")[0])
    asks = [
        make_ask(
            None if tokens is None else completion_response(tokens, cache_n=cache_n, prompt_n=5),
            name=prompt,
        )
        for prompt, tokens in zip(PROMPTS, answers, strict=True)
    ]
    settings = ServerSettings(threads=threads, threads_batch=threads)
    return make_boot(asks, name=name, settings=settings)


def _quiet(name: str) -> list[BootRecord]:
    return [_boot(name, A, A), _boot(f"{name}-again", A, A)]


def test_every_thread_count_has_two_fresh_boots_with_every_prompt() -> None:
    boots = KIND.expand(resolved(Panel, prompts=PROMPTS, threads=[2, 1]))
    assert [boot.name for boot in boots] == ["t2", "t2-again", "t1", "t1-again"]
    assert [(b.server.threads, b.server.threads_batch) for b in boots] == [(2, 2)] * 2 + [
        (1, 1)
    ] * 2
    for boot in boots:
        assert [ask.name for ask in boot.asks] == ["first", "second"]
        assert [ask.body["prompt"] for ask in boot.asks] == ["One", "Two"]
        assert {ask.cache for ask in boot.asks} == {"cold"}
        assert not boot.server.cache_prompt
        assert not any(ask.body["cache_prompt"] for ask in boot.asks)


@pytest.mark.parametrize("threads", [[], [0], [2, 2], [1025], ["2"]])
def test_thread_counts_that_compare_nothing_are_refused(threads: list[Any]) -> None:
    with pytest.raises(ValidationError):
        resolved(Panel, prompts=PROMPTS, threads=threads)


def test_a_drawn_seed_is_refused() -> None:
    spec = resolved(Panel, prompts=PROMPTS, threads=[1]).spec
    assert spec.objections(Sampling(seed=1)) == []
    assert spec.objections(Sampling(seed="drawn"))


def test_a_build_that_agrees_with_itself_everywhere() -> None:
    result = KIND.analyse([*_quiet("t2"), *_quiet("t1")])
    assert result.control is not None
    assert result.across_threads is not None
    assert (result.control.compared, result.control.same, result.control.bitwise) == (4, 4, 4)
    assert (result.across_threads.compared, result.across_threads.differ) == (2, 0)
    assert result.first_flip is None
    assert [row.same for row in result.rows] == [None, None, True, True]


def test_a_build_that_does_not_repeat_itself_is_told_by_its_control() -> None:
    result = KIND.analyse([_boot("t2", A, A), _boot("t2-again", FLIP, DRIFT)])
    assert result.control is not None
    assert result.control.model_dump() == {"compared": 2, "same": 1, "differ": 1, "bitwise": 0}
    assert result.across_threads is None
    assert [row.repeats for row in result.rows] == [False, True]


def test_a_token_that_moves_with_the_threads_is_told_with_its_gap() -> None:
    one = [_boot("t1", FLIP, DRIFT), _boot("t1-again", FLIP, DRIFT)]
    result = KIND.analyse([*_quiet("t2"), *one])
    assert result.across_threads is not None
    assert result.across_threads.model_dump() == {
        "compared": 2,
        "same": 1,
        "differ": 1,
        "bitwise": 0,
    }
    assert result.control is not None
    assert result.control.differ == 0
    assert result.first_flip is not None
    assert (result.first_flip.token, result.smallest_gap, result.largest_gap) == (1, 0.25, 0.25)


def test_failures_and_a_cache_in_use_are_counted_and_not_compared() -> None:
    boots = [_boot("t2", A, None), _boot("t2-again", A, A, cache_n=3)]
    result = KIND.analyse(boots)
    assert (result.asked, result.answered, result.failed, result.invalid) == (4, 3, 1, 2)
    assert result.control is None
    assert result.across_threads is None


def test_nothing_answered_is_a_result() -> None:
    result = KIND.analyse([])
    assert (result.asked, result.rows, result.control) == (0, [], None)
