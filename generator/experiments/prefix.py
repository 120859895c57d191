"""The kind `prefix`: a prompt cold, and again after an earlier ask left some of it in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generator.declaration import Resolved
from generator.experiments.kind import Kind, ask_of
from generator.plan import Ask, Boot, Derived
from generator.prefixes.declared import (
    AGAIN,
    AS_COLD,
    CACHED,
    COLD,
    CONTROL,
    OPENING,
    UNUSED,
    WHOLE,
    Prefix,
)
from generator.prefixes.judge import judge
from generator.prefixes.result import Result


def expand(resolved: Resolved[Prefix]) -> tuple[Boot, ...]:
    """Plan the prompt cold, after each opening, and cold in the same batches; then the twins."""
    text, spec = resolved.prompt, resolved.spec
    resolved = replace(resolved, server=resolved.server.model_copy(update={"cache_prompt": True}))
    hot = resolved.sampling.model_copy(update=spec.control.model_dump())
    cold, whole = ask_of(resolved, COLD, "cold"), ask_of(resolved, WHOLE, "any")
    control = ask_of(replace(resolved, sampling=hot), CONTROL, "any")
    boots = [_boot(resolved, COLD, [cold, control])]
    twins = [_boot(resolved, COLD + AGAIN, [cold])]
    for length in spec.lengths:
        name, cut = f"{CACHED}{length}", cut_at(text, length)
        asks = [_opening(resolved, text[:cut]), whole]
        boots.append(_boot(resolved, name, asks))
        twins.append(_boot(resolved, name + AGAIN, asks))
        if 2 * cut >= len(text):
            # of the whole prompt, the last token is evaluated again
            width = Derived("n_ubatch", name, OPENING, -1 if cut == len(text) else 0)
            boots.append(_boot(resolved, f"{AS_COLD}{length}", [cold], width))
            twins.append(_boot(resolved, f"{AS_COLD}{length}{AGAIN}", [cold], width))
    filled = _opening(resolved, text[: cut_at(text, max(spec.lengths))])
    unused = replace(cold, name=WHOLE, body={**cold.body, "cache_prompt": False})
    boots.append(_boot(resolved, UNUSED, [filled, unused]))
    twins.append(_boot(resolved, UNUSED + AGAIN, [filled, unused]))
    return (*boots, *twins)


def cut_at(text: str, length: int) -> int:
    """Return where to cut *text*: at *length*, moved back to before a space if there is one.

    A word that is cut in two is read as other tokens than the whole one, and those are not shared.
    """
    if length >= len(text):
        return len(text)
    space = text.rfind(" ", 1, length + 1)
    return length if space < 0 else space


def _opening(resolved: Resolved[Prefix], text: str) -> Ask:
    # sent for what it evaluates, not for what it answers
    short = replace(resolved, sampling=resolved.sampling.model_copy(update={"max_tokens": 1}))
    return ask_of(short, OPENING, "cold", prompt=text)


def _boot(resolved: Resolved[Prefix], name: str, asks: Sequence[Ask], *derived: Derived) -> Boot:
    return Boot(name, resolved.engine, resolved.model, resolved.server, tuple(asks), derived)


KIND = Kind("prefix", Prefix, Result, expand, judge)
