"""The ledger of a run: what is finished stays so until all is, and for the same run only."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.errors import RunError
from generator.ledger import Ledger

KEY = {"plan": "some plan"}


def test_what_is_noted_is_known_to_the_next_part_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "ledger.jsonl"
    ledger = Ledger(path)
    assert ledger.finished("runs", KEY) is None
    ledger.note("runs", KEY, "some digest")
    assert ledger.finished("runs", KEY) == "some digest"
    again = Ledger(path)
    assert again.finished("runs", KEY) == "some digest"
    assert again.finished("runs", {"plan": "another"}) is None
    assert again.finished("other", KEY) is None
    again.remove()
    assert not path.exists()
    assert Ledger(path).finished("runs", KEY) is None


def test_a_note_that_was_cut_off_spoils_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger(path).note("runs", KEY, "some digest")
    with path.open("ab") as file:
        file.write(b'{"experiment":"wid')
    Ledger(path).note("widths", KEY, "another digest")
    again = Ledger(path)
    assert again.finished("runs", KEY) == "some digest"
    assert again.finished("widths", KEY) == "another digest"


def test_what_cannot_be_noted_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(RunError, match="No space left on device"):
        Ledger(path).note("runs", KEY, "some digest")
