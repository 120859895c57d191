"""What a response reports of itself, compared with what was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from generator.receipt import AskRecord, MismatchRecord
from generator.reported import mismatches, odd_asks
from tests.factory import (
    MODEL,
    PROMPT,
    chat_response,
    completion_response,
    make_ask,
    make_boot,
    make_prompt,
    make_receipt,
)

ECHO = {
    "seed": 42,
    "temperature": 0.699999988079071,
    "top_k": 40,
    "top_p": 0.949999988079071,
    "repeat_last_n": 4096,
    "n_predict": 3,
    "stop": [],
    "ignore_eos": False,
    "logit_bias": [],
}
REQUEST = {
    "prompt": PROMPT,
    "seed": 42,
    "temperature": 0.7,
    "top_k": 40,
    "top_p": 0.95,
    "repeat_last_n": -1,
    "n_predict": 3,
    "ignore_eos": False,
}


def honest(**changed: Any) -> dict[str, Any]:
    """Return a completion that reports what was asked, but for *changed*."""
    return {
        **completion_response(),
        "model": MODEL,
        "prompt": PROMPT,
        "generation_settings": dict(ECHO),
        "tokens_evaluated": 10,
        "tokens_predicted": 3,
        "truncated": False,
        **changed,
    }


def asked(response: Mapping[str, Any], request: Mapping[str, Any] = REQUEST) -> AskRecord:
    return make_ask(response).model_copy(update={"request": dict(request)})


def found(response: Mapping[str, Any], request: Mapping[str, Any] = REQUEST) -> set[str]:
    return {m.name for m in mismatches(make_boot(), asked(response, request), make_prompt())}


def test_a_response_that_reports_what_was_asked_has_no_mismatch() -> None:
    assert found(honest()) == set()


def test_a_failed_ask_reports_nothing() -> None:
    assert mismatches(make_boot(), make_ask(None), None) == []


@pytest.mark.parametrize("name", sorted(REQUEST.keys() & ECHO.keys() - {"repeat_last_n"}))
def test_each_setting_that_is_echoed_otherwise_is_a_mismatch(name: str) -> None:
    other = not ECHO[name] if isinstance(ECHO[name], bool) else 17
    assert found(honest(generation_settings={**ECHO, name: other})) == {name}


def test_a_setting_that_is_not_echoed_is_no_mismatch() -> None:
    assert found(honest(generation_settings={})) == set()


def test_numbers_are_compared_in_the_precision_that_the_server_keeps() -> None:
    assert found(honest(generation_settings={"temperature": 0.7000001})) == {"temperature"}


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"model": "another"}, "model"),
        ({"prompt": "Say nothing"}, "prompt"),
        ({"truncated": True}, "truncated"),
        ({"tokens_evaluated": 11}, "tokens_evaluated"),
        ({"tokens_predicted": 4}, "tokens_predicted"),
        ({"tokens": [1, 2]}, "tokens"),
        ({"stop_type": "word", "stopping_word": "never asked"}, "stop"),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": 5}}}, "cached_tokens"),
    ],
)
def test_each_thing_that_a_response_reports_of_itself_is_compared(
    changed: dict[str, Any], name: str
) -> None:
    assert found(honest(**changed)) == {name}


def test_a_prompt_of_another_length_than_was_evaluated_is_a_mismatch() -> None:
    odd = mismatches(make_boot(), asked(honest()), make_prompt(count=11))
    assert [(m.name, m.declared, m.effective) for m in odd] == [("prompt_tokens", 11, 10)]


def test_the_token_that_opens_every_text_may_stand_before_the_echoed_prompt() -> None:
    boot = make_boot().model_copy(update={"props": {"bos_token": "<bos>"}})
    for echo, names in ((f"<bos>{PROMPT}", []), (f"<bos> {PROMPT}", []), ("<bos>x", ["prompt"])):
        assert [m.name for m in mismatches(boot, asked(honest(prompt=echo)), None)] == names


def test_more_tokens_than_the_limit_are_a_mismatch() -> None:
    assert found(honest(generation_settings={}), {**REQUEST, "n_predict": 2}) == {"n_predict"}


def test_an_answer_cut_off_before_its_limit_is_a_mismatch() -> None:
    assert found(honest(generation_settings={}), {**REQUEST, "n_predict": 4}) == {"n_predict"}
    stopped = honest(generation_settings={}, stop_type="eos")
    assert found(stopped, {**REQUEST, "n_predict": 4}) == set()


CHAT: Callable[[], dict[str, Any]] = lambda: chat_response("four", tokens=["f", "our"])  # noqa: E731


@pytest.mark.parametrize(
    "switch",
    [
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"reasoning_budget": 0},
        {"reasoning_budget_tokens": 0},
        {"reasoning_effort": "none"},
    ],
)
def test_thinking_that_was_switched_off_is_a_mismatch(switch: dict[str, Any]) -> None:
    request = {"messages": [], "max_tokens": 9, **switch}
    thought = chat_response("four", thinking="two and two")
    assert found(thought, {"messages": [], "max_tokens": 99, **switch}) == {"enable_thinking"}
    assert found(CHAT(), request) == set()


def test_the_counts_of_a_chat_are_compared() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    request = {"messages": [], "max_tokens": 9}
    assert found({**CHAT(), "usage": usage}, request) == set()
    assert found({**CHAT(), "usage": {**usage, "prompt_tokens": 9}}, request) == {"prompt_tokens"}
    wrong = {**CHAT(), "usage": {**usage, "completion_tokens": 3}}
    assert found(wrong, request) == {"completion_tokens"}


BIASES = {"42": 1.3, "77": False, " the": -1.5}
BIASED = [
    {"token": 42, "bias": 1.2999999523162842},
    {"token": 77, "bias": None},
    {"token": 260, "bias": -1.5},
]


@pytest.mark.parametrize(
    ("echo", "names"),
    [
        (BIASED, set()),
        ([*BIASED, {"token": 2, "bias": None}], set()),
        ([], {"logit_bias"}),
        (BIASED[1:], {"logit_bias"}),
        (BIASED[:2], {"logit_bias"}),
        ([{"token": 41, "bias": 1.3}, *BIASED[1:]], {"logit_bias"}),
        ([{"token": 42, "bias": 1.4}, *BIASED[1:]], {"logit_bias"}),
        ([BIASED[0], {"token": 77, "bias": 0.0}, BIASED[2]], {"logit_bias"}),
    ],
)
def test_each_bias_must_be_echoed_with_its_token(echo: list[Any], names: set[str]) -> None:
    response = honest(generation_settings={"logit_bias": echo})
    assert found(response, {**REQUEST, "logit_bias": BIASES}) == names


@pytest.mark.parametrize(
    ("name", "asked_for", "echo", "same"),
    [
        ("stop", ["a"], ["a"], True),
        ("stop", ["a"], [], False),
        ("dry_sequence_breakers", ["a", "b"], ["a", "b"], True),
        ("dry_sequence_breakers", ["a", "b"], ["\n"], False),
        ("samplers", ["top-k", "temperature"], ["top_k", "temperature"], True),
        ("samplers", "kt", ["top_k", "temperature"], True),
        ("samplers", ["top-k", "no such sampler"], ["top_k"], False),
    ],
)
def test_lists_are_compared_with_their_echo(
    name: str, asked_for: Any, echo: list[str], *, same: bool
) -> None:
    response = honest(generation_settings={name: echo})
    assert found(response, {**REQUEST, name: asked_for}) == (set() if same else {name})


def test_a_completion_that_ends_although_its_end_was_to_be_ignored_is_a_mismatch() -> None:
    request = {**REQUEST, "n_predict": 9, "ignore_eos": True}
    ended = honest(generation_settings={}, stop_type="eos")
    assert found(ended, request) == {"ignore_eos"}
    assert found(ended, {**request, "grammar": 'root ::= "a"'}) == set()
    assert found(ended, {**request, "ignore_eos": False}) == set()


@pytest.mark.parametrize(
    "extra",
    [
        {"reasoning_budget": 0},
        {"enable_reasoning": 0},
        {"enable_reasoning": False},
        {"reasoning": "off"},
    ],
)
def test_thinking_that_the_server_was_to_switch_off_is_a_mismatch(extra: dict[str, Any]) -> None:
    boot = make_boot()
    boot = boot.model_copy(update={"settings": {**boot.settings, "extra": extra}})
    request = {"messages": [], "max_tokens": 99}
    thought = asked(chat_response("four", thinking="two and two"), request)
    assert [m.name for m in mismatches(boot, thought, None)] == ["enable_thinking"]
    assert mismatches(make_boot(), thought, None) == []
    blank = asked(chat_response("four", thinking="\n"), request)
    assert mismatches(boot, blank, None) == []


def test_a_mismatch_of_many_asks_is_listed_once_with_the_asks() -> None:
    other = MismatchRecord(name="top_k", declared=40, effective=7)
    odd = MismatchRecord(name="seed", declared=1, effective=2)
    asks = [
        make_ask(honest(), name=str(n)).model_copy(
            update={"mismatches": [odd, other] if n == 2 else [odd]}
        )
        for n in range(1, 9)
    ]
    assert odd_asks(make_receipt("repeat", [make_boot(asks)])) == [
        ("main/1, main/2, main/3, main/4, main/5, main/6, … (8)", odd),
        ("main/2", other),
    ]
    assert odd_asks(make_receipt("repeat", [make_boot([honest()])])) == []
