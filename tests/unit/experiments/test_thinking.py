"""`thinking`: what the cap was spent on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from generator.experiments.thinking import KIND, Thinking
from generator.figures import Bars
from generator.plan import DrawnSeed
from tests.factory import TokenLike, chat_response, make_boot
from tests.unit.experiments.resolving import resolved


def _analysed(*responses: dict[str, Any] | None) -> Any:
    return KIND.analyse([make_boot(responses)])


def _tokens(tokens: Sequence[TokenLike], *, thinking: str, text: str) -> int:
    (run,) = _analysed(chat_response(text, thinking=thinking, tokens=tokens)).runs
    return int(run.thinking_tokens)


def test_all_runs_are_asked_in_one_boot_of_chats() -> None:
    one = resolved(Thinking, runs=5, endpoint="chat", sampling={"seed": "drawn", "max_tokens": 256})
    (boot,) = KIND.expand(one)
    assert [ask.endpoint for ask in boot.asks] == ["chat"] * 5
    assert {ask.seed for ask in boot.asks} == {DrawnSeed()}
    assert {ask.body["max_tokens"] for ask in boot.asks} == {256}


def test_the_cap_eats_every_answer() -> None:
    result = _analysed(*(chat_response("", thinking="x" * n, stop="length") for n in (8, 9, 6)))
    assert (result.thought, result.with_answer, result.cap_eaten) == (3, 0, 3)
    assert result.stopped_by_itself == 0
    assert (result.thinking_chars.smallest, result.thinking_chars.spread) == (6, 3)
    assert [run.thinking_tokens for run in result.runs] == [8, 9, 6]


def test_some_answer_and_some_do_not() -> None:
    result = _analysed(
        chat_response("hi", thinking="hm"),
        chat_response("", thinking="hm", stop="length"),
        chat_response("", thinking="hm"),
        chat_response("cut off in the mid", thinking="hm", stop="length"),
        chat_response("no thought"),
    )
    assert (result.thought, result.with_answer, result.cap_eaten) == (4, 3, 1)
    assert result.stopped_by_itself == 3
    assert [run.answered for run in result.runs] == [True, False, False, True, True]
    assert [run.cap_eaten for run in result.runs] == [False, True, False, False, False]
    assert result.runs[4].thinking_tokens == 0


def test_blanks_are_no_answer() -> None:
    (run,) = _analysed(chat_response("\n\n", thinking="hm", stop="length")).runs
    assert (run.answered, run.cap_eaten) == (False, True)


def test_failures_and_unplanned_caches_are_not_counted() -> None:
    result = _analysed(
        None, chat_response("hi", thinking="hm", cache_n=3), chat_response("hi", thinking="hm")
    )
    assert (result.asked, result.answered, result.failed, result.invalid) == (3, 2, 1, 1)
    assert (result.thought, result.with_answer) == (1, 1)


def test_nothing_answered_is_nothing_measured() -> None:
    result = _analysed(None, None)
    assert (result.thought, result.with_answer, result.cap_eaten) == (None, None, None)
    assert (result.stopped_by_itself, result.thinking_chars, result.runs) == (None, None, [])


@pytest.mark.parametrize(
    ("tokens", "thinking", "text", "count"),
    [
        (["hm", "</think>", "hi"], "hm", "hi", 1),
        (["h", "m", "</", "think", ">", "hi"], "hm", "hi", 2),
        (["h", "m</", "think>", "hi"], "hm", "hi", 2),
        (["hm</think>hi"], "hm", "hi", 1),
        (["h", "m</think>hi", "!"], "hm", "hi!", 2),
        (["hm", "</th", "ink>hi"], "hm", "hi", 1),
        (["hm", "</thin"], "hm</thin", "", 2),
        (["想", "了", "</think>", "好"], "想了", "好", 2),
        (["a", "</think>", "b", "</think>", "c"], "a", "b</think>c", 1),
    ],
)
def test_thinking_ends_where_its_tag_begins(
    tokens: list[TokenLike], thinking: str, text: str, count: int
) -> None:
    assert _tokens(tokens, thinking=thinking, text=text) == count


def test_a_character_split_over_tokens_is_counted_in_bytes() -> None:
    response = chat_response("hi", thinking="é", tokens=["?", "?", "</think>", "hi"])
    content = response["choices"][0]["logprobs"]["content"]
    content[0]["bytes"], content[1]["bytes"] = [0xC3], [0xA9]
    (run,) = _analysed(response).runs
    assert run.thinking_tokens == 2


def test_runs_without_an_answer_are_marked_in_the_figure() -> None:
    result = _analysed(chat_response("hi", thinking="hm"), chat_response("", thinking="hmm"))
    bars = KIND.figures(result)["thinking-chars"]
    assert isinstance(bars, Bars)
    assert [(bar.name, bar.value, bar.marked) for bar in bars.bars] == [
        ("1", 2, False),
        ("2", 3, True),
    ]
