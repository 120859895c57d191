"""A receipt's raw responses read as answers: text, thinking, tokens, what was evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from generator.canonical import digest
from generator.receipt import Answered, AskRecord, BootRecord

Stop = Literal["eos", "limit", "word", "other"]
_STOPS: Mapping[str, Stop] = {
    "eos": "eos",
    "limit": "limit",
    "word": "word",
    "stop": "eos",
    "length": "limit",
}


@dataclass(frozen=True)
class Candidate:
    """One of the tokens that were weighed at a position; *logprob* is natural."""

    id: int
    text: str
    logprob: float


@dataclass(frozen=True)
class Token:
    """A chosen token and the best candidates at its position, best first.

    A server tells nothing but the id of a token that ends within a character: its text is empty
    then, and its log probability None.
    """

    id: int
    text: str
    raw: bytes
    logprob: float | None
    top: tuple[Candidate, ...]

    @property
    def gap(self) -> float | None:
        """Return by how much the best candidate leads the second, in nats."""
        return self.top[0].logprob - self.top[1].logprob if len(self.top) > 1 else None


@dataclass(frozen=True)
class Answer:
    """One answered ask.

    Attributes:
        boot: The boot's name.
        ask: The ask's name within its boot.
        seed: The seed that was sent, or None.
        text: What the reader gets.
        thinking: What the model wrote before it, where the server tells them apart.
        tokens: Every generated token, thinking included.
        stop: Why generation ended.
        cache_n: Prompt tokens taken from the cache.
        prompt_n: Prompt tokens evaluated for this ask.
        predicted_n: Tokens generated.
        tokens_per_second: Generation speed by the server's own clock.
        prompt_ms: How long evaluating the prompt took by that clock, in milliseconds; 0 if the
            server does not tell. `predicted_ms` is how long generating took.
        prompt: The digest of the prompt that the model was given; None if it is unknown.
        valid: Whether the cache was used as planned, the response reports what was asked, and the
            prompt is known and is that of the first answer to an equal question.
    """

    boot: str
    ask: str
    seed: int | None
    text: str
    thinking: str
    tokens: tuple[Token, ...]
    stop: Stop
    cache_n: int
    prompt_n: int
    predicted_n: int
    tokens_per_second: float
    prompt_ms: float
    predicted_ms: float
    prompt: str | None
    valid: bool

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the generated tokens."""
        return tuple(token.id for token in self.tokens)

    @property
    def told(self) -> bool:
        """Whether there are tokens and probabilities to be compared at all."""
        return any(token.logprob is not None for token in self.tokens)

    @property
    def output(self) -> tuple[str, str]:
        """All that was written: thinking and text."""
        return self.thinking, self.text

    @property
    def cap_eaten(self) -> bool:
        """Whether the limit cut it off before anything was answered."""
        return self.stop == "limit" and not self.text.strip()


def read_answers(boots: Sequence[BootRecord]) -> list[Answer]:
    """Return the answers of all answered asks, in order; failures are not answers.

    Answers are compared only where the model was given the same prompt: of those to one question,
    the ones that were given another prompt than the first, or an unknown one, are not valid.
    """
    first: dict[str, str] = {}
    answers = []
    for boot in boots:
        for ask in boot.asks:
            answer = read_answer(boot.name, ask)
            if answer is None:
                continue
            if answer.prompt is not None:
                same = first.setdefault(question(ask), answer.prompt) == answer.prompt
                answer = replace(answer, valid=answer.valid and same)
            answers.append(answer)
    return answers


def question(ask: AskRecord) -> str:
    """Return what a request asks, as the author wrote it, by which its prompts are compared."""
    asked = ("prompt", "messages", "chat_template_kwargs", "tools")
    return digest([ask.endpoint, {key: ask.request.get(key) for key in asked}])


def other_prompts(boots: Sequence[BootRecord]) -> tuple[int, int]:
    """Count the answers that cannot be compared for the sake of their prompt.

    Returns:
        How many were given another prompt than the first answer to the same question, and of how
        many the prompt is unknown.
    """
    first: dict[str, str] = {}
    differ = unknown = 0
    for boot in boots:
        for ask in boot.asks:
            if not isinstance(ask.outcome, Answered):
                continue
            if ask.prompt is None:
                unknown += 1
            elif first.setdefault(question(ask), ask.prompt) != ask.prompt:
                differ += 1
    return differ, unknown


