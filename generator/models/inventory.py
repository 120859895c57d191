"""What the store has of the models that are pinned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_never

from generator.models.named import named_key
from generator.models.part import Part
from generator.models.sources import path_of
from generator.models.store import Store
from generator.pin_types import ModelFile, ModelPin, PackageSource, PathSource, Source, UrlSource


@dataclass(frozen=True)
class FileState:
    """One of a model's files, and what there is of it.

    Attributes:
        origin: Where it can be had: packages, addresses or a path.
        state: Whether it is here. Nothing is verified by that.
        have_bytes: How much of it is here.
    """

    file: str
    bytes: int
    sha256: str
    origin: tuple[str, ...]
    state: Literal["here", "partial", "absent"]
    have_bytes: int


def survey(pin: ModelPin, store: Store, root: Path) -> tuple[FileState, ...]:
    """Look for each file of a model.

    Args:
        pin: The model.
        store: Where fetched files are kept.
        root: What a relative path starts from.
    """
    return tuple(_state(file, store, root) for file in pin.files)


def kept_at(file: ModelFile, store: Store, root: Path) -> Path | None:
    """Return where a file is, if it is here."""
    if isinstance(file.source, PathSource):
        path = path_of(file.source, root)
        return path if path.is_file() else None
    return store.path(file.sha256)


def place_of(pin: ModelPin, store: Store, root: Path) -> Path | None:
    """Return the file that an engine would be given, if it is here; it is not verified."""
    if pin.shards and not isinstance(pin.source, PathSource):
        place = store.named_root(named_key(pin)) / pin.file
        return place if place.is_file() else None
    return kept_at(pin.files[0], store, root)


def _state(file: ModelFile, store: Store, root: Path) -> FileState:
    origin = _origin(file.source)
    place = kept_at(file, store, root)
    if place is not None:
        have = place.stat().st_size
        return FileState(file.file, file.bytes, file.sha256, origin, "here", have)
    come = Part(store.partial(file.sha256)).size
    state: Literal["partial", "absent"] = "partial" if come else "absent"
    return FileState(file.file, file.bytes, file.sha256, origin, state, come)


def _origin(source: Source) -> tuple[str, ...]:
    match source:
        case PackageSource():
            return tuple(f"{part.distribution} {part.version}" for part in source.parts)
        case UrlSource():
            return source.urls
        case PathSource():
            return (source.path,)
        case _:
            assert_never(source)
