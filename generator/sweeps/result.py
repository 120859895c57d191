"""What a sweep found, as data: its cells, who moved the token, and how sure that is."""

from __future__ import annotations

from typing import Literal

from generator.analysis import Divergence
from generator.schema import Count, Model
from generator.sweeps.drift import Step
from generator.sweeps.parts import (
    AlsoChanged,
    Factor,
    Group,
    Intervention,
    Line,
    Removal,
    Row,
    State,
)

__all__ = ["Cause", "Group", "Outcome", "Result", "State"]

Outcome = Literal[
    "attributed",
    "interaction",
    "unattributed",
    "no_flip",
    "unstable",
    "detector_broken",
    "unmeasured",
]
Cause = Literal["shown", "contradicted", "open", "untested"]


class Result(Model):
    """The verdict of a sweep, and everything that it rests on.

    Nothing is attributed (null) unless the detector works and the baseline is stable.

    Attributes:
        outcome: *Attributed*: single settings move a token. *Interaction*: only settings together
            do. *Unattributed*: tokens moved, and no smallest set can be named. *No flip*: none
            moved. *Unstable*: the baseline, or in want of a flip any cell, does not repeat.
            *Detector broken*: the negative control looks like the baseline. *Unmeasured*: the
            baseline or the control is missing, or every cell to compare with it.
        cause: What the interventions say, null if nothing was measured: *shown*, if all came out
            as predicted and one of them led to the predicted answer from another one;
            *contradicted*, if one did not.
        detector_works: Whether the negative control, another seed at a high temperature, differs.
        aa_identical: Whether every cell that was measured gave the same on two fresh boots, bit for
            bit; `unmeasured` says how many were not.
        prompt_tokens: The prompt's length, by the server's count.
        cells: Cells of the design; `unstable` and `unmeasured` of them tell nothing.
        flips: Stable cells whose tokens are not the baseline's; `drifts` those of the same tokens
            with other probabilities.
        movers: The smallest sets of settings that move a token.
        interactions: How many of them have several settings.
        removers: Settings beside which no mover moved a token, as far as it was tried;
            `removers_of_all` those beside which all were.
        innocent: Factors that never changed a token, wherever they were changed alone; `silent`
            those that changed no probability either. Neither has those that are `idle`: they were
            never in effect.
        also_changed: What servers used otherwise than the baseline's beside their declared change:
            such a cell cannot be put down to its setting alone.
        interventions_open: Interventions that cannot be judged.
        interventions_telling: Those that had a difference to be tested on.
        mechanism_told: Flips of which the candidates tell gap and drift; `mechanism_holds` whether
            the lead shrank by at least the gap in all of them.
        trace: Gap and drift at every position of the cell `trace_of`.
    """

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    outcome: Outcome
    cause: Cause | None
    detector_works: bool | None
    aa_identical: bool | None
    prompt_tokens: Count | None
    cells: Count
    unstable: Count
    unmeasured: Count
    flips: Count | None
    drifts: Count | None
    movers: list[str] | None
    interactions: Count | None
    removers: list[str] | None
    removers_of_all: list[str] | None
    innocent: list[str] | None
    silent: list[str] | None
    idle: list[str] | None
    also_changed: list[AlsoChanged]
    interventions_total: Count
    interventions_as_predicted: Count
    interventions_failed: Count
    interventions_open: Count
    interventions_telling: Count
    mechanism_told: Count | None
    mechanism_holds: bool | None
    largest_drift: float | None
    first_flip: Divergence | None
    tokens_per_second: float | None
    seconds: float | None
    factors: list[Factor] | None
    removals: list[Removal] | None
    interventions: list[Intervention]
    groups: list[Group]
    lines: list[Line]
    rows: list[Row]
    trace_of: str | None
    trace: list[Step]
