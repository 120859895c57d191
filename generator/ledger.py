"""The ledger of a run: what it has finished, so that going on with it measures nothing twice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generator.canonical import digest
from generator.journal import append, whole_events


class Ledger:
    """An append-only file that names each finished experiment of an article and its receipt.

    It lies there while a run is under way, and is removed in one step when all of it is done: after
    that, the same command measures anew.

    Args:
        path: The file, there or not.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._finished = {
            (line.get("experiment"), line.get("key")): line.get("receipt_sha256")
            for line in whole_events(path)
        }

    def finished(self, experiment: str, key: Mapping[str, Any]) -> str | None:
        """Return the sha256 of the receipt that an earlier part of this run has written.

        Args:
            experiment: Which experiment.
            key: What makes two runs the same run, as for a journal.
        """
        return self._finished.get((experiment, digest(key)))

    def note(self, experiment: str, key: Mapping[str, Any], receipt_sha256: str) -> None:
        """Note that an experiment's receipt is written.

        Raises:
            RunError: The ledger cannot be written.
        """
        entry = {"experiment": experiment, "key": digest(key), "receipt_sha256": receipt_sha256}
        append(self._path, entry)
        self._finished[experiment, entry["key"]] = receipt_sha256

    def remove(self) -> None:
        """Say that the whole run is done."""
        self._path.unlink(missing_ok=True)
