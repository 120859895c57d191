"""The process that is the embedded engine: it becomes llama.cpp's server and dies with its parent.

Run by file, in isolated mode and without the site module, so that it starts fast and loads nothing
but the engine. Its first line on standard input is what to start; the end of standard input is the
end of the parent.
"""

from __future__ import annotations

import ctypes
import dataclasses  # noqa: F401 - for the engine
import enum
import fcntl
import importlib
import json
import logging  # noqa: F401 - for the engine
import os
import signal
import sys
import threading
from typing import Any

PR_SET_PDEATHSIG = 1
BAD_PARAMETER = 78


def die_with(parent: int) -> None:
    """Let this process be killed when *parent* is gone, or when its standard input ends.

    On Linux the kernel does both; the parent is gone when the thread that launched it ends, so
    launch from one that lasts. Elsewhere a second process waits for the end of standard input. A
    thread could not: the engine does not let Python run while it loads.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    elif os.fork() == 0:
        while os.read(0, 4096):
            pass
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    if os.getppid() != parent:
        os._exit(1)  # it died before we could ask to be told


def assign(target: Any, field: str, value: Any) -> None:
    """Set *field*, such as `cpuparams.n_threads`; an enumeration's member is given by name."""
    *owners, name = field.split(".")
    for owner in owners:
        target = getattr(target, owner)
    current = getattr(target, name)
    if callable(current):
        raise TypeError("this is no parameter")
    if isinstance(current, enum.Enum):
        value = type(current)[value]
    elif isinstance(current, set):
        value = {value}
    elif isinstance(current, list) and not isinstance(value, list):
        value = [value]
    elif isinstance(current, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    elif isinstance(current, bool) and not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {value!r}")
    setattr(target, name, value)


def main() -> None:
    """Read what to start, start it, and serve until killed."""
    order = json.loads(sys.stdin.buffer.readline())
    die_with(order["parent"])
    # No bytecode is read from beside the verified files. Python's own, read until here, is its own:
    # what the engine needs of Python is imported above, or each start would compile it.
    sys.pycache_prefix = "/nonexistent"
    sys.path.insert(0, order["root"])
    engine = importlib.import_module("xllamacpp")
    parameters = engine.CommonParams()
    for field, value in order["fields"].items():
        try:
            assign(parameters, field, value)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            print(f"parameter {field}: {error}", file=sys.stderr, flush=True)  # noqa: T201
            os._exit(BAD_PARAMETER)
    try:
        server = engine.Server(parameters)
    except RuntimeError as error:  # the log says why; a traceback would only push that out of sight
        print(error, file=sys.stderr, flush=True)  # noqa: T201
        sys.exit(1)  # not at once: the engine writes the rest of its log when it is taken down
    threading.Event().wait()
    del server


if __name__ == "__main__":
    main()
