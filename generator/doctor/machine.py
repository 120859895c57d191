"""Checks of the machine itself: processors, memory, room, load, governor and clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from generator.doctor.diagnosis import Diagnosis, graded
from generator.doctor.needs import Needs
from generator.doctor.view import Clock, View
from generator.host import Host

GB = 1e9
# Repacking keeps a second copy of the weights; context and buffers come on top.
COPIES, CONTEXT_BYTES = 2, 1 << 29
SPARE_BYTES = 1 << 30
FILE_CLOCK_S = 2.0
# Clocks of two machines that wrote to one checkout may differ by so much and both be right enough.
PAST_S = 600.0


def diagnose(needs: Needs, view: View) -> Iterator[Diagnosis]:
    """Check what a measurement needs of the machine."""
    yield _threads(needs, view.host)
    yield _memory(needs, view)
    yield _disk(view)
    yield graded(
        "store",
        well=view.store_fault is None,
        otherwise="warning",
        found=view.store_fault or "can be written to",
        remedy="let RECEIPTS_CACHE name a folder that you may write to; what a store has is served",
    )
    yield graded(
        "load",
        well=view.load < view.host.usable / 2,
        otherwise="warning",
        found=f"{view.load:.2f} over the last minute on {view.host.usable} CPUs",
        remedy="stop other work while measuring: it slows the engine, and speeds are recorded",
    )
    yield _governor(view.host)
    yield _clock(needs, view.clock)


def _threads(needs: Needs, host: Host) -> Diagnosis:
    limited = host.cpu_limit is not None and host.cpu_limit < host.usable
    usable = host.cpu_limit if host.cpu_limit is not None and limited else host.usable
    group = " (its control group grants no more)" if limited else ""
    return graded(
        "threads",
        well=needs.threads <= usable,
        otherwise="bad",
        found=f"{needs.threads} declared, {usable:g} CPUs usable{group}",
        remedy="declare no more threads than CPUs: beyond that an engine can all but hang",
    )


def _memory(needs: Needs, view: View) -> Diagnosis:
    limit = view.host.memory_limit_bytes
    usable = view.available_bytes if limit is None else min(view.available_bytes, limit)
    wanted = max(COPIES * needs.model_bytes + CONTEXT_BYTES, needs.peak_bytes)
    group = " (its control group grants no more)" if usable == limit else ""
    asked = f"about {wanted / GB:.1f} GB wanted for {needs.model}" if needs.model else "no model"
    return graded(
        "memory",
        well=needs.model is None or usable >= wanted,
        otherwise="bad",
        found=f"{usable / GB:.1f} GB usable{group}, {asked}",
        remedy="close other programs, or measure with a smaller model",
    )


def _disk(view: View) -> Diagnosis:
    wanted = view.absent_bytes + SPARE_BYTES
    enough = view.store_free >= wanted and view.project_free >= SPARE_BYTES
    return graded(
        "disk",
        well=enough,
        otherwise="bad",
        found=f"{view.store_free / GB:.1f} GB free for engines and models, "
        f"{view.project_free / GB:.1f} GB for the project; "
        f"about {wanted / GB:.1f} and {SPARE_BYTES / GB:.1f} GB wanted",
        remedy="free some room, or let RECEIPTS_CACHE name a folder on another disk",
    )


def _governor(host: Host) -> Diagnosis:
    return graded(
        "governor",
        well=host.governor in (None, "performance"),
        otherwise="warning",
        found=host.governor or "not told, as is usual in a virtual machine",
        remedy="echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    )


def _clock(needs: Needs, clock: Clock) -> Diagnosis:
    """Compare the clock with what was written by it or by others; no network is asked."""
    receipt = datetime.fromisoformat(needs.written_at).timestamp() if needs.written_at else None
    behind = [
        f"{(then - clock.now) / 3600:.1f} h before {what}"
        for what, then in (("the last commit", clock.commit), ("the newest receipt", receipt))
        if then is not None and clock.now < then - PAST_S
    ]
    off = 0.0 if clock.file is None else clock.file - clock.now
    if abs(off) > FILE_CLOCK_S:
        behind.append(f"{abs(off):.0f} s apart from the clock of the project's disk")
    return graded(
        "clock",
        well=not behind,
        otherwise="bad",
        found=f"it is {', and '.join(behind)}" if behind else "agrees with what was written by it",
        remedy="set it: sudo timedatectl set-ntp true; receipts carry its date",
    )
