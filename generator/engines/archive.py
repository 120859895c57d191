"""Release archives: looked through as a stream, and unpacked once nothing in them can do harm."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.engines.packed import PackedFile, PackedLink, opened


@dataclass(frozen=True)
class Contents:
    """What an archive holds.

    Attributes:
        digests: The sha256 of each file.
        bytes: How long the files are together.
        links: For each link the name of the file or link beside it.
    """

    digests: Mapping[str, str]
    links: Mapping[str, str]
    bytes: int


def contents(archive: Path, label: str) -> Contents:
    """Return what an archive holds, without writing anything.

    Raises:
        FetchError: It is damaged, or has something that may not come out.
    """
    digests: dict[str, str] = {}
    links: dict[str, str] = {}
    size = 0
    with opened(archive, label) as members:
        for member in members:
            match member:
                case PackedFile():
                    digest = hashlib.sha256()
                    for block in member.blocks:
                        digest.update(block)
                        size += len(block)
                    digests[member.name] = digest.hexdigest()
                case PackedLink():
                    links[member.name] = member.target
    return Contents(digests, links, size)


def unpack(archive: Path, folder: Path, label: str) -> None:
    """Unpack an archive into a folder that does not exist yet; nobody may write to its files.

    Raises:
        FetchError: It is damaged, or has something that may not come out; what was unpacked so far
            is for the caller to remove.
    """
    links: list[PackedLink] = []
    with opened(archive, label) as members:
        folder.mkdir()
        for member in members:
            match member:
                case PackedFile():
                    _write(folder / member.name, member)
                case PackedLink():
                    links.append(member)
        for link in links:  # last, so that nothing is ever written through one
            place = folder / link.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(link.target)


def _write(place: Path, member: PackedFile) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as out:
        for block in member.blocks:
            out.write(block)
    place.chmod(0o555 if member.executable else 0o444)
