"""What became of one prompt on both sides: a flip, a drift, the same, or no comparison."""

from __future__ import annotations

from typing import Literal

from generator.analysis import divergence, same_logprobs
from generator.answers import Answer
from generator.schema import Count, Model, Seconds

Verdict = Literal["flip", "drift", "same", "uncompared"]


class Trial(Model):
    """What became of one prompt.

    Attributes:
        verdict: A *flip* if a token differs, a *drift* if only log probabilities do, the *same*, or
            *uncompared*, for the reason in `message`.
        prompt_tokens: The prompt's length by the server's count, where both sides answered.
        token: Index of the first differing token.
        left: Its text on the left side; null if the answer ended before. `right` on the other.
    """

    verdict: Verdict
    prompt_tokens: Count | None = None
    token: Count | None = None
    left: str | None = None
    right: str | None = None
    message: str | None = None
    seconds: Seconds


def compared(left: Answer, right: Answer, seconds: float) -> Trial:
    """Compare two answers to one prompt, which took *seconds* to have."""
    if left.prompt != right.prompt:
        return Trial(
            verdict="uncompared", message="the two sides were given other prompts", seconds=seconds
        )
    found = divergence(left, right)
    verdict: Verdict = "same" if same_logprobs(left, right) else "drift"
    return Trial(
        verdict=verdict if found is None else "flip",
        prompt_tokens=left.cache_n + left.prompt_n,
        token=found.token if found else None,
        left=found.baseline if found else None,
        right=found.chosen if found else None,
        seconds=seconds,
    )
