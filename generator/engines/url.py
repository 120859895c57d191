"""llama.cpp's server as somebody released it: an archive, unpacked into the store and verified."""

from __future__ import annotations

from pathlib import Path

from generator.engines.archive import Contents, contents, unpack
from generator.engines.base import LoadedFile, Obtained
from generator.engines.guarded import GuardedEngine
from generator.engines.loaded import is_a_library, is_the_engines
from generator.engines.native import NativeEngine
from generator.engines.probe import Probe, probe
from generator.errors import FetchError
from generator.models.progress import Progress
from generator.models.store import Expected, Store
from generator.models.url import fetch_url
from generator.pin_types import Archive, UrlEngine
from generator.pins import platform_name


def obtain(pin: UrlEngine, store: Store, progress: Progress) -> Obtained:
    """Fetch, unpack and verify the release for this machine.

    Raises:
        FetchError: It cannot be had, or is not what was pinned.
        EngineError: It cannot be run.
    """
    archive = archive_here(pin)
    expected = Expected(pin.name, archive.bytes, archive.sha256)
    root = store.engine_root(archive.sha256)
    if not root.is_dir() or store.path(archive.sha256) is None:
        with store.scratch(archive.sha256, pin.name, progress) as scratch:
            _fetch(pin, archive, store, scratch, progress)
    # The archive is kept: its digest is pinned, and everything else follows from it.
    holds = contents(store.verified(expected, progress), pin.name)
    _verify_tree(pin, root, holds, store)
    program = (root / archive.member).resolve()
    environment = run_environment(program)
    seen = probe(program, environment)
    loadable = {
        name: digest
        for name, digest in holds.digests.items()
        if name == archive.member or is_a_library(name)
    }
    files = {(root / name).resolve(): digest for name, digest in loadable.items()}
    _compare(pin, seen, files, program)
    return Obtained(
        engine=GuardedEngine(
            inner=NativeEngine(program, environment=environment),
            label=pin.name,
            program=program,
            files=files,
            build=pin.build,
            digest=store.digest,
        ),
        version=seen.version,
        build=pin.build,
        origin_sha256=archive.sha256,
        files=tuple(
            LoadedFile(name, (root / name).stat().st_size, digest)
            for name, digest in sorted(loadable.items())
        ),
        built=seen.built,
    )


def run_environment(program: Path) -> dict[str, str]:
    """Return what lets a program take its libraries from beside it and not from elsewhere."""
    return {"LD_LIBRARY_PATH": str(program.parent)}


def archive_here(pin: UrlEngine) -> Archive:
    """Return the archive for this machine.

    Raises:
        FetchError: None is pinned.
    """
    here = platform_name()
    for name, archive in pin.archives.items():
        if name == here:
            return archive
    raise FetchError(
        f"{pin.name} is not pinned for {here}, only for {', '.join(pin.archives)}.",
        "Run it on one of these, or pin a release for this machine in receipts/pins/engines.yaml.",
    )


def _fetch(
    pin: UrlEngine, archive: Archive, store: Store, scratch: Path, progress: Progress
) -> None:
    expected = Expected(pin.name, archive.bytes, archive.sha256)
    packed = store.path(archive.sha256) or fetch_url(archive.urls, expected, store, progress)
    root = store.engine_root(archive.sha256)
    if root.is_dir():
        return
    tree = scratch / "tree"
    try:
        holds = contents(store.verified(expected, progress), pin.name)
        if archive.member not in holds.digests:
            raise _no_member(pin, archive, holds)
        store.ensure_space(holds.bytes, pin.name)
        unpack(packed, tree, pin.name)
    except FetchError:
        packed.unlink()
        raise
    (tree / archive.member).chmod(0o555)  # a zip from elsewhere may not say that it is a program
    tree.replace(root)


def _no_member(pin: UrlEngine, archive: Archive, holds: Contents) -> FetchError:
    name = archive.member.rpartition("/")[2]
    near = [member for member in holds.digests if member.rpartition("/")[2] == name]
    return FetchError(
        f"{pin.name}: its archive has no file {archive.member}.",
        f"Mend `member` in receipts/pins/engines.yaml: write {near[0]}."
        if near
        else "Pin an archive with llama-server in it, and its place there as `member`.",
        [f"It has {len(holds.digests)} files, such as {', '.join(sorted(holds.digests)[:4])}."],
    )


def _verify_tree(pin: UrlEngine, root: Path, holds: Contents, store: Store) -> None:
    """Compare what lies in the store, link by link and file by file, with the archive."""
    files: set[str] = set()
    links: dict[str, str] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            links[name] = str(path.readlink())
        elif not path.is_dir():
            files.add(name)
    odd = sorted(
        (files ^ holds.digests.keys()) | {n for n, _ in links.items() ^ holds.links.items()}
    )
    if odd:
        raise _changed(pin, root, f"{odd[0]} is not in it as it is in the archive")
    for name, digest in sorted(holds.digests.items()):
        found = store.digest(root / name)
        if found != digest:
            raise _changed(pin, root, f"{name}: expected sha256 {digest}, found {found}")


def _changed(pin: UrlEngine, root: Path, how: str) -> FetchError:
    return FetchError(
        f"{pin.name} is not the engine that was pinned.",
        f"Remove {root} and run `receipts fetch`.",
        [how],
    )


def _compare(pin: UrlEngine, seen: Probe, files: dict[Path, str], program: Path) -> None:
    if seen.build != pin.build:
        raise FetchError(
            f"{pin.name} says that it is build {seen.build}, and build {pin.build} is pinned.",
            "Mend `build` in receipts/pins/engines.yaml, or pin another archive.",
        )
    for name, path in seen.libraries.items():
        if path not in files and is_the_engines(path, program):
            raise FetchError(
                f"{pin.name} loads {name} from outside its archive: {path}.",
                "Pin an archive that has all of the engine's libraries.",
            )
