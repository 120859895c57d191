"""The journal alone: what is noted is on disk at once, and what is on disk is read again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from generator.errors import RunError
from generator.journal import Journal, append, whole_events
from generator.receipt import Answered
from generator.wire import body_of
from tests.factory import completion_response, make_ask, make_boot

KEY = {"plan": "some plan"}
STARTED = "2026-01-02T03:04:05.000Z"
LATER = "2026-01-03T00:00:00.000Z"


def test_every_event_is_on_disk_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "j.jsonl"
    with Journal(path, KEY, STARTED) as journal:
        assert len(whole_events(path)) == 1
        journal.life(make_boot(), goes_on=False)
        journal.drawn("main", "1", 7)
        journal.asked("main", make_ask(completion_response(["\ud800", "\u2028", "\r"])))
        assert [event["event"] for event in whole_events(path)] == ["run", "life", "drawn", "asked"]
    with Journal(path, KEY, LATER) as again:
        assert again.started == STARTED
        assert again.seeds == {("main", "1"): 7}
        assert again.boots["main"].whole() == journal.boots["main"].whole()
        assert not again.boots["main"].ended


def test_the_keys_of_a_response_come_back_in_their_order(tmp_path: Path) -> None:
    response = {"z": 1, "a": {"y": 1e-05, "b": -0.0}}
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.life(make_boot(), goes_on=False)
        journal.asked("main", make_ask(response))
    with Journal(tmp_path / "j", KEY, LATER) as again:
        outcome = again.boots["main"].asks["1"].outcome
    assert isinstance(outcome, Answered)
    assert body_of(outcome.response, outcome.raw) == body_of(response, None)


def test_the_end_of_a_boot_belongs_to_its_last_life(tmp_path: Path) -> None:
    boot = make_boot()
    open_life = boot.lives[0].model_copy(update={"load_after": None, "peak_memory_bytes": None})
    alive = boot.model_copy(update={"lives": [open_life]})
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.life(alive, goes_on=False)
        journal.life(alive, goes_on=True)
        journal.ended("main", [1.0, 2.0, 3.0], 5)
        state = journal.boots["main"]
    assert state.ended
    assert [life.load_after for life in state.whole().lives] == [None, [1.0, 2.0, 3.0]]
    assert [life.peak_memory_bytes for life in state.whole().lives] == [None, 5]


def test_a_life_that_does_not_go_on_puts_the_earlier_aside(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.life(make_boot(), goes_on=False)
        journal.asked("main", make_ask(completion_response()))
        journal.life(make_boot(), goes_on=False)
        assert [len(boot.asks) for boot in journal.interrupted] == [1]
        assert journal.boots["main"].whole().asks == []


@pytest.mark.parametrize("key", [{"plan": "another"}, {}, {"plan": "some plan", "more": 1}])
def test_another_key_begins_anew(tmp_path: Path, key: dict[str, object]) -> None:
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.life(make_boot(), goes_on=False)
    with Journal(tmp_path / "j", key, LATER) as journal:
        assert journal.boots == {}
        assert journal.started == LATER
    assert len(whole_events(tmp_path / "j")) == 1


def test_the_order_of_a_keys_entries_does_not_matter(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", {"a": 1, "b": (2, 3)}, STARTED):
        pass
    with Journal(tmp_path / "j", {"b": [2, 3], "a": 1}, LATER) as journal:
        assert journal.started == STARTED


def test_a_last_line_that_was_cut_off_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"a":1}\n{"b":')
    assert whole_events(path) == [{"a": 1}]
    assert path.read_bytes() == b'{"a":1}\n'


def test_what_is_no_journal_holds_no_events(tmp_path: Path) -> None:
    assert whole_events(tmp_path / "nothing") == []
    for text in ("[]\n", "7\n", "{\n", "\xff\n"):
        (tmp_path / "j").write_text(text, encoding="latin-1")
        assert whole_events(tmp_path / "j") == []


def test_a_removed_journal_is_gone(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.remove()
    assert not (tmp_path / "j").exists()


def test_events_are_ascii_lines(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.life(make_boot(), goes_on=False)
        journal.asked("main", make_ask(completion_response(["\n", "\u2028", "\x85"])))
    data = (tmp_path / "j").read_bytes()
    assert data.isascii()
    assert all(json.loads(line) for line in data.decode().split("\n")[:-1])


def test_a_disk_that_is_full_is_told(tmp_path: Path) -> None:
    (tmp_path / "j").symlink_to("/dev/full")
    with pytest.raises(RunError, match="j cannot be written: No space left on device"):
        Journal(tmp_path / "j", KEY, STARTED)


def test_a_life_without_an_answer_is_not_kept_as_interrupted(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.life(make_boot(), goes_on=False)
        journal.drawn("main", "1", 7)
        journal.life(make_boot(), goes_on=False)
        assert journal.interrupted == []
    with Journal(tmp_path / "j", KEY, LATER) as again:
        assert again.interrupted == []


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Note which events are in the journal each time that it is written to the disk itself."""
    synced: list[list[str]] = []

    def fsync(descriptor: int) -> None:
        held = Path(f"/proc/self/fd/{descriptor}").resolve()
        assert held == tmp_path / "j"
        synced.append([event["event"] for event in whole_events(held)])

    monkeypatch.setattr(os, "fsync", fsync)
    return synced


def test_the_beginning_and_the_end_of_each_boot_are_on_the_disk(
    tmp_path: Path, on_disk: list[list[str]]
) -> None:
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        journal.life(make_boot(), goes_on=False)
        journal.asked("main", make_ask(completion_response()))
        journal.ended("main", [0.0, 0.0, 0.0], None)
    assert on_disk == [["run"], ["run", "life"], ["run", "life", "asked", "ended"]]


def test_what_is_appended_to_a_file_is_on_the_disk(
    tmp_path: Path, on_disk: list[list[str]]
) -> None:
    append(tmp_path / "j", {"event": "one"})
    append(tmp_path / "j", {"event": "two"})
    assert on_disk == [["one"], ["one", "two"]]
