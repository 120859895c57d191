"""Runs the command line again and again in fresh processes, and kills it where it is told to.

Everything is imported once and each run is forked off, so that hundreds of runs take a minute. An
order is a line of JSON on standard input; the answer is a line of JSON on standard output.

A *step* is a call of one of the system's functions below, or its return, in the run's main thread:
whatever a run does to files, sockets and processes lies between two steps.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

import generator
from generator.cli import invoke

STEPS = {
    *("open", "write", "fsync", "truncate", "flush", "close", "replace", "rename", "unlink"),
    *("mkdir", "chmod", "flock", "fork_exec", "kill", "killpg", "waitpid", "connect", "sendall"),
    *("send", "recv", "read"),
}


class Steps:
    """Counts steps, and kills this process at one of them, counted from 1."""

    def __init__(self, kill_at: int | None) -> None:
        self.count = 0
        self._kill_at = kill_at

    def __call__(self, _frame: FrameType, event: str, function: Any) -> None:
        """Count a call or a return."""
        if event in ("c_call", "c_return") and getattr(function, "__name__", "") in STEPS:
            self.count += 1
            if self.count == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


def run(order: dict[str, Any]) -> None:
    """Be one run of the command line, and never return."""
    pen = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(pen, 1)
    os.dup2(pen, 2)
    steps = Steps(order.get("kill_at"))
    if "kill_at" in order or "count" in order:
        sys.setprofile(steps)
    code = invoke(order["arguments"])
    sys.setprofile(None)
    sys.stdout.flush()
    if "count" in order:
        Path(order["count"]).write_text(str(steps.count))
    os._exit(code)


def obey(order: dict[str, Any]) -> dict[str, Any]:
    """Fork a run, kill it after a while if that was ordered, and tell how it ended."""
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        run(order)
    if "delay_s" in order:
        # ended or not: a process is not gone before it is waited for
        time.sleep(order["delay_s"])
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    wall_s = time.perf_counter() - started
    return {"code": os.waitstatus_to_exitcode(status), "wall_s": wall_s}


def main() -> None:
    """Import everything, then obey."""
    for module in pkgutil.walk_packages(generator.__path__, "generator."):
        if module.name not in ("generator.__main__", "generator.site_hook"):
            importlib.import_module(module.name)
    importlib.import_module("rich.progress")
    gc.freeze()
    for line in sys.stdin:
        answer = obey(json.loads(line))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
