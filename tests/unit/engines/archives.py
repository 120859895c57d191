"""Archives made on the spot, each with one thing in it that must not come out."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SERVER = "build/bin/llama-server"


@dataclass(frozen=True)
class Entry:
    """One member: a file by default."""

    name: str
    body: bytes = b"x"
    mode: int = 0o644
    type: bytes = tarfile.REGTYPE
    target: str = ""


WHOLE = (
    Entry("build/bin/", type=tarfile.DIRTYPE, mode=0o755),
    Entry(SERVER, b"a program", 0o4755),
    Entry("build/bin/libllama.so", type=tarfile.SYMTYPE, target="libllama.so.0"),
    Entry("build/bin/libllama.so.0", type=tarfile.SYMTYPE, target="libllama.so.0.0.6543"),
    Entry("build/bin/libllama.so.0.0.6543", b"a library", 0o755),
    Entry("LICENSE", b"MIT", 0o666),
)
DANGERS: dict[str, tuple[Entry, str]] = {
    "escape": (Entry("build/../../evil"), "climbs out of its folder"),
    "escape-backslash": (Entry("..\\evil"), "climbs out of its folder"),
    "absolute": (Entry("/usr/evil"), "an absolute name"),
    "drive": (Entry("C:/evil"), "an absolute name"),
    "link-out": (
        Entry("build/bin/lib.so", type=tarfile.SYMTYPE, target="../../../etc/passwd"),
        "a link that leaves its folder",
    ),
    "link-absolute": (
        Entry("build/bin/lib.so", type=tarfile.SYMTYPE, target="/etc/passwd"),
        "a link that leaves its folder",
    ),
    "link-to-nothing": (
        Entry("build/bin/lib.so", type=tarfile.SYMTYPE, target="gone.so"),
        "a link that leads to no file",
    ),
    "link-to-itself": (
        Entry("build/bin/lib.so", type=tarfile.SYMTYPE, target="lib.so"),
        "a link that leads to no file",
    ),
    "link-to-a-folder": (
        Entry("build/way", type=tarfile.SYMTYPE, target="bin"),
        "a link that leads to no file",
    ),
    "hard-link": (Entry("passwd", type=tarfile.LNKTYPE, target="/etc/passwd"), "a hard link"),
    "device": (Entry("null", type=tarfile.CHRTYPE), "a device, pipe or other special file"),
    "pipe": (Entry("pipe", type=tarfile.FIFOTYPE), "a device, pipe or other special file"),
    "twice": (Entry(SERVER, b"another program"), "two members named"),
    "capitals": (Entry("build/bin/Llama-Server"), "differ in their capitals only"),
    "compatible": (Entry("build/bin/llama\uff0dserver"), "differ in their capitals only"),
    "file-and-folder": (Entry(f"{SERVER}/below"), "a file and a folder in one place"),
    "folder-and-file": (Entry("build/bin"), "a file and a folder named"),
    "no-name": (Entry("build//evil"), "an odd name"),
    "unseen-name": (Entry("evil\x1b[2J"), "an odd name"),
    "long-name": (Entry("x" * 300), "an odd name"),
    "bomb": (Entry("zeros", b"\0" * (17 << 20)), "a bomb"),
}


def tarred(path: Path, entries: tuple[Entry, ...], compression: str = "gz") -> Path:
    """Write a tar archive."""
    with tarfile.open(path, f"w:{compression}") as tar:  # type: ignore[call-overload]
        for entry in entries:
            info = tarfile.TarInfo(entry.name)
            info.type, info.mode, info.linkname = entry.type, entry.mode, entry.target
            info.size = len(entry.body) if entry.type == tarfile.REGTYPE else 0
            tar.addfile(info, io.BytesIO(entry.body))
    return path


def zipped(path: Path, entries: tuple[Entry, ...]) -> Path:
    """Write a zip archive as `zip -y` does on Linux."""
    kinds = {
        tarfile.REGTYPE: stat.S_IFREG,
        tarfile.SYMTYPE: stat.S_IFLNK,
        tarfile.DIRTYPE: stat.S_IFDIR,
        tarfile.CHRTYPE: stat.S_IFCHR,
        tarfile.FIFOTYPE: stat.S_IFIFO,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name)
            info.filename = entry.name  # as it stands: the constructor mends some of them
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (kinds[entry.type] | entry.mode) << 16
            body = entry.target.encode() if entry.target else entry.body
            archive.writestr(info, b"" if entry.type == tarfile.DIRTYPE else body)
    return path


Maker = Callable[[Path, tuple[Entry, ...]], Path]
MAKERS: dict[str, Maker] = {
    "tar.gz": tarred,
    "tar.xz": lambda path, entries: tarred(path, entries, "xz"),
    "zip": zipped,
}
