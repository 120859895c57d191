"""What a response reports of itself, compared with what was asked; pure."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from generator.canonical import digest
from generator.receipt import (
    Answered,
    AskRecord,
    MismatchRecord,
    PromptRecord,
    Receipt,
)

MOST_NAMED = 6

_NOTHING = object()
# a grammar ends an answer when it is complete
_GRAMMARS = {"grammar", "json_schema", "response_format"}
_BUDGETS = ("reasoning_budget", "reasoning_budget_tokens", "thinking_budget_tokens")
_LISTS = ("stop", "dry_sequence_breakers")
Difference = tuple[str, Any, Any]


class Started(Protocol):
    """What is known of a server: its model's name, its settings, and its `/props`."""

    @property
    def model(self) -> str:
        """The name under which it presents the model."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it was started with."""

    @property
    def props(self) -> Mapping[str, Any]:
        """Its `/props`."""


def mismatches(boot: Started, ask: AskRecord, prompt: PromptRecord | None) -> list[MismatchRecord]:
    """List what a response reports otherwise than it was asked; a failed ask reports nothing.

    What a response does not report is no mismatch.

    Args:
        boot: The boot, for the model's name and the server's settings.
        ask: The ask and its outcome.
        prompt: The prompt that the model was given; None if it is unknown.
    """
    if not isinstance(ask.outcome, Answered):
        return []
    response, timings = ask.outcome.response, _mapping(ask.outcome.response.get("timings"))
    found = [
        *_named("model", boot.model, response.get("model", _NOTHING)),
        *_settings(ask.request, _mapping(response.get("generation_settings"))),
        *_prompt(boot, ask, response),
        *_counts(response, timings, prompt),
        *_limits(ask, response, timings),
        *_stopped(ask.request, response),
        *_thinking(boot, ask.request, response),
    ]
    return [
        MismatchRecord(name=name, declared=asked, effective=told) for name, asked, told in found
    ]


def odd_asks(receipt: Receipt) -> list[tuple[str, MismatchRecord]]:
    """Return each different mismatch of a receipt's asks once, with the asks that have it.

    Of many asks the first few are named, and how many there are.
    """
    found: dict[str, tuple[list[str], MismatchRecord]] = {}
    for boot, ask in receipt.asks():
        for odd in ask.mismatches:
            asks, _ = found.setdefault(digest(odd.model_dump(mode="json")), ([], odd))
            asks.append(f"{boot.name}/{ask.name}")
    return [
        (", ".join(asks[:MOST_NAMED]) + (f", … ({len(asks)})" if asks[MOST_NAMED:] else ""), odd)
        for asks, odd in found.values()
    ]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _named(name: str, asked: Any, reported: Any) -> Iterator[Difference]:
    """Yield a difference if *reported* is there and is not *asked*."""
    if reported is not _NOTHING and reported is not None and not _equal(asked, reported):
        yield name, asked, reported


def _equal(asked: Any, reported: Any) -> bool:
    """Whether two values are equal, numbers in the single precision that the server keeps."""
    if isinstance(asked, bool) or isinstance(reported, bool):
        return bool(asked is reported)
    if isinstance(asked, int | float) and isinstance(reported, int | float):
        return asked == reported or _single(asked) == _single(reported)
    return bool(asked == reported)


def _single(value: float) -> float | None:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return None


def _settings(request: Mapping[str, Any], echo: Mapping[str, Any]) -> Iterator[Difference]:
    for name, asked in request.items():
        if name == "samplers" or (name == "repeat_last_n" and asked == -1):
            continue  # echoed by other names, and as the length of the context
        if isinstance(asked, bool | int | float | str) or (
            isinstance(asked, list) and name in _LISTS
        ):
            yield from _named(name, asked, echo.get(name, _NOTHING))
    samplers, used = request.get("samplers"), echo.get("samplers")
    # a sampler has several names; one that the server does not know is left out of the echo
    if isinstance(samplers, list | str) and used is not None and len(samplers) != len(used):
        yield "samplers", samplers, used
    if "logit_bias" in request and isinstance(echo.get("logit_bias"), list):
        yield from _biases(_mapping(request["logit_bias"]), echo["logit_bias"])


