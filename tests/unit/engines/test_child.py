"""The child never outlives its parent, however that ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from generator.engines import child
from generator.engines.wheel import WheelEngine
from generator.settings import ServerSettings

# a shell's background job inherits SIGINT ignored, and these tests may run in one
PARENT = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
from generator.engines.wheel import WheelEngine
from generator.settings import ServerSettings
engine = WheelEngine(Path(sys.argv[1]))
with engine.launch(ServerSettings(), Path(sys.argv[2]), "smol") as server:
    print(server.process.pid, flush=True)
    time.sleep(60)
"""


def gone(pid: int, within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_child_dies_with_its_parent(engine: WheelEngine, model: Path, how: int) -> None:
    command = [sys.executable, "-c", PARENT, str(engine.root), str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(parent.pid, how)
        assert gone(pid)


def test_the_end_of_its_input_is_the_end_of_the_child(engine: WheelEngine, model: Path) -> None:
    with engine.launch(ServerSettings(), model, "smol") as server:
        stdin = server.process._popen.stdin
        assert stdin is not None
        stdin.close()
        assert gone(server.process.pid)
        # a zombie's other threads may still be ending, and until then it cannot be waited for
        server.process._popen.wait(timeout=5)
        assert str(server.death()).startswith("died of SIGKILL")


def test_a_child_whose_parent_is_gone_already_does_not_start() -> None:
    order = json.dumps({"parent": 1 << 22, "root": ".", "fields": {}}).encode() + b"\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", child.__file__], input=order, check=False, timeout=10
    )
    assert done.returncode == 1
