"""What a store holds that nobody needs: what no pin names, and what killed processes left."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from filelock import Timeout

from generator.errors import FetchError
from generator.models.named import named_key
from generator.models.scratch import lock_of
from generator.models.store import Store
from generator.pins import Pins

STALE_DAYS = 7
UNPINNED = "no pin names it"


@dataclass(frozen=True)
class Leftover:
    """Something in the store that nobody needs.

    Attributes:
        key: Which lock its maker would hold.
        path: The file or folder.
        why: Why nobody needs it.
        bytes: How much room it takes.
    """

    key: str
    path: Path
    why: str
    bytes: int


def leftovers(store: Store, pins: Pins) -> list[Leftover]:
    """Find what can go; what a process is working on cannot.

    Args:
        store: The store, which other projects may share: what only their pins name is found too.
        pins: What is needed.
    """
    files = {file.sha256 for model in pins.models.values() for file in model.files}
    origins = {origin for engine in pins.engines.values() for origin in engine.origins}
    named = {named_key(model) for model in pins.models.values()}
    found = [
        *_unpinned(sorted((store.root / "sha256").glob("*/*")), files | origins),
        *_unpinned(_entries(store, "engines"), origins),
        *_unpinned(_entries(store, "named"), named),
        *_partial(store, files | origins),
        *_building(store),
        *_worked_in(store),
    ]
    return [left for left in found if not _held(store, left.key)]


def remove(store: Store, left: Leftover) -> bool:
    """Remove something that was found, unless a process has begun to work on it meanwhile.

    Returns:
        Whether it is gone.

    Raises:
        FetchError: It may not be removed.
    """
    try:
        with lock_of(store.root, left.key).acquire(timeout=0):
            if left.path.is_dir() and not left.path.is_symlink():
                shutil.rmtree(left.path)
            else:
                left.path.unlink(missing_ok=True)
    except Timeout:
        return False
    except OSError as error:
        raise FetchError(
            f"{left.path} could not be removed: {error.strerror or error}.",
            "Let the store's owner do it.",
        ) from error
    return True


def _unpinned(paths: Sequence[Path], needed: AbstractSet[str]) -> Iterator[Leftover]:
    for path in paths:
        # What was built from an origin has more than its digest in its name.
        if not any(digest in path.name for digest in needed):
            yield Leftover(path.name, path, UNPINNED, _size(path))


def _partial(store: Store, needed: AbstractSet[str]) -> Iterator[Leftover]:
    for path in _entries(store, "partial"):
        days = _idle_days(path.lstat().st_mtime)
        if path.stem not in needed:
            why = UNPINNED
        elif store.path(path.stem) is not None:
            why = "the whole file is here"
        elif days > STALE_DAYS:
            why = f"nothing has come for {days:.0f} days"
        else:
            continue
        yield Leftover(path.stem, path, why, _size(path))


def _worked_in(store: Store) -> Iterator[Leftover]:
    why = "its process has ended"
    for path in _entries(store, "scratch"):
        yield Leftover(path.name, path, why, _size(path))
    for path in sorted(store.root.glob("digests.json.*")):
        yield Leftover("digests", path, why, _size(path))


def _building(store: Store) -> Iterator[Leftover]:
    for path in _entries(store, "builds"):
        days = _idle_days(max(inner.lstat().st_mtime for inner in (path, *path.iterdir())))
        if any((store.root / "engines").glob(f"*/{path.name}")):
            yield Leftover(path.name, path, "what it builds is here", _size(path))
        elif days > STALE_DAYS:
            yield Leftover(path.name, path, f"nothing was built for {days:.0f} days", _size(path))


def _idle_days(last_s: float) -> float:
    return (time.time() - last_s) / 86_400


def _entries(store: Store, folder: str) -> list[Path]:
    place = store.root / folder
    return sorted(place.iterdir()) if place.is_dir() else []


def _held(store: Store, key: str) -> bool:
    lock = lock_of(store.root, key)
    if not Path(lock.lock_file).exists():
        return False
    try:
        with lock.acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # whether it can be removed is seen when it is
        return False


def _size(path: Path) -> int:
    if not path.is_dir():
        return path.lstat().st_size
    files = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
    # What has other names too would not be freed.
    return sum(file.lstat().st_size for file in files if file.lstat().st_nlink == 1)
