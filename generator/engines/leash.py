"""The process that becomes a llama-server and dies with its parent.

Run by file, in isolated mode and without the site module. Its first line on standard input is what
to become; the end of standard input is the end of the parent.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """Let this process, and the program that it becomes, be killed when *parent* is gone.

    On Linux the kernel does it, when the thread that launched us ends. Elsewhere a second process
    waits for the end of standard input.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    elif os.fork() == 0:
        while os.read(0, 4096):
            pass
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    if os.getppid() != parent:
        os._exit(1)  # it died before we could ask to be told


def main() -> None:
    """Read what to become, and become it."""
    line = b""
    while not line.endswith(b"\n"):  # byte by byte: what follows is not ours to read
        byte = os.read(0, 1)
        if not byte:
            os._exit(1)
        line += byte
    order = json.loads(line)
    die_with(order["parent"])
    command = order["command"]
    os.execve(command[0], command, {**os.environ, **order["environment"]})  # noqa: S606


if __name__ == "__main__":
    main()
