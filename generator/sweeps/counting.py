"""Which answers count: settings were taken over, and the cache was used, as planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generator.answers import Answer
from generator.receipt import AskRecord, BootRecord
from generator.sweeps.cells import CONTROL


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
