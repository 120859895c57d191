"""What cached openings did, as data: each length against the cold answer, and how sure that is."""

from __future__ import annotations

from typing import Literal

from generator.analysis import Divergence
from generator.schema import Count, Model
from generator.sweeps.drift import Drift
from generator.sweeps.result import Cause, Group, State

Outcome = Literal["same", "drifts", "flips", "unstable", "detector_broken", "unmeasured"]


class Place(Model):
    """The token, of those that both answers have, whose log probability moved most."""

    token: Count
    text: str
    cold: float
    cached: float


class Row(Model):
    """One opening, and the answer to the whole prompt after it.

    Attributes:
        characters: How long the opening was declared.
        opening_tokens: How many tokens the earlier ask evaluated.
        cache_n: How many of them the whole prompt took from the cache; `prompt_n` is the rest.
        valid: Whether that is all of them, or all but the last, which what follows may merge with;
            null if one of the asks has no answer.
        state: *Stable* if a fresh boot gave the same bit for bit, *unstable* if it did not,
            *unmeasured* if fewer than two answers count.
        width: The `n_ubatch` with which a cold server was given the same batches.
        as_predicted: Whether that cold server gave the cached answer, bit for bit; null if the
            batches are not the same, or one of the answers is missing or does not repeat.
        telling: Whether the prediction could have failed: whether cached and cold answer differ.
    """

    characters: Count
    opening_tokens: Count | None
    cache_n: Count | None
    prompt_n: Count | None
    valid: bool | None
    state: State
    group: str | None
    same_tokens: bool | None
    bitwise: bool | None
    divergence: Divergence | None
    drift: Drift | None
    place: Place | None
    width: Count | None
    width_group: str | None
    as_predicted: bool | None
    telling: bool | None


class Result(Model):
    """Which openings leave the answer as it is cold.

    Attributes:
        outcome: *Flips*: an opening in the cache moves a token. *Drifts*: none does, but log
            probabilities differ. *Same*: not even that. *Unstable*: the cold answer does not repeat
            on a fresh boot. *Detector broken*: the negative control looks like it. *Unmeasured*:
            there is nothing to compare.
        cause: Whether batches of the same shape give the cached answers without a cache: *shown*,
            if all did that could be judged, one of them could have failed, and the cache that is
            filled but not used gave the cold answer; *contradicted*, if one did not.
        aa_identical: Whether every answer, those of the interventions too, repeats on a fresh boot.
        compared: Openings that can be compared; null unless both controls hold.
        flips: Those after which tokens differ; `drifts` those with other log probabilities only,
            `same` the rest.
        best_changed: The largest share of positions whose best candidate is another.
        largest_place: Where a chosen token's log probability moved most.
        unused_is_cold: Whether, with the cache filled but not used, the answer is the cold one.
    """

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    outcome: Outcome
    cause: Cause
    detector_works: bool | None
    aa_identical: bool | None
    prompt_tokens: Count | None
    compared: Count | None
    flips: Count | None
    drifts: Count | None
    same: Count | None
    first_flip: Divergence | None
    largest_drift: float | None
    best_changed: float | None
    largest_place: Place | None
    interventions_total: Count
    interventions_as_predicted: Count
    interventions_failed: Count
    interventions_open: Count
    unused_is_cold: bool | None
    rows: list[Row]
    outputs: list[Group]
