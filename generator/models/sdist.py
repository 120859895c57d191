"""Source distributions by way of pip, without running anything of theirs.

Before pip keeps a source distribution it asks for its metadata by the build backend that the
distribution names: code of the distribution would run, and packages that nobody pinned would be
fetched for it. So pip is given a backend of that name that answers from the metadata which lies in
every source distribution.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from generator.models import pkg_info_backend
from generator.models.pip import Manner, Release, download_into, nothing_left
from generator.models.progress import Progress
from generator.models.store import Expected, Store
from generator.pin_types import SourceEngine


def fetch_sdist(pin: SourceEngine, store: Store, progress: Progress) -> Path:
    """Give a source distribution, verified, fetching it unless the store has it.

    Raises:
        FetchError: It cannot be had, or is not what was pinned.
    """
    expected = Expected(f"{pin.name}: {pin.distribution}", pin.bytes, pin.sha256)
    if store.path(pin.sha256) is None:
        with store.scratch(pin.sha256, pin.name, progress) as scratch:
            if store.path(pin.sha256) is None:
                store.ensure_space(2 * pin.bytes, pin.name)
                release = Release(pin.distribution, pin.version, pin.bytes, pin.sha256)
                path = _download(release, scratch, pin.name, progress)
                return store.add(path, expected, store.digest(path))
    return store.verified(expected, progress)


def sdist_manner(distribution: str, folder: Path) -> Manner:
    """Return how pip takes a source distribution without running anything of it.

    Args:
        distribution: The one that is asked for.
        folder: Where the backend is put that pip is given in its place.
    """
    backend = folder / "backend" / "setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    shutil.copyfile(pkg_info_backend.__file__, backend / "build_meta.py")
    return Manner(
        ["--no-binary", distribution, "--no-build-isolation"],
        {"PYTHONPATH": str(backend.parent)},
    )


def _download(release: Release, folder: Path, label: str, progress: Progress) -> Path:
    manner = sdist_manner(release.distribution, folder)
    download_into(folder, [release], manner, label, progress)
    for path in folder.glob(f"*-{release.version}.*"):
        return path
    raise nothing_left(release, label)
