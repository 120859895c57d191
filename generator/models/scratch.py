"""Folders to work in, each held by one process at a time and gone afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from generator.models.disk import disk_error
from generator.models.progress import Progress


def lock_of(root: Path, key: str) -> FileLock:
    """Return the lock that is held by whoever makes what *key* stands for in the store *root*."""
    return FileLock(root / "locks" / f"{key}.lock")


@contextmanager
def scratch_folder(root: Path, key: str, label: str, progress: Progress) -> Iterator[Path]:
    """Give an empty folder to one process at a time for each *key*, removed afterwards.

    Args:
        root: The store's folder.
        key: What is being made, the same word for all processes that would make it.
        label: What it is for.
        progress: Hears of the waiting.

    Raises:
        FetchError: The store may not be written to.
    """
    lock = lock_of(root, key)
    folder = root / "scratch" / key
    try:
        _acquire(lock, label, progress)
        # What a killed process left behind lies under the same key.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    except OSError as error:
        lock.release()
        raise disk_error(label, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _acquire(lock: FileLock, label: str, progress: Progress) -> None:
    try:
        lock.acquire(timeout=1)
    except Timeout:
        progress.start(f"{label}: waiting for another process that fetches it", 0)
        try:
            lock.acquire()
        finally:
            progress.done()
