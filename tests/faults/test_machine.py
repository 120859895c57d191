"""A machine that does not play along: no room, no rights, a clock set back, too few CPUs."""

from __future__ import annotations

import ctypes
import resource
from pathlib import Path

from tests.faults.conftest import Fault
from tests.faults.stage import Stage, Told

NOT_HAD = 4
NO_RUN = 6
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2

CLOCK = '''
"""Sets the clock back by an hour at the third look at it, as somebody may while we measure."""
import datetime

looks = 0
kept = datetime.datetime

class Clock(kept):
    @classmethod
    def now(cls, zone=None):
        global looks
        looks += 1
        return kept.now(zone) - datetime.timedelta(hours=looks > 3)

datetime.datetime = Clock
'''


def as_anybody() -> None:
    """Give up root's right to write everywhere, where we have it."""
    libc = ctypes.CDLL(None)
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def test_a_store_that_cannot_be_written_to(stage: Stage, fault: Fault) -> None:
    (stage.folder / "closed").mkdir(mode=0o555)
    cache = {"RECEIPTS_CACHE": str(stage.folder / "closed")}
    end = stage.run("run", environment=cache, preexec_fn=as_anybody)
    assert end.code == NOT_HAD
    fault("store_not_writable", end)


def test_a_project_that_cannot_be_written_to(stage: Stage, fault: Fault) -> None:
    stage.root.chmod(0o555)
    end = stage.run("run", preexec_fn=as_anybody)
    assert end.code == NO_RUN
    fault("project_not_writable", end)
    assert stage.events("start") == []


def test_receipts_that_cannot_be_written(stage: Stage, fault: Fault) -> None:
    (stage.root / "receipts").chmod(0o555)
    end = stage.run("run", "broken/runs", preexec_fn=as_anybody)
    assert end.code == NO_RUN
    fault("receipt_not_writable", end)
    (stage.root / "receipts").chmod(0o755)
    assert stage.run("run", "broken/runs").code == 0
    assert len(stage.events("asked")) == 4


def no_large_files() -> None:
    """Let a file grow to a size which a journal has after three answers, and no further."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))


def test_a_disk_that_fills_up(stage: Stage, fault: Fault) -> None:
    end = stage.run("run", "broken/runs", preexec_fn=no_large_files)
    assert end.code == NO_RUN
    fault("disk_full", end)
    assert stage.receipts() == {}
    assert stage.processes() == []
    journal = (stage.root / ".work/broken/runs.jsonl").read_text()
    kept = journal.rpartition("\n")[0].count('"event":"asked"')
    asked = len(stage.events("asked"))
    assert 0 < kept < 4
    assert stage.run("run", "broken/runs").code == 0
    assert len(stage.events("asked")) == asked + 4 - kept


def warnings(end: Told) -> Told:
    """Return what was warned of as if it had been said last."""
    lines = [line for line in end.progress if line.startswith("warning: ")]
    return Told(end.code, [], lines, "")


def test_a_clock_that_is_set_back(stage: Stage, fault: Fault, tmp_path: Path) -> None:
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock/sitecustomize.py").write_text(CLOCK)
    path = f"{tmp_path / 'clock'}:{stage.environment['PYTHONPATH']}"
    end = stage.run("run", "broken/runs", environment={"PYTHONPATH": path})
    assert end.code == 0
    fault("clock_set_back", warnings(end))
    receipt = stage.receipts()["runs"]
    assert receipt["finished"] < receipt["started"]
    asks = [ask for boot in receipt["boots"] for ask in boot["asks"]]
    assert all(0 <= ask["outcome"]["wall_s"] < 30 for ask in asks)
    assert 0 < receipt["boots"][0]["lives"][0]["ready_s"] < 30


def test_more_threads_than_cpus(stage: Stage, fault: Fault) -> None:
    declaration = stage.root / "receipts/broken.yaml"
    text = declaration.read_text(encoding="utf-8")
    declaration.write_text(text.replace("threads: 1\n", "threads: 4096\n"), encoding="utf-8")
    end = stage.run("run", "broken/runs", "broken/widths")
    assert end.code == 0
    fault("more_threads_than_cpus", warnings(end))
    kinds = [line.split()[0] for line in end.progress]
    assert max(i for i, kind in enumerate(kinds) if kind == "warning:") < kinds.index("[1/10]")
