"""Digests of files, remembered for as long as a file is visibly unchanged."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from filelock import FileLock

BLOCK = 1 << 20


class Digests:
    """The sha256 of files, cached against path, size, times and inode.

    Args:
        file: The JSON file which keeps them; what cannot be read of it is computed again.
        lock: The lock file which guards it among processes.
    """

    def __init__(self, file: Path, lock: Path) -> None:
        self._file = file
        self._lock = FileLock(lock)

    def of(self, path: Path) -> str:
        """Return the sha256 of the file at *path*, in hexadecimal."""
        key, before = str(path.resolve()), _stamp(path)
        known = self._read().get(key)
        if isinstance(known, dict) and known.get("stamp") == before:
            return str(known["sha256"])
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if _stamp(path) == before:
            self._remember(key, {"stamp": before, "sha256": digest})
        return digest

    def note(self, path: Path, digest: str) -> None:
        """Remember a digest that was computed just now."""
        self._remember(str(path.resolve()), {"stamp": _stamp(path), "sha256": digest})

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(self._file.read_text())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _remember(self, key: str, entry: dict[str, Any]) -> None:
        with self._lock:
            kept = {path: old for path, old in self._read().items() if Path(path).exists()}
            fresh = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            fresh.write_text(json.dumps(kept | {key: entry}, indent=1, sort_keys=True))
            fresh.replace(self._file)


def _stamp(path: Path) -> list[int]:
    # The change time is beyond the reach of `touch`, which could hide a change from the others.
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