def failures(boots: Sequence[BootRecord]) -> int:
    """Return how many asks failed, or got a response that is no answer of their endpoint."""
    return sum(len(boot.asks) for boot in boots) - len(read_answers(boots))


def cache_as_planned(planned: str, cache_n: int, prompt_n: int) -> bool:
    """Whether an ask found the cache as planned.

    Cold means that nothing came from the cache; warm, that the prompt's last token alone was
    evaluated (the server never skips it, since it needs its logits); any, that something was. A
    server which does not tell evaluated nothing, which is none of them.
    """
    match planned:
        case "cold":
            return prompt_n > 0 and cache_n == 0
        case "warm":
            return prompt_n == 1 and cache_n > 0
        case _:
            return prompt_n > 0


def read_answer(boot: str, ask: AskRecord) -> Answer | None:
    """Return the answer of one ask; None if it failed or its response is no answer."""
    if not isinstance(ask.outcome, Answered):
        return None
    try:
        return _read(boot, ask, ask.outcome.response)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None  # whatever it is: its shape is not that of an answer


def _read(boot: str, ask: AskRecord, body: Mapping[str, Any]) -> Answer:
    read = _chat if ask.endpoint == "chat" else _completion
    text, thinking, stop, probabilities = read(body)
    if ask.endpoint == "chat" and stop == "stop" and ask.request.get("stop"):
        stop = "eos or word"  # a chat does not tell which
    timings = body.get("timings", {})
    cache_n, prompt_n = int(timings.get("cache_n", 0)), int(timings.get("prompt_n", 0))
    return Answer(
        boot=boot,
        ask=ask.name,
        seed=ask.request.get("seed"),
        text=_str(text),
        thinking=_str(thinking),
        tokens=_tokens(probabilities, body.get("tokens") or ()),
        stop=_STOPS.get(stop, "other"),
        cache_n=cache_n,
        prompt_n=prompt_n,
        predicted_n=int(timings.get("predicted_n", 0)),
        tokens_per_second=float(timings.get("predicted_per_second") or 0.0),
        prompt_ms=float(timings.get("prompt_ms") or 0.0),
        predicted_ms=float(timings.get("predicted_ms") or 0.0),
        prompt=ask.prompt,
        valid=cache_as_planned(ask.cache, cache_n, prompt_n)
        and ask.prompt is not None
        and not ask.mismatches,
    )


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {value!r}")
    return value


def _completion(body: Mapping[str, Any]) -> tuple[str, str, str, Sequence[Any]]:
    return body["content"], "", body["stop_type"], body.get("completion_probabilities", ())


def _chat(body: Mapping[str, Any]) -> tuple[str, str, str, Sequence[Any]]:
    choice = body["choices"][0]
    message = choice["message"]
    logprobs = (choice.get("logprobs") or {}).get("content") or ()
    return (
        message.get("content") or "",
        message.get("reasoning_content") or "",
        choice["finish_reason"],
        logprobs,
    )


def _tokens(entries: Sequence[Any], ids: Sequence[Any]) -> tuple[Token, ...]:
    """Return all tokens; *entries* lacks those that end within a character, *ids* does not.

    Raises:
        ValueError: What is told of the probabilities is not told of these ids.
    """
    told = [_token(entry) for entry in entries]
    if not ids or not told:
        return tuple(told)
    found: list[Token] = []
    # from the end: it is the last token of a character that is told of
    for id_ in reversed([int(one) for one in ids]):
        last = bool(told) and told[-1].id == id_
        found.append(told.pop() if last else Token(id_, "", b"", None, ()))
    if told:
        raise ValueError("probabilities of tokens that are not in the answer")
    return tuple(reversed(found))


def _token(entry: Mapping[str, Any]) -> Token:
    top = [
        Candidate(int(other["id"]), str(other["token"]), float(other["logprob"]))
        for other in entry.get("top_logprobs", ())
    ]
    return Token(
        id=int(entry["id"]),
        text=str(entry["token"]),
        raw=bytes(entry.get("bytes") or ()),
        logprob=float(entry["logprob"]),
        top=tuple(sorted(top, key=lambda candidate: -candidate.logprob)),
    )
