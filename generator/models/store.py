"""The user's store of pinned files, addressed by sha256 and shared by all processes."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from generator.errors import FetchError
from generator.models.digests import Digests
from generator.models.progress import Progress

_SPARE_BYTES = 64 << 20


@dataclass(frozen=True)
class Expected:
    """What a file must be.

    Attributes:
        label: How to call it before the user.
        bytes: Its size.
        sha256: Its digest.
    """

    label: str
    bytes: int
    sha256: str


class Store:
    """Verified files below one folder.

    Args:
        root: The folder; it is made where it is missing.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("sha256", "engines", "partial", "scratch", "locks"):
            self._make(root / name)
        self._digests = Digests(root / "digests.json", root / "locks" / "digests.lock")

    @classmethod
    def of_user(cls) -> Store:
        """Open the user's store: the folder RECEIPTS_CACHE names, or the user's cache folder."""
        named = os.environ.get("RECEIPTS_CACHE")
        return cls(Path(named).expanduser() if named else user_cache_path("published-receipts"))

    def path(self, sha256: str) -> Path | None:
        """Return where the file with that digest is kept, if it is; it is not verified here."""
        place = self._place(sha256)
        return place if place.is_file() else None

    def partial(self, sha256: str) -> Path:
        """Return where an interrupted download of that file is kept."""
        return self.root / "partial" / f"{sha256}.part"

    def engine_root(self, wheel_sha256: str) -> Path:
        """Return the folder of the unpacked wheel with that digest, there or not."""
        return self.root / "engines" / wheel_sha256

    def digest(self, path: Path) -> str:
        """Return the sha256 of any file, cached for as long as the file is unchanged."""
        return self._digests.of(path)

    def verify(self, path: Path, expected: Expected) -> None:
        """Compare a file with what it must be, the size first.

        Raises:
            FetchError: Naming the expected and the found size and digest.
        """
        size = path.stat().st_size
        digest = self.digest(path)
        if (size, digest) != (expected.bytes, expected.sha256):
            raise mismatch(expected, size, digest, path)

    def verified(self, expected: Expected) -> Path:
        """Return the kept file once it is verified.

        Raises:
            FetchError: It is not kept, or it is not as expected.
        """
        place = self.path(expected.sha256)
        if place is None:
            raise FetchError(f"{expected.label} is not in the store.", "Run `receipts fetch`.")
        self.verify(place, expected)
        return place

    def add(self, made: Path, expected: Expected) -> Path:
        """Move a file made below the store's own folder to its place, once it is verified.

        Raises:
            FetchError: It is not what was expected; it is removed.
        """
        size = made.stat().st_size
        with made.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if (size, digest) != (expected.bytes, expected.sha256):
            made.unlink()
            raise mismatch(expected, size, digest, None)
        place = self._place(expected.sha256)
        self._make(place.parent)
        made.chmod(0o444)
        made.replace(place)
        self._digests.note(place, digest)
        return place

    @contextmanager
    def scratch(self, key: str, label: str, progress: Progress) -> Iterator[Path]:
        """Give an empty folder to one process at a time for each *key*, removed afterwards."""
        lock = FileLock(self.root / "locks" / f"{key}.lock")
        try:
            lock.acquire(timeout=1)
        except Timeout:
            progress.start(f"{label}: waiting for another process that fetches it", 0)
            lock.acquire()
            progress.done()
        folder = self.root / "scratch" / key
        try:
            # What a killed process left behind lies under the same key.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()

    def ensure_space(self, needed: int, label: str) -> None:
        """Refuse to begin what cannot be finished.

        Raises:
            FetchError: The disk has less than *needed* bytes and a little over.
        """
        free = shutil.disk_usage(self.root).free
        if free < needed + _SPARE_BYTES:
            raise FetchError(
                f"{label} needs {needed} bytes on disk, and only {free} are free at {self.root}.",
                "Free some space, or set RECEIPTS_CACHE to a folder on a larger disk.",
            )

    def _place(self, sha256: str) -> Path:
        return self.root / "sha256" / sha256[:2] / sha256

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FetchError(
                f"The store's folder {folder} cannot be made: {error.strerror}.",
                "Set RECEIPTS_CACHE to a folder that you may write to.",
            ) from error


def mismatch(expected: Expected, size: int, digest: str, path: Path | None) -> FetchError:
    """Tell how a file differs from its pin."""
    return FetchError(
        f"{expected.label} is not the file that was pinned.",
        f"Remove {path} and run `receipts fetch`."
        if path
        else "Nothing of it was kept; try again, and if it stays so, mend the pin or its source.",
        [
            f"expected {expected.bytes} bytes, sha256 {expected.sha256}",
            f"found    {size} bytes, sha256 {digest}",
        ],
    )


def disk_error(label: str, error: OSError) -> FetchError:
    """Tell of a file that could not be written, such as on a full disk."""
    return FetchError(
        f"{label} could not be stored: {error.strerror or error}.",
        "Free some space, or set RECEIPTS_CACHE to another folder.",
    )
