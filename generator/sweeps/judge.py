"""The verdict of a sweep: who moved the token, by the cells that were measured; pure."""

from __future__ import annotations

from collections.abc import Sequence

from generator.analysis import Divergence
from generator.receipt import BootRecord
from generator.sweeps import attribution
from generator.sweeps.attribution import Role
from generator.sweeps.cells import Sheet, tokens
from generator.sweeps.counting import also_changed
from generator.sweeps.findings import BASE, Findings
from generator.sweeps.parts import AlsoChanged, Factor, Intervention, Removal, Row
from generator.sweeps.reading import hear, read_sheet, tally
from generator.sweeps.result import Cause, Outcome, Result


def judge(boots: Sequence[BootRecord]) -> Result:
    """Return the verdict; nothing is attributed unless it rests on working ground."""
    heard = hear(boots)
    sheet, counts = read_sheet(boots, heard), tally(heard)
    works, baseline = detector_works(sheet), sheet.cells[BASE]
    sound = bool(works and baseline.stable)
    found = Findings(sheet, sound=sound)
    rows, interventions = found.rows(), found.interventions()
    factors, removals = found.factors(), found.removals()
    stable = [measured.stable for measured in sheet.cells.values()]
    judged = [one.as_predicted for one in interventions]
    flipped = [row for row in rows if row.same_tokens is False]
    explained = [row.drift.explains_flip for row in flipped if row.drift]
    traced = found.traced(rows)
    return Result(
        asked=counts.asked,
        answered=counts.answered,
        failed=counts.asked - counts.answered,
        invalid=counts.invalid,
        outcome=_outcome(found, works, stable),
        cause=_cause(interventions) if works is not None else None,
        detector_works=works,
        aa_identical=None if set(stable) <= {None} else False not in stable,
        prompt_tokens=baseline.answers[0].prompt_n if baseline.answers else None,
        cells=len(rows),
        unstable=stable.count(False),
        unmeasured=stable.count(None),
        flips=len(flipped) if sound else None,
        drifts=sum(bool(row.same_tokens and not row.bitwise) for row in rows) if sound else None,
        movers=[found.name(mover) for mover in found.movers] if sound else None,
        interactions=sum(len(mover) > 1 for mover in found.movers) if sound else None,
        removers=_removers(removals, tried=False) if sound else None,
        removers_of_all=_removers(removals, tried=True) if sound else None,
        innocent=_with_role(factors, "drifts", "silent") if sound else None,
        silent=_with_role(factors, "silent") if sound else None,
        idle=_with_role(factors, "idle") if sound else None,
        also_changed=[
            AlsoChanged(boot=boot.name, setting=name, baseline=plain, used=used)
            for boot in boots[1:]
            if (boot.engine, boot.model) == (boots[0].engine, boots[0].model)
            for name, (plain, used) in also_changed(boot, boots[0]).items()
        ],
        interventions_total=len(interventions),
        interventions_as_predicted=judged.count(True),
        interventions_failed=judged.count(False),
        interventions_open=judged.count(None),
        interventions_telling=sum(bool(one.telling) for one in interventions),
        mechanism_told=sum(told is not None for told in explained) if sound else None,
        mechanism_holds=None if set(explained) <= {None} else False not in explained,
        largest_drift=max((row.drift.largest for row in rows if row.drift), default=None),
        first_flip=_first_flip(flipped),
        tokens_per_second=baseline.tokens_per_second,
        seconds=baseline.seconds,
        factors=factors if sound else None,
        removals=removals if sound else None,
        interventions=interventions,
        groups=found.grouping.groups(found.baseline),
        lines=found.grouping.lines(sheet),
        rows=rows,
        trace_of=None if traced is None else found.name(traced),
        trace=[] if traced is None else found.trace(traced),
    )


def detector_works(sheet: Sheet) -> bool | None:
    """Whether the negative control differs from the baseline; None if one of them is missing."""
    baseline, control = sheet.cells[BASE].answers, sheet.control.answers
    if not baseline or not control:
        return None
    return all(tokens(answer) != tokens(baseline[0]) for answer in control)


def _outcome(found: Findings, works: bool | None, stable: Sequence[bool | None]) -> Outcome:
    baseline = found.sheet.cells[BASE].stable
    if works is False:
        return "detector_broken"
    if works is None or baseline is None:
        return "unmeasured"
    if not baseline:
        return "unstable"
    if not attribution.flips(found.outputs):
        if False in stable:
            return "unstable"
        return "no_flip" if len(found.outputs) > 1 else "unmeasured"
    if not found.movers:
        return "unattributed"
    single = any(len(mover) == 1 for mover in found.movers)
    return "attributed" if single else "interaction"


def _cause(interventions: Sequence[Intervention]) -> Cause:
    judged = [one.as_predicted for one in interventions]
    if not judged:
        return "untested"
    if False in judged:
        return "contradicted"
    # one of them must have led to another answer than doing nothing does
    moved = any(
        one.expects == "as" and one.plain_group not in (None, one.group) for one in interventions
    )
    return "shown" if moved and None not in judged else "open"


def _removers(removals: Sequence[Removal], *, tried: bool) -> list[str]:
    """Return the settings that leave no mover; *tried* wants all movers to have been tried."""
    return [one.setting for one in removals if not one.leaves and not (tried and one.untried)]


def _with_role(factors: Sequence[Factor], *roles: Role) -> list[str]:
    return [factor.factor for factor in factors if factor.role in roles]


def _first_flip(flipped: Sequence[Row]) -> Divergence | None:
    apart = [row.divergence for row in flipped if row.divergence]
    return min(apart, key=lambda divergence: divergence.token, default=None)
