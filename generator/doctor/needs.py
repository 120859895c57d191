"""What declarations need of a machine: threads, memory, room and engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from generator.declaration import Declaration
from generator.pin_types import EnginePin
from generator.pins import Pins
from generator.receipt import Receipt


@dataclass(frozen=True)
class EngineNeed:
    """A pinned engine.

    Attributes:
        pin: The pin.
        declared: Whether an experiment asks for it.
        system: What it said of its build in a receipt from a machine of this architecture, such as
            `AVX2 = 1 | FMA = 1`; None if it has not been measured with.
    """

    pin: EnginePin
    declared: bool
    system: str | None


@dataclass(frozen=True)
class Needs:
    """What declarations need.

    Attributes:
        threads: The most threads that an experiment declares.
        model: The largest declared model, and `model_bytes` its size; None without experiments.
        peak_bytes: The most memory that a server held in an earlier measurement; 0 without one.
        engines: Every pinned engine.
        written_at: When the newest receipt was finished, in ISO 8601; None without receipts.
    """

    threads: int
    model: str | None
    model_bytes: int
    peak_bytes: int
    engines: Sequence[EngineNeed]
    written_at: str | None


def needs_of(
    pins: Pins, declarations: Sequence[Declaration], receipts: Iterable[Receipt], arch: str
) -> Needs:
    """Collect what *declarations* need; pure.

    Args:
        pins: All pins.
        declarations: What is to be measured.
        receipts: What was measured before, for what it tells of engines and memory.
        arch: The architecture of this machine.
    """
    experiments = [e for d in declarations for e in d.experiments.values()]
    receipts = list(receipts)
    models = [pins.model(name) for name in {e.model for e in experiments}]
    largest = max(models, key=lambda pin: pin.total_bytes, default=None)
    declared = {pins.engine(e.engine).name for e in experiments}
    lives = [life for r in receipts for boot in r.boots for life in boot.lives]
    return Needs(
        threads=max(
            (max(e.server.threads, e.server.threads_batch) for e in experiments), default=1
        ),
        model=largest.name if largest else None,
        model_bytes=largest.total_bytes if largest else 0,
        peak_bytes=max((life.peak_memory_bytes or 0 for life in lives), default=0),
        engines=[
            EngineNeed(pin, name in declared, _told(pin, receipts, arch))
            for name, pin in sorted(pins.engines.items())
        ],
        written_at=max((receipt.finished for receipt in receipts), default=None),
    )


def _told(pin: EnginePin, receipts: Sequence[Receipt], arch: str) -> str | None:
    """Return what the engine said of its build, wherever it was measured with."""
    for receipt in receipts:
        for boot in receipt.boots:
            known: Mapping[str, object] = boot.effective
            engine = receipt.engines[boot.engine]
            system = known.get("system")
            same = boot.engine == pin.name and engine.origin_sha256 in pin.origins
            if same and receipt.host.arch == arch and isinstance(system, str):
                return system
    return None
