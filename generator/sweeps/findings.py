"""What a sweep's cells say, piece by piece: rows, settings, remedies and interventions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from generator import analysis
from generator.answers import Answer
from generator.sweeps import attribution, drift
from generator.sweeps.attribution import Outputs
from generator.sweeps.cells import Intervened, Measured, Sheet
from generator.sweeps.designs import CACHE, Cell, factor_of
from generator.sweeps.grouping import Grouping
from generator.sweeps.parts import Factor, Intervention, Removal, Row, Setting, State

BASE: Cell = frozenset()
WARM: Cell = frozenset({f"{CACHE}=warm"})


class Findings:
    """Reads a sheet; with *sound* false nothing is compared, for want of working ground.

    Attributes:
        outputs: What the stable cells put out; empty if nothing is to be compared.
        movers: The smallest sets of settings that move a token.
    """

    def __init__(self, sheet: Sheet, *, sound: bool) -> None:
        """Group the outputs of *sheet* and look for the movers."""
        self.sheet = sheet
        lines = chain.from_iterable(asks.values() for asks in sheet.lines.values())
        self.grouping = Grouping([a for a in chain.from_iterable(lines) if a is not None])
        self.outputs: Outputs = {
            cell: output
            for cell, measured in sheet.cells.items()
            if sound and (output := measured.output) is not None
        }
        self.movers = attribution.movers(self.outputs) if sound else []

    @property
    def baseline(self) -> Answer | None:
        """The answer that others are compared with, if any are."""
        return self.sheet.cells[BASE].answers[0] if self.outputs else None

    def name(self, cell: Cell) -> str:
        """Return a cell's settings as its boots are called."""
        return self.sheet.cells[cell].name

    def rows(self) -> list[Row]:
        """Return every cell of the design."""
        return [self._row(cell, measured) for cell, measured in self.sheet.cells.items()]

    def _row(self, cell: Cell, measured: Measured) -> Row:
        first = measured.answers[0] if measured.answers else None
        base = self.baseline if cell in self.outputs else None
        compared = analysis.divergence(base, first) if base and first else None
        output, reference = self.outputs.get(cell), self.outputs.get(BASE)
        same = output.tokens == reference.tokens if output and reference else None
        return Row(
            settings=measured.name,
            state=_state(measured),
            group=self.grouping.of(measured),
            same_tokens=same,
            bitwise=output == reference if output and reference else None,
            divergence=compared,
            drift=drift.compare(base, first) if base and first else None,
            movers=[self.name(m) for m in self.movers if m <= cell] if same is False else [],
            cache_n=first.cache_n if first else None,
            prompt_n=first.prompt_n if first else None,
            tokens_per_second=measured.tokens_per_second,
            seconds=measured.seconds,
        )

    def factors(self) -> list[Factor]:
        """Return what every factor did, and each of its levels."""
        by_factor: dict[str, list[Setting]] = {}
        for setting in _settings(self.sheet):
            by_factor.setdefault(factor_of(setting), []).append(self._setting(setting))
        return [
            Factor(
                factor=factor,
                role=attribution.gravest([setting.role for setting in settings]),
                settings=settings,
            )
            for factor, settings in by_factor.items()
        ]

    def _setting(self, setting: str) -> Setting:
        pairs = [
            (cell - {setting}, cell)
            for cell in self.outputs
            if setting in cell and cell - {setting} in self.outputs
        ]
        drifts = [drift.compare(self._first(one), self._first(two)).largest for one, two in pairs]
        sheet = self.sheet
        return Setting(
            setting=setting,
            role=attribution.role(setting, self.outputs, sheet.cells, self.movers, sheet.idle),
            compared=len(pairs),
            flips=sum(self.outputs[one].tokens != self.outputs[two].tokens for one, two in pairs),
            largest_drift=max(drifts, default=None),
        )

    def _first(self, cell: Cell) -> Answer:
        return self.sheet.cells[cell].answers[0]

    def removals(self) -> list[Removal]:
        """Return every setting that was tried beside a mover, with what it costs."""
        found = [
            attribution.removal(setting, self.outputs, self.movers)
            for setting in _settings(self.sheet)
        ]
        return [self._removal(one) for one in found if one is not None]

    def _removal(self, found: attribution.Removal) -> Removal:
        mover = (found.removes or found.leaves)[0]
        beside, without = self.sheet.cells[mover | {found.setting}], self.sheet.cells[mover]
        return Removal(
            setting=found.setting,
            removes=[self.name(cell) for cell in found.removes],
            leaves=[self.name(cell) for cell in found.leaves],
            untried=[self.name(cell) for cell in found.untried],
            bitwise=found.bitwise,
            keeps_baseline=found.keeps_baseline,
            tokens_per_second=beside.tokens_per_second,
            tokens_per_second_without=without.tokens_per_second,
            seconds=beside.seconds,
            seconds_without=without.seconds,
        )

    def interventions(self) -> list[Intervention]:
        """Return what was foretold of each intervention, and what came of it."""
        return [self._intervention(one) for one in self.sheet.interventions]

    def _intervention(self, one: Intervened) -> Intervention:
        got = one.measured.output if self.outputs else None
        foretold = self.outputs.get(one.predicted)
        beside = WARM if one.state == "warm" else BASE
        plain = self.outputs.get(beside)
        known = foretold is not None and plain is not None
        telling = one.predicted == beside or foretold != plain if known else None
        judged = bool(got and foretold and (telling or one.expects == "as"))
        first = one.measured.answers[0] if one.measured.answers else None
        return Intervention(
            name=one.name,
            settings=list(one.settings),
            state=one.state,
            expects=one.expects,
            predicted=self._predicted_name(one),
            group=self.grouping.of(one.measured),
            plain_group=self.grouping.of(self.sheet.cells.get(beside)),
            predicted_group=self.grouping.of(self.sheet.cells.get(one.predicted)),
            as_predicted=(got == foretold) is (one.expects == "as") if judged else None,
            telling=telling,
            cache_n=first.cache_n if first else None,
            prompt_n=first.prompt_n if first else None,
        )

    def _predicted_name(self, one: Intervened) -> str:
        cell = self.sheet.cells.get(one.predicted)
        return cell.name if cell else " ".join(sorted(one.predicted))

    def traced(self, rows: Sequence[Row]) -> Cell | None:
        """Return the cell to be shown position by position: a mover's, or what drifted most."""
        if self.movers:
            return self.movers[0]
        by_drift = {
            cell: row.drift.largest
            for cell, row in zip(self.sheet.cells, rows, strict=True)
            if row.drift and row.drift.largest > 0
        }
        return max(by_drift, key=lambda cell: by_drift[cell]) if by_drift else None

    def trace(self, cell: Cell) -> list[drift.Step]:
        """Return gap and drift of a cell, position by position."""
        return drift.steps(self._first(BASE), self._first(cell))


def _settings(sheet: Sheet) -> list[str]:
    """Return every setting that is not the baseline's, in the order in which they were tried."""
    named: Iterable[str] = chain.from_iterable(
        measured.name.split(" ") for cell, measured in sheet.cells.items() if cell
    )
    return list(dict.fromkeys(named))


def _state(measured: Measured) -> State:
    match measured.stable:
        case None:
            return "unmeasured"
        case True:
            return "stable"
        case False:
            return "unstable"
