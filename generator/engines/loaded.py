"""Which files a program has loaded, and which of them are the engine's and not the system's."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/System")
_ENGINE = re.compile(r"lib(llama|ggml|mtmd)\b")
_CODE = re.compile(r"[0-9a-f]+-[0-9a-f]+ ..x. \S+ \S+ \d+ +(/.*)")
_LIBRARY = re.compile(r".+\.(so(\.[0-9]+)*|dylib)")


def is_a_library(name: str) -> bool:
    """Tell a shared library by its name."""
    return bool(_LIBRARY.fullmatch(name))


def is_the_engines(file: Path, program: Path) -> bool:
    """Tell a file of the engine from one of the system, which may change with any update.

    Args:
        file: A file that the program loads, its links followed.
        program: The program, its links followed.
    """
    beside = file.is_relative_to(program.parent)
    system = any(file.is_relative_to(folder) for folder in _SYSTEM)
    return beside or not system or bool(_ENGINE.match(file.name))


def loaded_code(pid: int) -> list[Path] | None:
    """Return the files whose code a process has loaded, or None where the system does not tell.

    A file that was removed or replaced since has ` (deleted)` at the end of its name.

    Args:
        pid: The process.
    """
    if sys.platform != "linux":
        return None
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    found = (_CODE.fullmatch(line) for line in maps.splitlines())
    return sorted({Path(match[1]) for match in found if match is not None})
