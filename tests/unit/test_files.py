"""Tests of writing files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from generator.errors import RunError
from generator.files import write_anew, write_atomically


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    write_atomically(path, "old\n")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text() == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["b.json"]


def test_a_written_file_is_readable_by_others(tmp_path: Path) -> None:
    write_atomically(tmp_path / "b.json", "x")
    assert (tmp_path / "b.json").stat().st_mode & 0o777 == 0o644


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"file/b\.json cannot be written: "):
        write_atomically(tmp_path / "file" / "b.json", "x")


def test_files_are_written_anew_once_or_the_same_again(tmp_path: Path) -> None:
    texts = {tmp_path / "new" / "a": "a\n", tmp_path / "b": "b\n"}
    for _ in range(2):
        write_anew(texts, "Name another folder.")
        assert {path: path.read_text() for path in texts} == texts


def test_a_file_that_somebody_changed_keeps_all_of_them_as_they_are(tmp_path: Path) -> None:
    changed, missing = tmp_path / "b", tmp_path / "a"
    changed.write_text("mine\n")
    with pytest.raises(RunError, match="b is there already, and is another") as caught:
        write_anew({missing: "a\n", changed: "b\n"}, "Name another folder.")
    assert caught.value.remedy == "Name another folder."
    assert (changed.read_text(), missing.exists()) == ("mine\n", False)


def test_a_file_is_whole_on_the_disk_before_it_takes_the_old_ones_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "b.json", list[tuple[int, str]]()
    path.write_text("old")
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append((os.fstat(file).st_size, path.read_text()))
    )
    write_atomically(path, "new and longer")
    assert synced == [(len("new and longer"), "old")]
    assert path.read_text() == "new and longer"
