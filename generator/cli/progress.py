"""Progress of fetches and runs: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from generator.cli.console import note, show_progress, stderr_console
from generator.plan import Boot, Plan
from generator.receipt import Answered, AskRecord, Failed

MIB = 1 << 20
LINE_EVERY_S = 2.0


class Reporter:
    """Hears of fetched bytes and of asks, and shows both.

    Args:
        asks: How many asks there will be in all, for the time left.
    """

    def __init__(self, asks: int = 0) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._asks, self._asked = asks, 0
        self._began: float | None = None
        self._label, self._total, self._count, self._spoke = "", 0, 0, 0.0
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            console=stderr_console(),
            disable=not show_progress(),
            transient=True,
        )
        self._fetch = self._bars.add_task("", visible=False, state="")
        self._run = self._bars.add_task("asks", total=asks or None, visible=asks > 0, state="")

    def __enter__(self) -> Self:
        """Show the bars."""
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bars away."""
        self._bars.stop()

    def _line(self, text: str) -> None:
        if show_progress():
            self._bars.console.print(text, markup=False)
        else:
            note(text)

    # what a fetch tells

    def start(self, label: str, total_bytes: int) -> None:
        """A file is being fetched or verified."""
        self._label, self._total, self._count = label, total_bytes, 0
        self._spoke = time.monotonic()
        self._bars.update(
            self._fetch,
            description=label,
            total=total_bytes or None,
            completed=0,
            visible=True,
            state="",
        )
        if not show_progress():
            note(f"{label}: {total_bytes / MIB:.1f} MiB" if total_bytes else label)

    def advance(self, count: int) -> None:
        """Bytes came in."""
        self._count += count
        state = f"{self._count / MIB:.1f} MiB"
        self._bars.update(self._fetch, completed=self._count, state=state)
        if not show_progress() and time.monotonic() - self._spoke > LINE_EVERY_S:
            self._spoke = time.monotonic()
            note(f"{self._label}: {state} of {self._total / MIB:.1f} MiB")

    def done(self) -> None:
        """The file is done with."""
        self._bars.update(self._fetch, visible=False)

    # what a run tells

    def booting(self, plan: Plan, boot: Boot) -> None:
        """A server is being started."""
        self._began = self._began or time.monotonic()
        self._bars.update(self._run, state=f"{plan.experiment}: starting {boot.name}")

    def asked(self, plan: Plan, boot: Boot, record: AskRecord, *, resumed: bool) -> None:
        """An ask has its outcome."""
        self._asked += 1
        state = "already answered" if resumed else _state(record.outcome)
        where = f"{plan.experiment} · {boot.name} · ask {record.name}"
        self._bars.update(self._run, completed=self._asked, state=f"{where} · {state}")
        self._line(f"[{self._asked}/{self._asks}] {where} · {state}{self._left()}")

    def _left(self) -> str:
        if show_progress() or self._began is None or self._asked >= self._asks:
            return ""
        each = (time.monotonic() - self._began) / self._asked
        return f" · about {each * (self._asks - self._asked):.0f} s left"


def _state(outcome: Answered | Failed) -> str:
    match outcome:
        case Answered():
            timings = outcome.response.get("timings", {})
            return f"{timings.get('predicted_per_second', 0):.1f} tok/s"
        case Failed():
            return f"FAILED ({outcome.kind}): {outcome.message}"
