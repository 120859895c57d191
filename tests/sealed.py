"""A store that nobody may write to, in a way that binds root as well."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Permission bits do not bind root while it has these: CAP_CHOWN, CAP_DAC_OVERRIDE,
# CAP_DAC_READ_SEARCH and CAP_FOWNER. What is taken from the bounding set is gone after `exec`.
_BOUND = """
import ctypes, os, sys
if os.geteuid() == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(4):
        if libc.prctl(24, capability, 0, 0, 0) != 0:
            sys.exit(f"capability {capability} stays: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[1], sys.argv[1:])
"""
_TRY = """
import pathlib, sys
for folder in sys.argv[1:]:
    try:
        pathlib.Path(folder, "new").touch()
    except PermissionError:
        continue
    sys.exit(f"{folder} can be written to")
"""


@contextmanager
def sealed(store: Path) -> Iterator[None]:
    """Take every right to write from a store, and prove that it binds."""
    folders = [Path(folder) for folder, _, _ in os.walk(store)]
    for folder in folders:
        folder.chmod(0o555)
    try:
        tried = bound([sys.executable, "-c", _TRY, *map(str, folders)])
        assert tried.returncode == 0, tried.stderr
        yield
        found = {Path(folder) for folder, _, _ in os.walk(store)}
        assert found == set(folders)
    finally:
        for folder in folders:
            folder.chmod(0o755)


def bound(command: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command so that permissions bind it, whoever runs the tests."""
    return subprocess.run(
        [sys.executable, "-c", _BOUND, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def bound_receipts(project: Path, store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run our command on a project, with a store, so that permissions bind it."""
    command = [sys.executable, "-m", "generator", "--root", str(project), *arguments]
    return bound(command, RECEIPTS_CACHE=str(store))
