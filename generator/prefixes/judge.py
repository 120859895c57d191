"""The verdict on cached openings: each answer after one against the cold answer; pure."""

from __future__ import annotations

from collections.abc import Sequence

from generator import analysis
from generator.answers import Answer
from generator.prefixes.heard import Cell, Sheet, read_sheet
from generator.prefixes.result import Outcome, Place, Result, Row
from generator.receipt import BootRecord
from generator.sweeps import drift
from generator.sweeps.cells import bits, tokens
from generator.sweeps.grouping import Grouping
from generator.sweeps.result import Cause


def judge(boots: Sequence[BootRecord]) -> Result:
    """Return what the openings did; nothing is compared unless both controls hold."""
    sheet = read_sheet(boots)
    works, steady = _detector_works(sheet), _same_bits(sheet.cold, sheet.cold_again)
    baseline = sheet.cold if works and steady else None
    grouping = Grouping(sheet.answers)
    rows = [_row(cell, sheet, baseline, grouping) for cell in sheet.cells]
    told = [row for row in rows if row.same_tokens is not None]
    flips = [row.divergence for row in told if row.divergence]
    drifts = [row for row in told if row.same_tokens and not row.bitwise]
    repeats = [
        steady,
        _same_bits(sheet.unused, sheet.unused_again),
        *(_same_bits(cell.answer, cell.again) for cell in sheet.cells),
        *(_same_bits(cell.as_cold, cell.as_cold_again) for cell in sheet.cells),
    ]
    tried = [row for row in rows if row.width is not None]
    unused = _same_bits(baseline, _repeated(sheet.unused, sheet.unused_again))
    return Result(
        asked=sheet.asked,
        answered=sheet.answered,
        failed=sheet.asked - sheet.answered,
        invalid=sheet.invalid,
        outcome=_outcome(works, steady, told, flips=len(flips), drifts=len(drifts)),
        cause=_cause(tried, unused),
        detector_works=works,
        aa_identical=None if set(repeats) <= {None} else False not in repeats,
        prompt_tokens=sheet.cold.prompt_n if sheet.cold else None,
        compared=len(told) if baseline else None,
        flips=len(flips) if baseline else None,
        drifts=len(drifts) if baseline else None,
        same=sum(bool(row.bitwise) for row in told) if baseline else None,
        first_flip=min(flips, key=lambda flip: flip.token, default=None),
        largest_drift=max((row.drift.largest for row in told if row.drift), default=None),
        best_changed=max((row.drift.best_changed for row in told if row.drift), default=None),
        largest_place=_farthest([row.place for row in told if row.place]),
        interventions_total=len(tried),
        interventions_as_predicted=sum(row.as_predicted is True for row in tried),
        interventions_failed=sum(row.as_predicted is False for row in tried),
        interventions_open=sum(row.as_predicted is None for row in tried),
        unused_is_cold=unused,
        rows=rows,
        outputs=grouping.groups(sheet.answers[0] if sheet.answers else None),
    )


def _outcome(
    works: bool | None, steady: bool | None, told: Sequence[Row], *, flips: int, drifts: int
) -> Outcome:
    if works is False:
        return "detector_broken"
    if steady is False:
        return "unstable"
    if not told:
        return "unmeasured"
    if flips:
        return "flips"
    return "drifts" if drifts else "same"


def _cause(tried: Sequence[Row], unused: bool | None) -> Cause:
    judged = [row for row in tried if row.as_predicted is not None]
    if unused is False or any(row.as_predicted is False for row in judged):
        return "contradicted"
    if not tried and unused is None:
        return "untested"
    return "shown" if unused and any(row.telling for row in judged) else "open"


def _detector_works(sheet: Sheet) -> bool | None:
    if sheet.cold is None or sheet.control is None:
        return None
    return tokens(sheet.cold) != tokens(sheet.control)


def _same_bits(one: Answer | None, two: Answer | None) -> bool | None:
    return bits(one) == bits(two) if one and two else None


def _repeated(one: Answer | None, two: Answer | None) -> Answer | None:
    """Return an answer that a fresh boot gave too, bit for bit."""
    return one if _same_bits(one, two) else None


def _row(cell: Cell, sheet: Sheet, baseline: Answer | None, grouping: Grouping) -> Row:
    answer, stable = cell.answer, _same_bits(cell.answer, cell.again)
    base = baseline if stable else None
    same_shape = baseline is not None and answer is not None and cell.same_shape
    return Row(
        characters=cell.characters,
        opening_tokens=cell.opening_tokens,
        cache_n=cell.given.cache_n if cell.given else None,
        prompt_n=cell.given.prompt_n if cell.given else None,
        valid=cell.valid,
        state="unmeasured" if stable is None else "stable" if stable else "unstable",
        group=grouping.name(answer) if answer else None,
        same_tokens=tokens(base) == tokens(answer) if base and answer else None,
        bitwise=bits(base) == bits(answer) if base and answer else None,
        divergence=analysis.divergence(base, answer) if base and answer else None,
        drift=drift.compare(base, answer) if base and answer else None,
        place=_place(base, answer) if base and answer else None,
        width=cell.width,
        width_group=grouping.name(cell.as_cold) if cell.as_cold else None,
        as_predicted=_same_bits(answer, _repeated(cell.as_cold, cell.as_cold_again))
        if same_shape and stable
        else None,
        telling=_differ(sheet.cold, answer) if same_shape else None,
    )


def _differ(one: Answer | None, two: Answer | None) -> bool | None:
    same = _same_bits(one, two)
    return None if same is None else not same


def _place(cold: Answer, cached: Answer) -> Place | None:
    """Return where the log probability of a token that both have moved most; None if nowhere."""
    shared = analysis.shared_prefix(cold.ids, cached.ids)
    pairs = zip(cold.tokens[:shared], cached.tokens[:shared], strict=True)
    return _farthest(
        [
            Place(token=index, text=one.text, cold=one.logprob, cached=two.logprob)
            for index, (one, two) in enumerate(pairs)
            if one.logprob is not None and two.logprob is not None and one.logprob != two.logprob
        ]
    )


def _farthest(places: Sequence[Place]) -> Place | None:
    return max(places, key=lambda place: abs(place.cold - place.cached), default=None)
