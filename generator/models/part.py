"""A file that is coming in: what has come of it is kept, counted and digested on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from generator.models.digests import BLOCK
from generator.models.progress import Progress


class Part:
    """What has come of a file so far.

    Args:
        path: Where it is kept. A note beside it says where it came from, for a later process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._note = path.with_suffix(".json")
        self._hash = hashlib.sha256()
        self._hashed = 0

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def digest(self) -> str:
        """The sha256 of all that was kept and written."""
        return self._hash.hexdigest()

    def read_kept(self, label: str, progress: Progress) -> None:
        """Digest what an earlier process left, so that it can be gone on with."""
        kept = self.size
        if not kept:
            return
        progress.start(f"{label}: reading what came earlier", kept)
        try:
            with self.path.open("rb") as stream:
                while block := stream.read(BLOCK):
                    self._take(block)
                    progress.advance(len(block))
        finally:
            progress.done()

    def write(self, start: int, blocks: Iterable[bytes], hear: Callable[[int], None]) -> None:
        """Write what comes.

        Args:
            start: Where the first block belongs: at the end of what there is, or at 0.
            blocks: What comes.
            hear: Hears the size before each block is written; what it raises ends the writing.
        """
        if not start:
            self._hash, self._hashed = hashlib.sha256(), 0
        with self.path.open("ab" if start else "wb") as out:
            for block in blocks:
                hear(self._hashed + len(block))
                out.write(block)
                self._take(block)

    def _take(self, block: bytes) -> None:
        self._hash.update(block)
        self._hashed += len(block)

    def note(self, source: str, etag: str) -> None:
        """Note where it comes from.

        Args:
            source: The address as it is pinned: nothing secret.
            etag: How the server calls this version of the file; empty if it does not.
        """
        self._note.write_text(json.dumps({"source": source, "etag": etag}))

    def etag(self, source: str) -> str:
        """Return how that address called what was kept; empty if it did not, or is another."""
        try:
            note = json.loads(self._note.read_text())
        except (OSError, ValueError):
            return ""
        known = isinstance(note, dict) and note.get("source") == source
        return str(note.get("etag", "")) if known else ""

    def discard(self) -> None:
        """Remove it and its note."""
        self.path.unlink(missing_ok=True)
        self.forget()

    def forget(self) -> None:
        """Remove the note, once the file was moved to its place."""
        self._note.unlink(missing_ok=True)
        self._hash, self._hashed = hashlib.sha256(), 0
