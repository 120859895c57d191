"""The members of an archive, one after another, each checked before its content is read."""

from __future__ import annotations

import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from generator.engines.archive_gate import Gate
from generator.errors import FetchError
from generator.models.digests import BLOCK
from generator.models.disk import disk_error

_LONGEST_TARGET = 1_000
_DAMAGE = (
    EOFError,
    NotImplementedError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class PackedFile:
    """A file in an archive, its content as blocks that can be read once."""

    name: str
    executable: bool
    blocks: Iterator[bytes]


@dataclass(frozen=True)
class PackedLink:
    """A link in an archive, to a file beside it."""

    name: str
    target: str


Packed = PackedFile | PackedLink


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@contextmanager
def opened(archive: Path, label: str) -> Iterator[Iterator[Packed]]:
    """Open an archive, whose kind its first bytes tell; what is wrong with it is a FetchError."""
    try:
        gate = Gate(label, archive.stat().st_size)
        with archive.open("rb") as file:
            magic = file.read(6)
        if magic.startswith(b"PK"):
            with zipfile.ZipFile(archive) as packed, closing(_zipped(packed, gate)) as members:
                yield members
        elif magic.startswith(b"\x1f\x8b"):
            with gzip.open(archive) as unzipped, closing(_tarred(unzipped, gate)) as members:
                yield members
        elif magic == b"\xfd7zXZ\x00":
            with lzma.open(archive) as unpacked, closing(_tarred(unpacked, gate)) as members:
                yield members
        else:
            raise FetchError(
                f"{label}: its file is no archive that can be unpacked: it begins with {magic!r}.",
                "Pin a .tar.gz, .tar.xz or .zip in receipts/pins/engines.yaml.",
            )
    except _DAMAGE as error:
        raise FetchError(
            f"{label}: its archive is damaged or cut short: {error}.",
            "Nothing of it was kept; pin a whole archive in receipts/pins/engines.yaml.",
        ) from error
    except OSError as error:
        raise disk_error(label, error) from error


class _Counted:
    """A stream whose bytes are counted as they come out, headers of the archive included."""

    def __init__(self, stream: _Readable, gate: Gate) -> None:
        self._stream = stream
        self._gate = gate

    def read(self, size: int, /) -> bytes:
        block = self._stream.read(size)
        self._gate.count(len(block))
        return block


def _tarred(stream: _Readable, gate: Gate) -> Generator[Packed, None, None]:
    with tarfile.open(fileobj=_Counted(stream, gate), mode="r|") as tar:  # type: ignore[call-overload]
        for info in tar:
            if info.isdir():
                gate.folder(info.name)
            elif info.issym():
                yield PackedLink(gate.link(info.name, info.linkname), info.linkname)
            elif info.isreg() and not info.issparse():
                name = gate.file(info.name)
                tarfile.data_filter(info, "/nonexistent")  # what Python refuses, should we not
                content = tar.extractfile(info)
                if content is not None:
                    yield PackedFile(name, bool(info.mode & stat.S_IXUSR), _blocks(content))
            else:
                raise gate.refuse(f"a {_kind(info)}, {info.name!r}")
    gate.close()


def _kind(info: tarfile.TarInfo) -> str:
    if info.islnk():
        return f"hard link (to {info.linkname!r})"
    return "sparse file" if info.isreg() else "device, pipe or other special file"


def _zipped(packed: zipfile.ZipFile, gate: Gate) -> Generator[Packed, None, None]:
    for info in packed.infolist():
        mode = info.external_attr >> 16
        if info.flag_bits & 1:
            raise gate.refuse(f"a member that is locked by a password, {info.filename!r}")
        if info.is_dir():
            gate.folder(info.filename)
        elif stat.S_ISLNK(mode):
            with packed.open(info) as stream:
                target = stream.read(_LONGEST_TARGET).decode("utf-8", "replace")
            yield PackedLink(gate.link(info.filename, target), target)
        elif stat.S_IFMT(mode) in {0, stat.S_IFREG}:
            name = gate.file(info.filename)
            with packed.open(info) as stream:
                blocks = _blocks(_Counted(stream, gate))
                yield PackedFile(name, bool(mode & stat.S_IXUSR), blocks)
        else:
            what = f"a device, pipe or other special file, {info.filename!r}"
            raise gate.refuse(what)
    gate.close()


def _blocks(stream: _Readable | IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block
