"""The lock on one build, which lasts as long as anything that the build started."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generator.models.progress import Progress


@contextmanager
def build_lock(path: Path, label: str, progress: Progress) -> Iterator[int]:
    """Hold a lock, once whoever has it lets go.

    A compiler may live on for a while when the process that built is killed. It holds the lock too,
    if it was given the open file, so that no second build writes where it still does.

    Args:
        path: The lock's file.
        label: What is built.
        progress: Hears of the waiting.

    Yields:
        The open file: whatever is started with it holds the lock.
    """
    held = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.start(f"{label}: waiting for another process that builds it", 0)
            try:
                fcntl.flock(held, fcntl.LOCK_EX)
            finally:
                progress.done()
        yield held
    finally:
        os.close(held)
