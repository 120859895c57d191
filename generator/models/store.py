"""The user's store of pinned files, addressed by sha256 and shared by all processes."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from generator.errors import FetchError
from generator.models import disk
from generator.models.digests import Digests
from generator.models.progress import NoProgress, Progress
from generator.models.scratch import scratch_folder

_FOLDERS = ("sha256", "engines", "named", "partial", "scratch", "locks")


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


NOTHING_KEPT = "Nothing of it was kept; try again, and if it stays so, mend the pin or its source."


class Store:
    """Verified files below one folder.

    Args:
        root: The folder; it is made where it is missing.
        trusting: Whether digests that other processes computed of unchanged files are believed.
    """

    def __init__(self, root: Path, *, trusting: bool = True) -> None:
        self.root = root
        _make(root)
        for name in _FOLDERS:
            with suppress(OSError):  # a store that may not be written to serves what it has
                (root / name).mkdir(exist_ok=True)
        lock = root / "locks" / "digests.lock"
        self._digests = Digests(root / "digests.json", lock, trusting=trusting)

    @classmethod
    def of_user(cls) -> Store:
        """Open the user's store: the folder RECEIPTS_CACHE names, or the user's cache folder.

        Raises:
            FetchError: There is no home folder that would hold it.
        """
        named = os.environ.get("RECEIPTS_CACHE")
        try:
            return cls(Path(named).expanduser() if named else user_cache_path("published-receipts"))
        except RuntimeError as error:
            raise FetchError(
                "There is no home folder to keep engines and models in.",
                "Name a folder: RECEIPTS_CACHE=/path/to/a/folder (or set HOME).",
            ) from error

    def distrusting(self) -> Store:
        """Open the same store so that it reads every file anew, once."""
        return Store(self.root, trusting=False)

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

    def named_root(self, key: str) -> Path:
        """Return the folder of links that give the shards of a split model their names."""
        return self.root / "named" / key

    def digest(self, path: Path) -> str:
        """Return the sha256 of any file, cached for as long as the file is unchanged."""
        return self._digests.of(path)

    def note(self, path: Path, digest: str) -> None:
        """Remember a file's digest that is known from elsewhere."""
        self._digests.note(path, digest)

    def verify(self, path: Path, expected: Expected, progress: Progress | None = None) -> None:
        """Compare a file with what it must be.

        Args:
            path: The file.
            expected: What it must be.
            progress: Hears of the bytes, where the file has to be read.

        Raises:
            FetchError: Naming the expected and the found size and digest.
        """
        size = path.stat().st_size
        digest = self._digests.known(path)
        if digest is None:
            hearing = progress or NoProgress()
            hearing.start(f"{expected.label}: verifying", size)
            try:
                digest = self._digests.of(path, hearing.advance)
            finally:
                hearing.done()
        if (size, digest) != (expected.bytes, expected.sha256):
            kept = path.is_relative_to(self.root)
            anew = f"Remove {path} and run `receipts fetch`."
            theirs = f"Put the pinned file at {path}, or mend the pin if you mean this one."
            raise mismatch(expected, size, digest, anew if kept else theirs)

    def verified(self, expected: Expected, progress: Progress | None = None) -> Path:
        """Return the kept file once it is verified.

        Raises:
            FetchError: It is not kept, or it is not as expected.
        """
        place = self.path(expected.sha256)
        if place is None:
            raise FetchError(f"{expected.label} is not in the store.", "Run `receipts fetch`.")
        self.verify(place, expected, progress)
        return place

    def add(self, made: Path, expected: Expected, digest: str) -> Path:
        """Move a file made below the store's own folder to its place, if it is as expected.

        Args:
            made: The file.
            expected: What it must be.
            digest: Its sha256, computed while it was written.

        Raises:
            FetchError: It is not what was expected; it is removed.
            OSError: It cannot be moved to its place.
        """
        size = made.stat().st_size
        if (size, digest) != (expected.bytes, expected.sha256):
            made.unlink()
            raise mismatch(expected, size, digest, NOTHING_KEPT)
        place = self._place(expected.sha256)
        place.parent.mkdir(parents=True, exist_ok=True)
        with made.open("rb") as file:
            os.fsync(file.fileno())
        made.chmod(0o444)
        made.replace(place)
        self._digests.note(place, digest)
        return place

    def scratch(self, key: str, label: str, progress: Progress) -> AbstractContextManager[Path]:
        """Give an empty folder to one process at a time for each *key*, removed afterwards.

        Raises:
            FetchError: The store may not be written to.
        """
        return scratch_folder(self.root, key, label, progress)

    def ensure_space(self, needed: int, label: str) -> None:
        """Refuse to begin what cannot be finished.

        Raises:
            FetchError: The disk has less than *needed* bytes and a little over.
        """
        disk.ensure_space(self.root, needed, label)

    def _place(self, sha256: str) -> Path:
        return self.root / "sha256" / sha256[:2] / sha256


def mismatch(expected: Expected, size: int, digest: str, remedy: str) -> FetchError:
    """Tell how a file differs from its pin."""
    return FetchError(
        f"{expected.label} is not the file that was pinned.",
        remedy,
        [
            f"expected {expected.bytes} bytes, sha256 {expected.sha256}",
            f"found    {size} bytes, sha256 {digest}",
        ],
    )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FetchError(
            f"The store's folder {folder} cannot be made: {error.strerror}.",
            "Set RECEIPTS_CACHE to a folder that you may write to.",
        ) from error
