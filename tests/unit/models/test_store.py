"""The store: verified files only, remembered digests, and one fetch at a time."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock

from generator.errors import FetchError
from generator.models import digests
from generator.models.disk import disk_error
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Expected, Store
from generator.pin_types import ModelPin, PathSource
from tests.unit.models.heard import Heard
from tests.unit.models.wheel_maker import digest

BODY = b"GGUF and so on"
EXPECTED = Expected("tiny", len(BODY), digest(BODY))


def own_file(path: str, body: bytes = BODY) -> ModelPin:
    return ModelPin(
        name="tiny",
        title="Tiny",
        license="MIT",
        file="tiny.gguf",
        quantization="F32",
        bytes=len(body),
        sha256=digest(body),
        source=PathSource(type="path", path=path),
    )


def test_added_file_is_kept_read_only_under_its_digest(store: Store) -> None:
    made = store.root / "scratch" / "made"
    made.write_bytes(BODY)
    place = store.add(made, EXPECTED, digest(BODY))
    assert place == store.path(EXPECTED.sha256) == store.verified(EXPECTED)
    assert place.relative_to(store.root).as_posix() == f"sha256/{digest(BODY)[:2]}/{digest(BODY)}"
    assert place.stat().st_mode & 0o222 == 0
    assert not made.exists()


def test_other_file_is_not_added(store: Store) -> None:
    made = store.root / "scratch" / "made"
    made.write_bytes(b"other")
    with pytest.raises(FetchError, match=f"expected 14 bytes, sha256 {EXPECTED.sha256}"):
        store.add(made, EXPECTED, digest(b"other"))
    assert not made.exists()
    assert store.path(EXPECTED.sha256) is None
    with pytest.raises(FetchError, match="not in the store"):
        store.verified(EXPECTED)


def test_digest_is_computed_once_until_the_file_changes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big"
    path.write_bytes(BODY)
    assert store.digest(path) == digest(BODY)
    with monkeypatch.context() as patched:
        patched.setattr(digests, "digest_of", None)
        assert Store(store.root).digest(path) == digest(BODY)
    before = path.stat()
    path.write_bytes(BODY[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.digest(path) == digest(BODY[::-1])


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', "\0"])
def test_spoiled_digest_cache_is_computed_anew(content: str, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(BODY)
    (store.root / "digests.json").write_text(content)
    assert store.digest(path) == digest(BODY)
    assert json.loads((store.root / "digests.json").read_text())[str(path)]["sha256"]


def test_digests_of_gone_files_are_forgotten(store: Store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
        store.digest(tmp_path / name)
        (tmp_path / "a").unlink(missing_ok=True)
    assert list(json.loads((store.root / "digests.json").read_text())) == [str(tmp_path / "b")]


def test_scratch_is_emptied_of_what_a_killed_process_left(store: Store) -> None:
    left = store.root / "scratch" / "key"
    left.mkdir()
    (left / "half").write_text("x")
    with store.scratch("key", "tiny", NoProgress()) as folder:
        assert list(folder.iterdir()) == []
    assert not left.exists()


def test_second_process_waits_and_says_so(store: Store, heard: Heard) -> None:
    held = threading.Event()

    def hold() -> None:
        with FileLock(store.root / "locks" / "key.lock"):
            held.set()
            time.sleep(1.3)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    with store.scratch("key", "tiny", heard) as folder:
        assert folder.is_dir()
    holder.join()
    assert heard.labels == ["tiny: waiting for another process that fetches it"]


def test_users_store_is_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECEIPTS_CACHE", str(tmp_path / "here"))
    assert Store.of_user().root == tmp_path / "here"
    monkeypatch.delenv("RECEIPTS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Store.of_user().root.name == "published-receipts"
    assert Store.of_user().root.is_relative_to(tmp_path)


def test_store_which_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match="cannot be made") as caught:
        Store(tmp_path / "file" / "store")
    assert "RECEIPTS_CACHE" in caught.value.remedy


def test_own_file_is_used_in_place(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(BODY)
    path = fetch_model(own_file("mine.gguf"), store, NoProgress(), root=tmp_path)
    assert path == tmp_path / "mine.gguf"
    absolute = own_file(str(tmp_path / "mine.gguf"))
    assert fetch_model(absolute, store, NoProgress()) == tmp_path / "mine.gguf"


def test_own_file_missing_or_other(store: Store, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="there is no file at"):
        fetch_model(own_file("mine.gguf"), store, NoProgress(), root=tmp_path)
    (tmp_path / "mine.gguf").write_bytes(b"<html>")
    with pytest.raises(FetchError, match="found    6 bytes"):
        fetch_model(own_file("mine.gguf"), store, NoProgress(), root=tmp_path)
    assert (tmp_path / "mine.gguf").read_bytes() == b"<html>"


def test_digests_which_cannot_be_kept_are_known_to_this_process(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.root / "digests.json").mkdir()
    path = tmp_path / "big"
    path.write_bytes(BODY)
    assert store.digest(path) == digest(BODY)
    assert sorted(p.name for p in store.root.glob("digests.json*")) == ["digests.json"]
    with monkeypatch.context() as patched:
        patched.setattr(digests, "digest_of", None)
        assert store.digest(path) == digest(BODY)
    path.write_bytes(BODY[::-1])
    assert store.digest(path) == digest(BODY[::-1])


def test_distrusting_store_reads_each_file_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big"
    path.write_bytes(BODY)
    store.note(path, "0" * 64)
    assert store.digest(path) == "0" * 64
    anew = store.distrusting()
    assert anew.digest(path) == digest(BODY)
    monkeypatch.setattr(digests, "digest_of", None)
    assert anew.digest(path) == Store(store.root).digest(path) == digest(BODY)


def test_verifying_is_heard_where_the_file_must_be_read(
    store: Store, tmp_path: Path, heard: Heard
) -> None:
    path = tmp_path / "big"
    path.write_bytes(BODY)
    store.verify(path, EXPECTED, heard)
    store.verify(path, EXPECTED, heard)
    assert (heard.labels, heard.bytes, heard.ended) == (["tiny: verifying"], len(BODY), 1)


@pytest.mark.parametrize(
    ("number", "what", "remedy"),
    [
        (errno.ENOSPC, "The disk is full: tiny could not be stored", "Free some space"),
        (errno.EDQUOT, "The disk is full: tiny could not be stored", "Free some space"),
        (errno.EFBIG, "tiny is larger than a file may be here", "ulimit -f"),
        (errno.EROFS, "the store may not be written to", "RECEIPTS_CACHE"),
        (errno.EACCES, "the store may not be written to", "RECEIPTS_CACHE"),
        (errno.EIO, "tiny could not be stored: Input/output error", "Check the disk"),
    ],
)
def test_each_refusal_of_the_disk_is_told_apart(number: int, what: str, remedy: str) -> None:
    told = disk_error("tiny", OSError(number, os.strerror(number)))
    assert what in told.what
    assert os.strerror(number) in told.what
    assert remedy in told.remedy


@pytest.mark.parametrize("cut", [0, 1])
def test_a_file_that_changes_while_it_is_read_is_not_remembered(tmp_path: Path, cut: int) -> None:
    path, kept = tmp_path / "big", digests.Digests(tmp_path / "kept.json", tmp_path / "lock")
    path.write_bytes(BODY)

    def overwrite(_count: int) -> None:
        path.write_bytes(BODY[cut:][::-1])

    assert kept.of(path, overwrite) == digest(BODY)
    assert kept.known(path) is None
    assert kept.of(path) == digest(BODY[cut:][::-1])
