"""A machine as the doctor sees it: everything that was read of it, and nothing to read with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generator.host import Host


@dataclass(frozen=True)
class Clock:
    """What clocks say, in seconds since 1970.

    Attributes:
        now: This machine's time.
        file: The time that a file got when it was written just now; None if none could be written.
        commit: When the checkout's last commit was made; None outside a checkout.
    """

    now: float
    file: float | None
    commit: float | None


@dataclass(frozen=True)
class Absence:
    """Why an engine, or what builds one, is not ready.

    Attributes:
        found: What is missing.
        remedy: What to do.
        mendable: Whether a run mends it by itself, by fetching or building.
    """

    found: str
    remedy: str
    mendable: bool


@dataclass(frozen=True)
class View:
    """What was read of a machine.

    Attributes:
        load: How many processes wanted to run, on average over the last minute.
        available_bytes: Memory that can be had without swapping.
        project_free: Free room where the project lies; `store_free` where engines and models are
            kept, in bytes.
        store_fault: What keeps the store from being written to, if anything does.
        absent: Of each pinned engine that is not ready, why not.
        absent_bytes: Room for what is yet to be fetched or built of declared engines and models.
        compiler: What builds engines, or why nothing can; None if there is nothing to build.
        programs: Where each program is, or None.
        browser: Where a Chromium is, if there is one.
        cjk_fonts: How many fonts can write Chinese; None if that cannot be told.
        environment: The environment's proxy settings.
        socks: Whether what a SOCKS proxy needs is installed.
    """

    host: Host
    load: float
    available_bytes: int
    project_free: int
    store_free: int
    store_fault: str | None
    absent: Mapping[str, Absence]
    absent_bytes: int
    compiler: str | Absence | None
    programs: Mapping[str, str | None]
    browser: str | None
    cjk_fonts: int | None
    environment: Mapping[str, str]
    socks: bool
    clock: Clock
