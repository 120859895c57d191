"""Which answers count: settings were taken over, and the cache was used, as planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from generator.answers import Answer
from generator.receipt import AskRecord, BootRecord
from generator.sweeps.cells import CONTROL

# what a server reports to use, by the setting that it belongs to
USED = {
    "n_ctx": "n_ctx",
    "n_batch": "n_batch",
    "n_ubatch": "n_ubatch",
    "n_parallel": "n_parallel",
    "kv_unified": "kv_unified",
    "cache_type_k": "cache_type_k",
    "cache_type_v": "cache_type_v",
    "cache_ram_mib": "cache_ram_mib",
    "flash_attn_used": "flash_attn",
    "weights_repacked": "repack",
    "threads": "threads",
    "threads_batch": "threads_batch",
}


def in_force(boot: BootRecord, baseline: BootRecord) -> bool:
    """Whether a server took over what its boot was to change, and the baseline's what it was not.

    A width that the engine lowered to the baseline's would be acquitted without having been tried;
    so would the width to which it lowered the baseline's.
    """
    changed = {
        name: value for name, value in boot.settings.items() if value != baseline.settings.get(name)
    }
    refused = {mismatch.name for mismatch in boot.mismatches}
    in_baseline = {mismatch.name: mismatch.effective for mismatch in baseline.mismatches}
    return not refused & changed.keys() and all(
        changed[name] != in_baseline[name] for name in changed.keys() & in_baseline.keys()
    )


def also_changed(boot: BootRecord, baseline: BootRecord) -> dict[str, tuple[Any, Any]]:
    """Return what a server used otherwise than the baseline's, though nothing declared it.

    Args:
        boot: A boot with some settings changed.
        baseline: The boot that it is compared with.

    Returns:
        What the baseline's server used and what this one did, by the setting.
    """
    declared = {
        name for name, value in boot.settings.items() if value != baseline.settings.get(name)
    }
    return {
        name: (baseline.effective[name], used)
        for name, used in sorted(boot.effective.items())
        if name in USED
        and USED[name] not in declared
        and name in baseline.effective
        and baseline.effective[name] != used
    }


def counts(ask: AskRecord, answer: Answer, before: Sequence[Answer | None]) -> bool:
    """Whether an answer tells its probabilities, and the cache was used as planned.

    Args:
        ask: The ask.
        answer: Its answer.
        before: What the earlier asks of the same boot gave; None is a failure.
    """
    if not answer.valid or not answer.told:
        return False
    if ask.name == CONTROL:
        return True
    if ask.cache == "any":
        opening = before[-1] if before else None
        return opening is not None and takes_opening(opening, answer)
    # an answer that uses no cache cannot show that there was one
    return ask.cache == "warm" or None not in before


def takes_opening(opening: Answer, whole: Answer) -> bool:
    """Whether a prompt took from the cache what an opening of it had left there.

    That is all that was evaluated, or all but the last token: this is another one if what follows
    merges with it, and is evaluated again if it is the whole prompt's last.
    """
    evaluated = opening.prompt_n
    used = whole.cache_n > 0 and whole.cache_n in (evaluated, evaluated - 1)
    return opening.valid and used


def same_tokenizer(one: Answer, two: Answer) -> bool:
    """Whether two models read the prompt as so many tokens, and mean the same by their numbers.

    Tokens of different vocabularies cannot be compared: equal numbers are other texts there.
    """
    if one.prompt_n + one.cache_n != two.prompt_n + two.cache_n:
        return False
    texts = dict(_texts(one))
    return all(texts.get(id_, text) == text for id_, text in _texts(two))


def _texts(answer: Answer) -> Iterator[tuple[int, str]]:
    for token in answer.tokens:
        if token.logprob is not None:
            yield token.id, token.text
        for candidate in token.top:
            yield candidate.id, candidate.text
