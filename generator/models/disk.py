"""What a disk refuses, told so that the user can do something about it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from generator.errors import FetchError

_SPARE_BYTES = 64 << 20
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_ELSEWHERE = "set RECEIPTS_CACHE to a folder on a larger disk"


def disk_error(label: str, error: OSError) -> FetchError:
    """Tell of a file that could not be written, such as on a full disk.

    Args:
        label: What was to be stored.
        error: What the system said.
    """
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return FetchError(
            f"The disk is full: {label} could not be stored ({reason}).",
            f"Free some space, or {_ELSEWHERE}; nothing of it was kept.",
        )
    if error.errno == errno.EFBIG:
        return FetchError(
            f"{label} is larger than a file may be here ({reason}).",
            f"Raise the limit (`ulimit -f`), or {_ELSEWHERE}; nothing of it was kept.",
        )
    if error.errno in _FORBIDDEN:
        return FetchError(
            f"{label} could not be stored: the store may not be written to ({reason}).",
            "Set RECEIPTS_CACHE to a folder that you may write to, or let the store's owner run"
            " `receipts fetch`.",
        )
    return FetchError(
        f"{label} could not be stored: {reason}.",
        "Check the disk, or set RECEIPTS_CACHE to another folder.",
    )


def ensure_space(folder: Path, needed: int, label: str) -> None:
    """Refuse to begin what cannot be finished.

    Raises:
        FetchError: The disk has less than *needed* bytes and a little over.
    """
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise FetchError(
            f"{label} needs {needed:,} more bytes on disk, and only {free:,} are free at {folder}.",
            f"Free some space, or {_ELSEWHERE}.",
        )
