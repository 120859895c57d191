"""Shards under their own names in one folder, as an engine looks for them beside the first.

The store keeps files under their digests; such a folder holds only links to them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from generator.models.disk import disk_error
from generator.models.progress import Progress
from generator.models.store import Store
from generator.pin_types import ModelPin


def named_key(pin: ModelPin) -> str:
    """Return the name of the folder for a model's shards: the same for the same names and bytes."""
    lines = "".join(f"{file.sha256}  {file.file}\n" for file in pin.files)
    return hashlib.sha256(lines.encode()).hexdigest()


def named_folder(
    pin: ModelPin, shards: Mapping[str, Path], store: Store, progress: Progress
) -> Path:
    """Give the folder in which a model's shards lie under their names, making it if need be.

    Args:
        pin: The model.
        shards: Where each shard is kept, verified, by its name.
        store: Where they are kept.
        progress: Hears of the waiting for another process.

    Raises:
        FetchError: It is not there and cannot be made.
    """
    key = named_key(pin)
    folder = store.named_root(key)
    if not _leads_to(folder, shards):
        label = f"{pin.name}: the folder of its shards"
        with store.scratch(key, label, progress) as scratch:
            try:
                if not _leads_to(folder, shards):
                    _make(folder, scratch / "named", shards, store)
            except OSError as error:
                raise disk_error(label, error) from error
    return folder


def _leads_to(folder: Path, shards: Mapping[str, Path]) -> bool:
    links = {name: folder / name for name in shards}
    return all(link.exists() and link.samefile(shards[name]) for name, link in links.items())


def _make(folder: Path, made: Path, shards: Mapping[str, Path], store: Store) -> None:
    # A further name changes a file's stamp, so what is known of it has to be said again.
    digests = {path: store.digest(path) for path in shards.values()}
    made.mkdir()
    for name, path in shards.items():
        try:
            # A program that resolves symbolic links would find the digest for a name.
            (made / name).hardlink_to(path)
        except OSError:  # another owner's file, or a file system without such links
            (made / name).symlink_to(os.path.relpath(path, folder))
    if folder.exists():  # it leads to files that were replaced since
        shutil.rmtree(folder)
    made.replace(folder)
    for path, digest in digests.items():
        store.note(path, digest)
