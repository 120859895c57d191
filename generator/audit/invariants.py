"""What is true of every honest answer: a list of named invariants, each a pure function.

They were found to hold for every answer of the receipts in this repository. An invariant applies
where the response holds both sides of it: what a server does not tell is not checked here, and its
absence is seen by the digest of the response.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from generator.audit.reply import Position, Reply, Statement, Token
from generator.settings import Endpoint

TOLERANCE = 1e-9
"""How far two computations of one number may differ, relatively."""
ROUNDED = 1e-4
"""How much more than 1 the probabilities of candidates, told as floats, may sum to."""
CLOCK_S = 2.0
"""How far a server's clock of whole seconds may stand from ours, in seconds."""

Check = Callable[[Reply], Iterator[Statement]]


@dataclass(frozen=True)
class Invariant:
    """One rule.

    Attributes:
        rule: The rule in words, as findings name it.
        endpoint: The endpoint to which it applies; None means both.
        check: Gives what must stand where.
    """

    rule: str
    endpoint: Endpoint | None
    check: Check


def statements(reply: Reply) -> Iterator[tuple[str, Statement]]:
    """Yield what every invariant says of one answer, with the invariant's rule; pure."""
    for invariant in INVARIANTS:
        if invariant.endpoint in (None, reply.endpoint):
            for statement in invariant.check(reply):
                yield invariant.rule, statement


def _speeds(reply: Reply) -> Iterator[Statement]:
    for part in ("prompt", "predicted"):
        count, ms = reply.number(f"/timings/{part}_n"), reply.number(f"/timings/{part}_ms")
        if count is None or not ms:
            continue
        # the first token of an answer takes no time of its own where the server leaves it out
        counts = (count, count - 1) if part == "predicted" else (count,)
        rates = [1e3 * one / ms for one in counts]
        each = [ms / one if one else 0.0 for one in counts]
        yield from _one_of(reply, f"/timings/{part}_per_second", rates)
        yield from _one_of(reply, f"/timings/{part}_per_token_ms", each)


def _one_of(reply: Reply, pointer: str, allowed: list[float]) -> Iterator[Statement]:
    found = reply.number(pointer)
    if found is not None:
        close = any(math.isclose(found, one, rel_tol=TOLERANCE) for one in allowed)
        yield Statement(f"/response{pointer}", found if close else allowed[-1], found)


def _wall(reply: Reply) -> Iterator[Statement]:
    parts = [reply.number(f"/timings/{part}_ms") for part in ("prompt", "predicted")]
    if None not in parts:
        least = sum(part for part in parts if part is not None) / 1000
        wall_s = reply.outcome.wall_s
        words = f"at least {least:.6g} s"
        yield Statement("/wall_s", words, words if wall_s >= least else wall_s)


def _counts(reply: Reply) -> Iterator[Statement]:
    predicted, read = reply.number("/timings/predicted_n"), _prompt_tokens(reply)
    yield from reply.equal("/tokens_predicted", predicted)
    yield from reply.equal("/tokens_evaluated", read)
    if read is not None and predicted is not None and reply.at("/truncated") is False:
        yield from reply.equal("/tokens_cached", read + predicted - 1)
    tokens = reply.at("/tokens")
    if isinstance(tokens, list) and predicted is not None:
        words = f"{predicted:g} tokens"
        yield reply.true("/tokens", len(tokens) == predicted, words)


def _prompt_tokens(reply: Reply) -> float | None:
    cached, evaluated = reply.number("/timings/cache_n"), reply.number("/timings/prompt_n")
    return None if cached is None or evaluated is None else cached + evaluated


def _usage(reply: Reply) -> Iterator[Statement]:
    predicted, read = reply.number("/timings/predicted_n"), _prompt_tokens(reply)
    yield from reply.equal("/usage/completion_tokens", predicted)
    yield from reply.equal("/usage/prompt_tokens", read)
    cached = reply.number("/timings/cache_n")
    yield from reply.equal("/usage/prompt_tokens_details/cached_tokens", cached)
    if predicted is not None and read is not None:
        yield from reply.equal("/usage/total_tokens", predicted + read)