def _biases(asked: Mapping[str, Any], echo: Sequence[Any]) -> Iterator[Difference]:
    """Find a bias that is not echoed; `false` comes back as null, a text as its tokens."""
    for name, bias in asked.items():
        told = [
            _mapping(entry).get("token")
            for entry in echo
            if _equal(None if bias is False else bias, _mapping(entry).get("bias"))
        ]
        if not told or (name.isdecimal() and int(name) not in told):
            yield "logit_bias", dict(asked), list(echo)
            return


def _prompt(boot: Started, ask: AskRecord, response: Mapping[str, Any]) -> Iterator[Difference]:
    """Compare a completion's echoed prompt, which the server makes of the tokens again.

    So the token that opens every text stands in front of it, where the model has one, and a
    tokenizer may put one space before the first word.
    """
    asked, echo = ask.request.get("prompt"), response.get("prompt")
    if ask.endpoint != "completion" or not isinstance(asked, str) or not isinstance(echo, str):
        return
    opening = boot.props.get("bos_token") or ""
    if echo not in {f"{start}{space}{asked}" for start in ("", opening) for space in ("", " ")}:
        yield "prompt", asked, echo


def _counts(
    response: Mapping[str, Any], timings: Mapping[str, Any], prompt: PromptRecord | None
) -> Iterator[Difference]:
    usage = _mapping(response.get("usage"))
    if "cache_n" in timings and "prompt_n" in timings:
        read = timings["cache_n"] + timings["prompt_n"]
        yield from _named("tokens_evaluated", read, response.get("tokens_evaluated", _NOTHING))
        yield from _named("prompt_tokens", read, usage.get("prompt_tokens", _NOTHING))
        cached = _mapping(usage.get("prompt_tokens_details")).get("cached_tokens", _NOTHING)
        yield from _named("cached_tokens", timings["cache_n"], cached)
        if prompt is not None:
            yield from _named("prompt_tokens", len(prompt.ids), read)
    if "predicted_n" in timings:
        written = timings["predicted_n"]
        yield from _named("tokens_predicted", written, response.get("tokens_predicted", _NOTHING))
        yield from _named("completion_tokens", written, usage.get("completion_tokens", _NOTHING))
        tokens = response.get("tokens")
        if isinstance(tokens, list) and tokens:
            yield from _named("tokens", written, len(tokens))
    yield from _named("truncated", asked=False, reported=response.get("truncated", _NOTHING))


def _limits(
    ask: AskRecord, response: Mapping[str, Any], timings: Mapping[str, Any]
) -> Iterator[Difference]:
    """Compare how many tokens were generated with the limit, and the reason for stopping."""
    name = "n_predict" if ask.endpoint == "completion" else "max_tokens"
    limit, written = ask.request.get(name), timings.get("predicted_n")
    if not isinstance(limit, int) or not isinstance(written, int):
        return
    stopped = response.get("stop_type", _finish(response))
    if written > limit or (stopped in ("limit", "length") and written < limit):
        yield name, limit, written


def _choices(response: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    choices = response.get("choices")
    return [_mapping(choice) for choice in choices] if isinstance(choices, list) else []


def _finish(response: Mapping[str, Any]) -> Any:
    return next((choice.get("finish_reason") for choice in _choices(response)), None)


def _stopped(request: Mapping[str, Any], response: Mapping[str, Any]) -> Iterator[Difference]:
    """Find a completion that ended as it was asked not to, or at a word that was not asked."""
    why, word = response.get("stop_type"), response.get("stopping_word")
    if why == "word" and word not in request.get("stop", ()):
        yield "stop", request.get("stop", []), word
    if why == "eos" and request.get("ignore_eos") is True and not _GRAMMARS & request.keys():
        yield "ignore_eos", True, why


def _thinking(
    boot: Started, request: Mapping[str, Any], response: Mapping[str, Any]
) -> Iterator[Difference]:
    """Find thinking in an answer for which it was switched off, by the request or the server."""
    started_with = _mapping(boot.settings.get("extra"))
    switched_off = (
        _mapping(request.get("chat_template_kwargs")).get("enable_thinking") is False
        or request.get("reasoning_effort") == "none"
        or any(request.get(name) == 0 for name in _BUDGETS)
        or any(started_with.get(name) == 0 for name in (*_BUDGETS, "enable_reasoning"))
        or started_with.get("reasoning") == "off"
    )
    if not switched_off:
        return
    for choice in _choices(response):
        thinking = _mapping(choice.get("message")).get("reasoning_content")
        if isinstance(thinking, str) and thinking.strip():
            yield "enable_thinking", False, True
