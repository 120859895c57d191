"""Release archives: what real ones hold comes out, and nothing that could do harm does."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from generator.engines import archive_gate
from generator.engines.archive import contents, unpack
from generator.errors import FetchError
from tests.unit.engines.archives import DANGERS, MAKERS, SERVER, WHOLE, Entry, tarred, zipped
from tests.unit.models.wheel_maker import digest

LIBRARY = "build/bin/libllama.so.0.0.6543"
IN_TAR_ONLY = {"hard-link"}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_release_comes_out_as_it_was_packed(kind: str, tmp_path: Path) -> None:
    archive = MAKERS[kind](tmp_path / "release", WHOLE)
    unpack(archive, tmp_path / "tree", "tiny")
    server, link = tmp_path / "tree" / SERVER, tmp_path / "tree/build/bin/libllama.so"
    assert server.read_bytes() == b"a program"
    assert server.stat().st_mode & 0o7777 == 0o555
    assert (tmp_path / "tree/LICENSE").stat().st_mode & 0o7777 == 0o444
    assert link.readlink() == Path("libllama.so.0")
    assert link.read_bytes() == b"a library"
    found = contents(archive, "tiny")
    assert found.digests == {
        SERVER: digest(b"a program"),
        LIBRARY: digest(b"a library"),
        "LICENSE": digest(b"MIT"),
    }
    assert found.links == {
        "build/bin/libllama.so": "libllama.so.0",
        "build/bin/libllama.so.0": "libllama.so.0.0.6543",
    }


def test_names_as_tar_writes_them_from_a_folder(tmp_path: Path) -> None:
    entries = (Entry("./", type=b"5"), Entry("./llama-b1/llama-server"))
    assert list(contents(tarred(tmp_path / "a", entries), "tiny").digests) == [
        "llama-b1/llama-server"
    ]


CASES = [
    (kind, danger)
    for kind in MAKERS
    for danger in DANGERS
    if kind.startswith("tar") or danger not in IN_TAR_ONLY
]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("kind", "danger"), CASES)
def test_a_danger_is_named_and_does_no_harm(kind: str, danger: str, tmp_path: Path) -> None:
    entry, told = DANGERS[danger]
    archive = MAKERS[kind](tmp_path / "release", (*WHOLE, entry))
    for read in (
        lambda: contents(archive, "tiny"),
        lambda: unpack(archive, tmp_path / "deep/er/tree", "tiny"),
    ):
        (tmp_path / "deep/er").mkdir(parents=True, exist_ok=True)
        with pytest.raises(FetchError, match=told) as caught:
            read()
        assert caught.value.what.startswith("tiny: its archive has ")
    outside = {p for p in tmp_path.rglob("*") if not p.is_relative_to(tmp_path / "deep/er/tree")}
    assert outside == {archive, tmp_path / "deep", tmp_path / "deep/er"}
    unpacked = [p for p in (tmp_path / "deep/er/tree").rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in unpacked) < archive_gate.ALWAYS_ALLOWED + (2 << 20)


@pytest.mark.parametrize("kind", MAKERS)
def test_too_many_members(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_gate, "MOST_MEMBERS", 5)
    archive = MAKERS[kind](tmp_path / "release", WHOLE)
    with pytest.raises(FetchError, match="more than 5 members"):
        contents(archive, "tiny")


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("kept", [0.9, 0.5, 0.02])
def test_an_archive_cut_short(kind: str, kept: float, tmp_path: Path) -> None:
    noise = bytes(i * i % 251 for i in range(200_000))
    archive = MAKERS[kind](tmp_path / "release", (*WHOLE, Entry("more", noise)))
    body = archive.read_bytes()
    archive.write_bytes(body[: int(len(body) * kept)])
    with pytest.raises(FetchError, match="damaged or cut short"):
        unpack(archive, tmp_path / "tree", "tiny")


def test_a_size_that_lies_does_not_let_a_bomb_through(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "release", (Entry("zeros", b"\0" * (17 << 20)),))
    body = archive.read_bytes()
    true, false = struct.pack("<I", 17 << 20), struct.pack("<I", 10)
    assert body.count(true) == 2
    archive.write_bytes(body.replace(true, false))
    with pytest.raises(FetchError, match="damaged or cut short"):
        contents(archive, "tiny")


def test_a_member_locked_by_a_password(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "release", WHOLE)
    with zipfile.ZipFile(archive) as opened:
        at = opened.start_dir
    body = bytearray(archive.read_bytes())
    body[at + 8] |= 1
    archive.write_bytes(body)
    with pytest.raises(FetchError, match="locked by a password"):
        contents(archive, "tiny")


def test_a_sparse_file_is_refused(tmp_path: Path) -> None:
    entry = replace(WHOLE[1], type=b"S", body=b"")
    archive = tarred(tmp_path / "release", (entry,))
    with pytest.raises(FetchError, match="a sparse file"):
        contents(archive, "tiny")


def test_what_is_no_archive(tmp_path: Path) -> None:
    page = tmp_path / "release"
    page.write_text("<html>Not found")
    with pytest.raises(
        FetchError, match="no archive that can be unpacked: it begins with b'<html>"
    ):
        contents(page, "tiny")


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "release", WHOLE)
    (tmp_path / "tree").mkdir()
    with pytest.raises(FetchError, match="tiny could not be stored"):
        unpack(archive, tmp_path / "tree", "tiny")