def _content(reply: Reply) -> Iterator[Statement]:
    joined, content = _joined(reply), reply.text("/content")
    if joined is None or content is None:
        return
    if reply.at("/stop_type") == "word":  # what follows the stopping word is cut off
        yield reply.true("/content", joined.startswith(content), "the beginning of its tokens")
    else:
        yield Statement("/response/content", joined, content)


def _joined(reply: Reply) -> str | None:
    positions = [position for _, position in reply.positions()]
    whole = reply.at(reply.places)
    if not positions or not isinstance(whole, list) or len(positions) < len(whole):
        return None
    raw = b"".join(position.chosen.raw for position in positions)
    return raw.decode("utf-8", "replace")


def _message(reply: Reply) -> Iterator[Statement]:
    joined = _joined(reply)
    at = "/choices/0/message"
    content, thinking = reply.text(f"{at}/content"), reply.text(f"{at}/reasoning_content")
    if joined is None or content is None or reply.request.get("stop"):
        return
    parts = (re.escape(part.strip()) for part in (thinking or "", content))
    pattern = r"\s*(<think>)?\s*{}\s*(</think>)?\s*{}\s*".format(*parts)
    words = f"thinking and text that are the tokens' {joined!r}"
    yield reply.true(f"{at}/content", bool(re.fullmatch(pattern, joined)), words)


def _ids(reply: Reply) -> Iterator[Statement]:
    tokens = reply.at("/tokens")
    if not isinstance(tokens, list):
        return
    positions = list(reply.positions())
    if len(positions) == len(tokens):
        for index, (_, position) in enumerate(positions):
            yield Statement(f"/response/tokens/{index}", position.chosen.id, tokens[index])
    else:  # nothing is told of a token that ends within a character
        left = iter(tokens)
        inside = all(position.chosen.id in left for _, position in positions)
        yield reply.true("/tokens", inside, "the ids of its probabilities, in their order")


def _texts(reply: Reply) -> Iterator[Statement]:
    for at, position in reply.positions():
        for pointer, token in _tokens(at, position):
            # a token that ends within a character is told without its end, or with a mark
            readings = [token.raw.decode("utf-8", errors) for errors in ("replace", "ignore")]
            text = token.text if token.text in readings else readings[0]
            yield Statement(f"/response{pointer}/token", text, token.text)


def _tokens(at: str, position: Position) -> Iterator[tuple[str, Token]]:
    yield at, position.chosen
    for index, candidate in enumerate(position.candidates):
        yield f"{at}/top_logprobs/{index}", candidate


def _logprobs(reply: Reply) -> Iterator[Statement]:
    for at, position in reply.positions():
        for pointer, token in _tokens(at, position):
            yield reply.true(f"{pointer}/logprob", token.logprob <= 0, "at most 0")


def _candidates(reply: Reply) -> Iterator[Statement]:
    chat = reply.endpoint == "chat"
    wanted = reply.request.get("top_logprobs" if chat else "n_probs")
    for at, position in reply.positions():
        found = position.candidates
        if isinstance(wanted, int):
            yield reply.true(f"{at}/top_logprobs", len(found) == wanted, f"{wanted} candidates")
        ids = [candidate.id for candidate in found]
        yield reply.true(f"{at}/top_logprobs", len(set(ids)) == len(ids), "different tokens")
        total = sum(math.exp(min(0.0, candidate.logprob)) for candidate in found)
        words = "probabilities that sum to 1 at most"
        yield reply.true(f"{at}/top_logprobs", total <= 1 + ROUNDED, words)
        for index, (left, right) in enumerate(pairwise(found), start=1):
            pointer = f"{at}/top_logprobs/{index}/logprob"
            yield reply.true(pointer, left.logprob >= right.logprob, "at most the one before it")


def _chosen(reply: Reply) -> Iterator[Statement]:
    for at, position in reply.positions():
        chosen, index = position.chosen, position.listed
        if index is None:
            last = min((token.logprob for token in position.candidates), default=0.0)
            words = "at most the last candidate's, since it is none of them"
            yield reply.true(f"{at}/logprob", chosen.logprob <= last, words)
            continue
        entry, pointer = position.candidates[index], f"{at}/top_logprobs/{index}"
        yield from reply.equal(f"{pointer}/logprob", chosen.logprob)
        # of the token that ends a character, all of the character's bytes are told
        words = "the bytes of its entry among the candidates"
        yield reply.true(f"{at}/bytes", chosen.raw.endswith(entry.raw), words)


