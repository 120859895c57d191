"""What an experiment on cached openings declares, and what its boots and asks are called."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from generator.declaration import UNFIXED_SEED, Experiment, Objection
from generator.settings import Sampling
from generator.sweeps.declared import Control

COLD, CONTROL, OPENING, WHOLE = "cold", "control", "opening", "whole"
CACHED, AS_COLD, UNUSED = "cached-", "as-cold-", "unused"
AGAIN = " again"


class Prefix(Experiment):
    """Ask a prompt cold, and after an earlier ask left an opening of it in the cache.

    The prompt cache is on, whatever is declared of it: it is the question. Two interventions go
    with it. An opening of at least half the prompt leaves a rest that a cold server evaluates in
    one batch too, if its `n_ubatch` is as wide as the opening: that answer must be the cached one.
    And with the cache filled but not used, the answer must be the cold one. Every answer is asked
    for once more on a fresh boot.

    Attributes:
        lengths: The openings, in characters; each is cut where a word ends. One as long as the
            prompt, or longer, leaves its last token to be evaluated.
        control: The negative control.
    """

    kind: Literal["prefix"]
    lengths: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=50)]
    control: Control = Control()

    @field_validator("lengths")
    @classmethod
    def _distinct(cls, lengths: list[int]) -> list[int]:
        if len(set(lengths)) < len(lengths):
            raise ValueError("a length is named twice → name each length once")
        return lengths

    def objections(self, sampling: Sampling) -> list[Objection]:
        """Refuse what would move tokens by itself."""
        if not isinstance(sampling.seed, int):
            return [UNFIXED_SEED]
        if sampling.seed == self.control.seed:
            problem = "the negative control has the seed of the others"
            return [(("control", "seed"), problem, "give it another one")]
        return []
