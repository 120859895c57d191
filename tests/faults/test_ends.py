"""A run that is ended from outside: nothing of it goes on, and what was answered is kept."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.faults.conftest import Fault
from tests.faults.stage import Stage, told, until

INTERRUPTED = 130
NO_RUN = 6

PARENT = """
import sys
from pathlib import Path
from generator.engines.native import NativeEngine
from generator.settings import ServerSettings
with NativeEngine(Path(sys.argv[1])).launch(ServerSettings(), Path(sys.argv[2]), "tiny"):
    print("ready", flush=True)
    sys.stdin.read()
"""


def hanging(stage: Stage) -> subprocess.Popen[str]:
    """Start a run that has one answer and waits for its second for ever."""
    stage.pin_server("hangs_while_answering")
    run = stage.start("run", "broken/runs")
    until(lambda: len(stage.events("asked")) == 2)
    assert len(stage.processes()) == 2
    return run


def goes_on(stage: Stage) -> None:
    """Check that the same command, when nothing hangs any more, asks only what is open."""
    assert stage.receipts() == {}
    stage.mend()
    end = stage.run("run", "broken/runs")
    assert end.code == 0
    assert sum("already answered" in line for line in end.progress) == 1
    assert len(stage.events("asked")) == 2 + 3
    assert stage.receipts()["runs"]["analysis"]["answered"] == 4


@pytest.mark.parametrize("times", [1, 5])
def test_an_interrupt(stage: Stage, fault: Fault, times: int) -> None:
    run = hanging(stage)
    for _ in range(times):
        run.send_signal(signal.SIGINT)
    end = told(run)
    assert end.code == INTERRUPTED
    fault("interrupted", end)
    assert stage.processes() == []
    goes_on(stage)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_end_of_the_command_is_the_end_of_its_engine(stage: Stage, how: signal.Signals) -> None:
    run = hanging(stage)
    run.send_signal(how)
    assert told(run).code == -how
    until(lambda: stage.processes() == [])
    goes_on(stage)


def test_a_program_dies_with_its_parent_too(stage: Stage) -> None:
    command = [sys.executable, "-c", PARENT, str(stage.program("sound"))]
    with subprocess.Popen(
        [*command, str(stage.root / "tiny.gguf")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=stage.environment,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        assert len(stage.processes()) == 2
        parent.kill()
        until(lambda: stage.processes() == [])


def test_two_runs_of_one_article(stage: Stage, fault: Fault) -> None:
    run = hanging(stage)
    end = stage.run("run", "broken/widths")
    assert end.code == NO_RUN
    assert f"process {run.pid}," in end.message[-2]
    fault("two_runs_of_one_article", end)
    run.send_signal(signal.SIGINT)
    told(run)
    goes_on(stage)
