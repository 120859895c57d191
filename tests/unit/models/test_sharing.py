"""One store and several real processes: each file comes once, whoever dies meanwhile."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from generator.models.store import Store
from tests.unit.models.file_server import Served
from tests.unit.models.tiny import BODY, kept_files, pin, project_of, receipts
from tests.unit.models.wheel_maker import digest

WAITING = "tiny: waiting for another process that fetches it"


@pytest.fixture
def gate(served: Served) -> Iterator[threading.Event]:
    """Hold every body at its middle until told otherwise."""
    served.gate = threading.Event()
    yield served.gate
    served.gate.set()


@contextmanager
def two_fetching(
    project: Path, store: Store
) -> Iterator[tuple[subprocess.Popen[str], subprocess.Popen[str]]]:
    """Start two fetches of one model, and give the one that works and the one that waits."""
    both = [receipts(project, store, "fetch", "--model", "tiny") for _ in range(2)]
    with both[0], both[1], ThreadPoolExecutor(2) as listeners:
        try:
            hearing = {listeners.submit(_hear_waiting, fetch): fetch for fetch in both}
            first, _ = wait(hearing, return_when=FIRST_COMPLETED)
            waiting = hearing[first.pop()]
            yield both[0] if waiting is both[1] else both[1], waiting
        finally:
            for fetch in both:
                fetch.kill()


def _hear_waiting(fetch: subprocess.Popen[str]) -> None:
    for line in fetch.stderr or ():
        if line.strip() == WAITING:
            return


def test_two_processes_fetch_one_model_once(
    served: Served, gate: threading.Event, store: Store, tmp_path: Path
) -> None:
    with two_fetching(project_of(tmp_path, pin(served.url)), store) as (working, waiting):
        gate.set()
        for fetch in (working, waiting):
            said = fetch.stdout.read() if fetch.stdout else ""
            assert f"tiny: 300,004 bytes, sha256 {digest(BODY)}" in said
            assert fetch.wait() == 0
    assert len(served.seen) == 1
    assert [path.name for path in kept_files(store)] == [digest(BODY)]


def test_who_waits_goes_on_where_a_killed_process_stopped(
    served: Served, gate: threading.Event, store: Store, tmp_path: Path
) -> None:
    with two_fetching(project_of(tmp_path, pin(served.url)), store) as (working, waiting):
        part = store.partial(digest(BODY))
        while not part.exists() or part.stat().st_size == 0:
            with suppress(subprocess.TimeoutExpired):
                working.wait(0.02)
        working.kill()
        gate.set()
        assert waiting.wait() == 0
    first, second = (seen.get("range") for seen in served.seen)
    assert first is None
    assert re.fullmatch(r"bytes=[1-9][0-9]*-", str(second))
    assert [path.name for path in kept_files(store)] == [digest(BODY)]
