"""The lock of an article: two runs of it cannot mix, and it is told who is in the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from generator.errors import RunError
from generator.run import utc_now

WORK = ".work"
# what `write_atomically` leaves among an article's receipts if it is killed
HALF_WRITTEN = (".*.json.????????", ".SHA256SUMS.????????")


@contextmanager
def locked(root: Path, article: str) -> Iterator[None]:
    """Hold an article's lock, and remove what a run that was killed left half-written.

    Raises:
        RunError: Somebody else holds it, and the message names the process; or the folder cannot be
            written to.
    """
    folder = root / WORK
    holder = folder / f"{article}.holder"
    lock = FileLock(folder / f"{article}.lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
        holder.write_text(f"process {os.getpid()}, since {utc_now()}", encoding="utf-8")
    except Timeout as error:
        name = "an unknown process"
        with suppress(FileNotFoundError):
            name = holder.read_text(encoding="utf-8") or name
        raise RunError(
            f"{article} is being measured already ({name}).",
            "Wait until that run ends, or stop it; what it has measured is kept.",
        ) from error
    except OSError as error:
        lock.release()
        raise RunError(
            f"{folder} cannot be written to: {error.strerror or error}.",
            "Measure in a folder that you may write to, on a disk that has room.",
        ) from error
    try:
        for pattern in HALF_WRITTEN:
            for left in (root / "receipts" / article).glob(pattern):
                left.unlink()
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()