def _greedy(reply: Reply) -> Iterator[Statement]:
    plain = not reply.request.get("logit_bias") and not reply.request.get("extra")
    if reply.request.get("temperature") != 0 or not plain or _penalised(reply):
        return
    for at, position in reply.positions():
        if position.candidates:
            best = position.candidates[0]
            tied = [one.id for one in position.candidates if one.logprob == best.logprob]
            found = position.chosen.id
            yield Statement(f"/response{at}/id", found if found in tied else best.id, found)


def _penalised(reply: Reply) -> bool:
    """Whether the best token after penalties may be another than the most likely one."""
    neutral = {"repeat_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
    return any(reply.request.get(name, value) != value for name, value in neutral.items())


def _stop(reply: Reply) -> Iterator[Statement]:
    chat = reply.endpoint == "chat"
    limit = reply.request.get("max_tokens" if chat else "n_predict")
    pointer = "/choices/0/finish_reason" if chat else "/stop_type"
    predicted, why = reply.number("/timings/predicted_n"), reply.at(pointer)
    if not isinstance(limit, int) or predicted is None or why is None:
        return
    yield reply.true("/timings/predicted_n", predicted <= limit, f"at most {limit}")
    if why in ("limit", "length"):
        words = f"after {limit} tokens"
        yield reply.true(pointer, predicted == limit, words)
    elif predicted == limit:
        return  # the last token that was allowed may end the answer, too
    else:
        allowed = ("stop", "tool_calls") if chat else ("eos", "word")
        yield reply.true(pointer, why in allowed, f"one of {', '.join(allowed)}")


def _ending(reply: Reply) -> Iterator[Statement]:
    yield from reply.equal("/stop", True)
    word = reply.text("/stopping_word")
    stops = reply.request.get("stop") or [] if reply.at("/stop_type") == "word" else [""]
    if word is not None:
        expected = word if word in stops else stops[0] if stops else "a declared stop"
        yield Statement("/response/stopping_word", expected, word)
    content = reply.text("/content")
    if content is not None and reply.at("/stop_type") != "word":
        yield from reply.equal("/has_new_line", "\n" in content)


def _frame(reply: Reply) -> Iterator[Statement]:
    yield from reply.equal("/index", 0)
    yield from reply.equal("/choices/0/index", 0)
    yield from reply.equal("/choices/0/message/role", "assistant")
    yield from reply.equal("/object", "chat.completion")
    yield from reply.equal("/system_fingerprint", reply.boot.props.get("build_info"))
    slot, slots = reply.number("/id_slot"), reply.boot.props.get("total_slots")
    if slot is not None and isinstance(slots, int):
        yield reply.true("/id_slot", 0 <= slot < slots, f"one of {slots} slots")


def _created(reply: Reply) -> Iterator[Statement]:
    created = reply.number("/created")
    if created is not None:
        begun = datetime.fromisoformat(reply.ask.started).timestamp()
        near = begun - CLOCK_S <= created <= begun + reply.outcome.wall_s + CLOCK_S
        yield reply.true("/created", near, "a time between request and answer")


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("speeds follow from counts and times", None, _speeds),
    Invariant("the whole took at least as long as its parts", None, _wall),
    Invariant("counts of tokens agree", "completion", _counts),
    Invariant("the usage is what the timings count", "chat", _usage),
    Invariant("the content is what its tokens spell", "completion", _content),
    Invariant("the message is what its tokens spell", "chat", _message),
    Invariant("token ids are those of the probabilities", "completion", _ids),
    Invariant("a token's text is its bytes", None, _texts),
    Invariant("no probability is above 1", None, _logprobs),
    Invariant("candidates are as many as asked for, sorted, distinct, of sum 1 at most", None,
              _candidates),
    Invariant("the chosen token has its entry's log probability and bytes", None, _chosen),
    Invariant("at temperature 0 the chosen token is the best candidate", None, _greedy),
    Invariant("the reason to stop agrees with the counts", None, _stop),
    Invariant("the end is as told", "completion", _ending),
    Invariant("the frame of an answer is a server's", None, _frame),
    Invariant("the answer was made when it was asked for", "chat", _created),
)  # fmt: skip
"""Every invariant, in the order in which an answer is read."""
