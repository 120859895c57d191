"""A YAML document as plain data, with the position of every key and value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Path_ = tuple[str | int, ...]
Position = tuple[int, int]

_SIMPLE_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_SHOWN = 60


@dataclass(frozen=True)
class Place:
    """Where one value stands, and how it was written.

    Attributes:
        key: Line and column of its key (of the entry itself in a list), counted from 1.
        value: Line and column of the value, counted from 1.
        written: A scalar as it stands in the file; None for mappings and lists.
    """

    key: Position
    value: Position
    written: str | None = None


@dataclass(frozen=True)
class Document:
    """One file's data.

    Attributes:
        name: The file as it is named in faults.
        data: Nested dicts, lists, texts, numbers, booleans and None.
        places: The place of each path in the data.
        sha256: The digest of the file's bytes.
    """

    name: str
    data: dict[str, Any]
    places: Mapping[Path_, Place] = field(repr=False)
    sha256: str

    def where(self, path: Path_, *, key: bool = False) -> Position:
        """Find where *path* stands in the file.

        Args:
            path: Keys and indices from the top of the document.
            key: Give the position of the key rather than that of its value.

        Returns:
            Line and column, counted from 1, of the nearest part of *path* that exists.
        """
        while path not in self.places:
            path, key = path[:-1], True
        place = self.places[path]
        return place.key if key else place.value

    def at(self, path: Path_) -> Any:
        """Return what stands at *path*."""
        value: Any = self.data
        for step in path:
            value = value[step]
        return value

    def found(self, path: Path_) -> str:
        """Say in a few words what stands at *path*, a scalar as it was written."""
        value = self.at(path)
        if isinstance(value, dict):
            return "a mapping"
        if isinstance(value, list):
            return "a list"
        if value is None:
            return "nothing"
        written = self.places[path].written or ""
        return shorten(repr(value) if isinstance(value, str) else written)


def shorten(text: str) -> str:
    """Cut *text* to what a fault's line can hold."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def path_text(path: Path_) -> str:
    """Write *path* as in ``$.experiments.five-runs.asks[0]``."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _SIMPLE_KEY.fullmatch(step):
            text += f".{step}"
        else:
            text += f"[{shorten(step)!r}]"
    return text


def display_name(root: Path, path: Path) -> str:
    """Name *path* as faults do: relative to *root* where it lies inside it."""
    full = path.resolve()
    base = root.resolve()
    return full.relative_to(base).as_posix() if full.is_relative_to(base) else str(path)
