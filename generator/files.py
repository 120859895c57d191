"""Files written whole or not at all, so that no reader ever sees a part of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from generator.errors import RunError


def write_atomically(path: Path, text: str) -> None:
    """Write *text* to *path* so that a reader sees the old file or the new one, never a part.

    Raises:
        RunError: It cannot be written.
    """
    try:
        _replace(path, text)
    except OSError as error:
        raise RunError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Make room there, or get the right to write.",
        ) from error


def write_anew(texts: Mapping[Path, str], remedy: str) -> None:
    """Write files that somebody may have worked on since they were last written: all, or none.

    Args:
        texts: What each file is to hold.
        remedy: What to do if one of them is there and holds something else.

    Raises:
        RunError: One of them is there already and is another, or cannot be written.
    """
    for path, text in texts.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == text.encode()):
            raise RunError(f"{path} is there already, and is another.", remedy)
    for path, text in texts.items():
        write_atomically(path, text)


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
