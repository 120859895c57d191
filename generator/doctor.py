"""The doctor: what this machine lacks for measuring and building, each with a remedy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from generator.declaration import Declaration
from generator.errors import ReceiptsError
from generator.host import Host, load
from generator.models.engine_files import artifact_here
from generator.models.store import Store
from generator.pin_types import WheelEngine
from generator.pins import Pins

Verdict = Literal["good", "warning", "bad"]
MEMORY_FACTOR = 2.0


@dataclass(frozen=True)
class Diagnosis:
    """One thing looked at: what was found, and what to do if it is not good."""

    name: str
    verdict: Verdict
    found: str
    remedy: str


def diagnose(
    root: Path,
    pins: Pins,
    declarations: Sequence[Declaration],
    host: Host,
    environment: Mapping[str, str],
) -> Iterator[Diagnosis]:
    """Look at the machine with the eyes of what *declarations* ask for.

    Args:
        root: The project's root.
        pins: The pinned engines and models.
        declarations: What is to be measured.
        host: The machine.
        environment: The process's environment.
    """
    experiments = [e for d in declarations for e in d.experiments.values()]
    yield from _engines(pins, {e.engine for e in experiments})
    needed = max((pins.model(e.model).bytes for e in experiments), default=0)
    yield _memory(host, needed)
    declared = [max(e.server.threads, e.server.threads_batch) for e in experiments]
    threads = max(declared, default=1)
    yield _cpus(host, threads)
    busy = load()[0]
    yield Diagnosis(
        "load",
        "good" if busy < host.usable / 2 else "warning",
        f"{busy:.2f} over the last minute on {host.usable} CPUs",
        "stop other work while measuring: it slows the engine, and speeds are recorded",
    )
    free = shutil.disk_usage(root).free
    yield Diagnosis(
        "disk",
        "good" if free > 3 * needed + (1 << 30) else "bad",
        f"{free / 1e9:.1f} GB free",
        "free some room: models, the environment and the site need it",
    )
    yield from _programs(environment.get("PATH"))
    proxies = sorted(k for k in environment if k.lower().endswith("_proxy"))
    yield Diagnosis(
        "proxy",
        "good",
        ", ".join(proxies) or "none set",
        "used for fetching only; loopback never goes through it",
    )


def _engines(pins: Pins, names: set[str]) -> Iterator[Diagnosis]:
    for name in sorted(names):
        try:
            pin = pins.engine(name)
            if not isinstance(pin, WheelEngine):
                continue
            artifact = artifact_here(pin)
        except ReceiptsError as error:
            yield Diagnosis(f"engine {name}", "bad", error.what, error.remedy)
            continue
        here = Store.of_user().engine_root(artifact.sha256).is_dir()
        yield Diagnosis(
            f"engine {name}",
            "good" if here else "warning",
            "in the store" if here else "not fetched yet",
            "receipts fetch",
        )


def _memory(host: Host, needed: int) -> Diagnosis:
    limit = min(psutil.virtual_memory().available, host.memory_limit_bytes or host.memory_bytes)
    enough = limit > MEMORY_FACTOR * needed
    return Diagnosis(
        "memory",
        "good" if enough else "bad",
        f"{limit / 1e9:.1f} GB usable, the largest declared model has {needed / 1e9:.1f} GB",
        "close other programs, or measure with a smaller model",
    )


def _cpus(host: Host, threads: int) -> Diagnosis:
    usable = min(host.usable, host.cpu_limit or host.usable)
    return Diagnosis(
        "threads",
        "good" if threads <= usable else "bad",
        f"{threads} declared, {usable:g} CPUs usable",
        "declare no more threads than CPUs: beyond that an engine can all but hang",
    )


def _programs(path: str | None) -> Iterator[Diagnosis]:
    for name, remedy in (
        ("git", "apt-get install git; without it receipts name no commit"),
        ("chromium", "make test installs it; only the browser tests need it"),
    ):
        found = shutil.which(name, path=path)
        yield Diagnosis(name, "good" if found else "warning", found or "not found", remedy)
