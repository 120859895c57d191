"""One entry to every type of engine: fetched or built, verified, ready to launch."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from generator import pin_types
from generator.engines import path, source, url, wheel
from generator.engines.base import Obtained
from generator.models.engine_files import artifact_here
from generator.models.progress import Progress
from generator.models.store import Store


def obtain(pin: pin_types.EnginePin, store: Store, progress: Progress, root: Path) -> Obtained:
    """Give an engine, verified, fetching or building it unless it is there.

    Args:
        pin: The engine.
        store: Where it is kept.
        progress: Hears of what takes time.
        root: What a relative `path` starts from.

    Raises:
        FetchError: It cannot be had, or is not what was pinned.
    """
    match pin:
        case pin_types.WheelEngine():
            return wheel.obtain(pin, store, progress)
        case pin_types.SourceEngine():
            return source.obtain(pin, store, progress)
        case pin_types.UrlEngine():
            return url.obtain(pin, store, progress)
        case pin_types.PathEngine():
            return path.obtain(pin, store, root)
        case _:
            assert_never(pin)


def present(pin: pin_types.EnginePin, store: Store, root: Path) -> bool:
    """Tell whether an engine is there, so that it needs neither fetching nor building.

    Args:
        pin: The engine; it is not verified.
        store: Where it is kept.
        root: What a relative `path` starts from.

    Raises:
        FetchError: It can never be there, since nothing is pinned for this machine.
    """
    match pin:
        case pin_types.WheelEngine():
            return store.engine_root(artifact_here(pin).sha256).is_dir()
        case pin_types.SourceEngine():
            return bool(source.finished(pin, store))
        case pin_types.UrlEngine():
            return store.engine_root(url.archive_here(pin).sha256).is_dir()
        case pin_types.PathEngine():
            return (root / Path(pin.path).expanduser()).is_file()
        case _:
            assert_never(pin)
