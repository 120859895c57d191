"""Digests of files, remembered for as long as a file is visibly unchanged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

BLOCK = 1 << 20

Hear = Callable[[int], None]
"""Hears of each further number of bytes that were read."""


def digest_of(path: Path, hear: Hear) -> str:
    """Return the sha256 of the file at *path*, in hexadecimal, always reading it."""
    found = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            found.update(block)
            hear(len(block))
    return found.hexdigest()


class Digests:
    """The sha256 of files, cached against path, size, times and inode.

    Args:
        file: The JSON file which keeps them; what cannot be read of it is computed again, and where
            it cannot be written, they are kept for the life of this process.
        lock: The lock file which guards it among processes.
        trusting: Whether what other processes remembered is believed.
    """

    def __init__(self, file: Path, lock: Path, *, trusting: bool = True) -> None:
        self._file = file
        self._lock = FileLock(lock)
        self._trusting = trusting
        self._mine: dict[str, Any] = {}

    def known(self, path: Path) -> str | None:
        """Return the sha256 of the file at *path* if it is remembered and still true."""
        key, stamp = _key(path), _stamp(path)
        for entries in (self._mine, self._read() if self._trusting else {}):
            entry = entries.get(key)
            if isinstance(entry, dict) and entry.get("stamp") == stamp:
                return str(entry["sha256"])
        return None

    def of(self, path: Path, hear: Hear = lambda _: None) -> str:
        """Return the sha256 of the file at *path*, in hexadecimal."""
        known = self.known(path)
        if known is not None:
            return known
        before = _stamp(path)
        digest = digest_of(path, hear)
        if _stamp(path) == before:
            self._remember(path, before, digest)
        return digest

    def note(self, path: Path, digest: str) -> None:
        """Remember a digest that was computed just now."""
        self._remember(path, _stamp(path), digest)

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(self._file.read_text())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _remember(self, path: Path, stamp: list[int], digest: str) -> None:
        entry = {_key(path): {"stamp": stamp, "sha256": digest}}
        self._mine |= entry
        # A store that may not be written to, or whose disk is full, still serves.
        with suppress(OSError), self._lock:
            kept = {path: old for path, old in self._read().items() if os.access(path, os.F_OK)}
            # under the lock it is ours alone, and what a killed process left is written over
            fresh = self._file.with_name(f"{self._file.name}.new")
            try:
                fresh.write_text(json.dumps(kept | entry, indent=1, sort_keys=True))
                fresh.replace(self._file)
            except OSError:
                fresh.unlink(missing_ok=True)
                raise


def _key(path: Path) -> str:
    return str(path.resolve())


def _stamp(path: Path) -> list[int]:
    # The change time is beyond the reach of `touch`, which could hide a change from the others.
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
