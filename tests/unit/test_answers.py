"""Raw responses are read as answers; what is no answer is counted, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from generator.analysis import divergence, same_tokens
from generator.answers import Answer, cache_as_planned, failures, other_prompts, read_answers
from generator.receipt import AskRecord, MismatchRecord
from generator.sweeps.drift import compare
from tests.factory import chat_response, completion_response, make_ask, make_boot, token_id


def _answer(response: dict[str, Any], **fields: Any) -> Answer:
    (answer,) = read_answers([make_boot([make_ask(response, **fields)])])
    return answer


def test_a_completion_is_read() -> None:
    answer = _answer(
        completion_response([(" a", -0.5, -0.75), (" b", -2.0, -1.0)], stop="eos", prompt_n=7),
        seed=5,
    )
    assert (answer.boot, answer.ask, answer.seed) == ("main", "1", 5)
    assert (answer.text, answer.thinking, answer.stop) == (" a b", "", "eos")
    assert answer.ids == (token_id(" a"), token_id(" b"))
    assert [token.raw for token in answer.tokens] == [b" a", b" b"]
    assert [token.gap for token in answer.tokens] == [0.25, 1.0]
    assert answer.tokens[1].top[0].text == "not  b"  # the best comes first, chosen or not
    assert (answer.cache_n, answer.prompt_n, answer.predicted_n) == (0, 7, 2)
    assert answer.tokens_per_second == 50.0
    assert answer.valid


def test_a_chat_is_read_with_its_thinking_apart() -> None:
    answer = _answer(chat_response("hi", thinking="hm", stop="length"))
    assert (answer.text, answer.thinking, answer.stop) == ("hi", "hm", "limit")
    assert answer.output == ("hm", "hi")


def test_a_chat_without_a_content_says_nothing() -> None:
    response = chat_response("x", thinking="hm", stop="length")
    response["choices"][0]["message"]["content"] = None
    answer = _answer(response)
    assert (answer.text, answer.cap_eaten) == ("", True)


def test_a_response_without_log_probabilities_has_no_tokens() -> None:
    response = chat_response("x")
    response["choices"][0]["logprobs"] = None
    assert _answer(response).tokens == ()
    completion = completion_response()
    del completion["completion_probabilities"]
    assert _answer(completion).tokens == ()


def test_a_single_candidate_has_no_gap() -> None:
    response = completion_response([" a"])
    del response["completion_probabilities"][0]["top_logprobs"][1]
    assert _answer(response).tokens[0].gap is None


@pytest.mark.parametrize(
    ("stop", "read"),
    [("eos", "eos"), ("limit", "limit"), ("word", "word"), ("none", "other"), ("new", "other")],
)
def test_a_completion_says_why_it_stopped(stop: str, read: str) -> None:
    assert _answer(completion_response(stop=stop)).stop == read


@pytest.mark.parametrize(
    ("stop", "read"), [("stop", "eos"), ("length", "limit"), ("tool_calls", "other")]
)
def test_a_chat_says_why_it_stopped(stop: str, read: str) -> None:
    assert _answer(chat_response(stop=stop)).stop == read


def test_a_chat_with_stop_words_does_not_tell_which_it_met() -> None:
    ask = make_ask(chat_response(stop="stop"))
    asked = ask.model_copy(update={"request": {**ask.request, "stop": ["\n"]}})
    (answer,) = read_answers([make_boot([asked])])
    assert answer.stop == "other"


@pytest.mark.parametrize(
    ("planned", "cache_n", "prompt_n", "valid"),
    [
        ("cold", 0, 10, True),
        ("cold", 1, 9, False),
        ("cold", 0, 0, False),
        ("warm", 9, 1, True),
        ("warm", 0, 1, False),
        ("warm", 0, 10, False),
        ("warm", 8, 2, False),
    ],
)
def test_the_cache_is_as_planned_or_the_ask_is_invalid(
    planned: str, cache_n: int, prompt_n: int, valid: bool
) -> None:
    assert cache_as_planned(planned, cache_n, prompt_n) is valid


def test_a_server_that_does_not_tell_of_its_cache_makes_the_ask_invalid() -> None:
    response = completion_response()
    del response["timings"]
    answer = _answer(response)
    assert not answer.valid
    assert answer.predicted_n == 0


def test_a_speed_that_cannot_be_told_is_none() -> None:
    response = completion_response()
    response["timings"]["predicted_per_second"] = None
    assert _answer(response).tokens_per_second == 0.0


@pytest.mark.parametrize(
    ("text", "stop", "eaten"),
    [("", "length", True), (" \n", "length", True), ("", "stop", False), ("a", "length", False)],
)
def test_the_cap_has_eaten_an_answer_that_never_came(text: str, stop: str, eaten: bool) -> None:
    assert _answer(chat_response(text, thinking="hm", stop=stop)).cap_eaten is eaten


def _without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda response: response.pop(key)


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda response: response.update({key: value})


def _in_token(key: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda response: response["completion_probabilities"][0].update({key: value})


@pytest.mark.parametrize(
    "spoil",
    [
        _without("content"),
        _without("stop_type"),
        _set("content", None),
        _set("content", 5),
        _set("timings", None),
        _set("timings", {"cache_n": "many"}),
        _set("completion_probabilities", None),
        _set("completion_probabilities", [None]),
        _in_token("logprob", None),
        _in_token("id", "x"),
        _in_token("bytes", [300]),
        _in_token("top_logprobs", [{}]),
    ],
)
def test_a_response_of_another_shape_is_a_failure(spoil: Callable[[Any], object]) -> None:
    response = completion_response()
    spoil(response)
    boot = make_boot([response, completion_response()])
    assert [answer.ask for answer in read_answers([boot])] == ["2"]
    assert failures([boot]) == 1


@pytest.mark.parametrize("choices", [[], None, [{}], [{"message": {}}], {}])
def test_a_chat_of_another_shape_is_a_failure(choices: Any) -> None:
    ask = make_ask({**chat_response(), "choices": choices})
    assert read_answers([make_boot([ask])]) == []
    assert failures([make_boot([ask])]) == 1


def test_failures_are_counted_and_are_no_answers() -> None:
    failed: AskRecord = make_ask(None, name="2")
    boots = [make_boot([make_ask(completion_response()), failed]), make_boot([None], name="b")]
    assert [(answer.boot, answer.ask) for answer in read_answers(boots)] == [("main", "1")]
    assert failures(boots) == 2


def _partial(tokens: list[str], listed: list[int]) -> dict[str, Any]:
    """Return a response whose log probabilities lack some tokens, as within a character."""
    whole = completion_response(tokens, text="…")
    entries = whole["completion_probabilities"]
    return {**whole, "completion_probabilities": [entries[index] for index in listed]}


@pytest.mark.parametrize(
    ("tokens", "listed"),
    [
        (["a", "f0", "9f", "80", "b"], [0, 3, 4]),
        (["a", "f0", "80", "80", "b"], [0, 3, 4]),
        (["a", "b", "f0"], [0, 1]),
        (["f0", "9f", "80"], [2]),
    ],
)
def test_tokens_within_a_character_keep_their_places(tokens: list[str], listed: list[int]) -> None:
    answer = _answer(_partial(tokens, listed))
    assert answer.ids == tuple(token_id(token) for token in tokens)
    assert [i for i, token in enumerate(answer.tokens) if token.logprob is not None] == listed
    assert answer.told


def test_answers_that_break_off_within_two_characters_are_two_answers() -> None:
    one, two = (_answer(_partial(["a", byte], [0])) for byte in ("e4", "e5"))
    assert one.output == two.output
    assert not same_tokens(one, two)
    apart = divergence(one, two)
    assert apart is not None
    assert (apart.token, apart.gap) == (1, None)
    assert compare(one, two).gap is None


def test_probabilities_of_other_tokens_than_the_answers_are_no_answer() -> None:
    response = {**completion_response(["a", "b"]), "tokens": [token_id("a"), token_id("c")]}
    assert read_answers([make_boot([response])]) == []


def test_answers_to_another_prompt_than_the_first_are_not_valid() -> None:
    asks = [
        make_ask(completion_response(), name=name, prompt=prompt)
        for name, prompt in (("1", "a"), ("2", "b"), ("3", "a"), ("4", None))
    ]
    boots = [make_boot(asks)]
    assert [answer.valid for answer in read_answers(boots)] == [True, False, True, False]
    assert other_prompts(boots) == (1, 1)


def test_prompts_of_different_questions_may_differ() -> None:
    asks = [
        make_ask(completion_response(), name=name, prompt=name).model_copy(
            update={"request": {"prompt": name, "seed": 1}}
        )
        for name in ("a", "b")
    ]
    assert all(answer.valid for answer in read_answers([make_boot(asks)]))
    assert other_prompts([make_boot(asks)]) == (0, 0)


def test_an_answer_whose_response_reports_something_else_is_not_valid() -> None:
    odd = MismatchRecord(name="temperature", declared=0.0, effective=1.0)
    ask = make_ask(completion_response()).model_copy(update={"mismatches": [odd]})
    assert [answer.valid for answer in read_answers([make_boot([ask])])] == [False]
