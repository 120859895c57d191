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
TENTHS = 10


class Pace:
    """How fast bytes come in, or steps are done, and how long the rest will take.

    Args:
        total: How many there will be; 0 means that it is not known.
        already: How many were there before.
        now: The time, in seconds.
        steps: Whether it is steps that are counted, and not bytes.
    """

    def __init__(self, total: int, already: int, now: float, *, steps: bool = False) -> None:
        self.total, self.count, self._steps = total, already, steps
        self.began, self._from = now, already

    def advance(self, count: int, now: float) -> None:
        """Note *count* further bytes; if they are fewer than before, it began anew."""
        self.count += count
        if count < 0:
            self.began, self._from = now, self.count

    def told(self, now: float) -> str:
        """Say how much there is, and the rate of bytes."""
        if self._steps:
            return f"{self.count} of {self.total} steps"
        of = f" of {self.total / MIB:.1f}" if self.total else ""
        rate = self._rate(now)
        return f"{self.count / MIB:.1f}{of} MiB" + (f", {rate / MIB:.1f} MiB/s" if rate else "")

    def left(self, now: float) -> str:
        """Say how long the rest will take, if that can be told."""
        rate, rest = self._rate(now), self.total - self.count
        return f", about {rest / rate:.0f} s left" if rate and rest > 0 else ""

    def worth_a_line(self, count: int, since: float) -> bool:
        """Tell whether *count* further ones, the last line being *since* seconds old, need one."""
        if self._steps:
            tenths = [TENTHS * done // self.total for done in (self.count - count, self.count)]
            return tenths[0] < tenths[1]
        return since > LINE_EVERY_S

    def _rate(self, now: float) -> float:
        seconds, come = now - self.began, self.count - self._from
        return max(0.0, come / seconds) if seconds > 0 else 0.0


class Reporter:
    """Hears of fetched bytes and of asks, and shows both.

    Args:
        asks: How many asks there will be in all, for the time left.
    """

    def __init__(self, asks: int = 0) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._asks, self._asked = asks, 0
        self._began: float | None = None
        self._label, self._spoke = "", 0.0
        self._pace = Pace(0, 0, 0.0)
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

    def start(self, label: str, total_bytes: int, already: int = 0) -> None:
        """A file is being fetched or verified."""
        self._begin(label, Pace(total_bytes, already, time.monotonic()))
        if not show_progress():
            size = f": {total_bytes / MIB:.1f} MiB" if total_bytes else ""
            rest = f", {already / MIB:.1f} MiB are there" if already else ""
            note(f"{label}{size}{rest}")

    def start_steps(self, label: str, total: int) -> None:
        """An engine is being built."""
        self._begin(label, Pace(total, 0, time.monotonic(), steps=True))
        if not show_progress():
            note(f"{label}: {total} steps")

    def _begin(self, label: str, pace: Pace) -> None:
        self._label, self._pace, self._spoke = label, pace, pace.began
        self._bars.update(
            self._fetch,
            description=label,
            total=pace.total or None,
            completed=pace.count,
            visible=True,
            state="",
        )

    def advance(self, count: int) -> None:
        """Bytes came in, or steps were done."""
        now = time.monotonic()
        self._pace.advance(count, now)
        state = self._pace.told(now)
        self._bars.update(self._fetch, completed=self._pace.count, state=state)
        if not show_progress() and self._pace.worth_a_line(count, now - self._spoke):
            self._spoke = now
            note(f"{self._label}: {state}{self._pace.left(now)}")

    def done(self) -> None:
        """The file or the build is done with."""
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
