"""What was tried is on disk before the next prompt, and is not tried again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.errors import RunError
from generator.hunt.records import Records
from tests.unit.hunt.flipping import COLD_WARM, Machine, trials_of

KEY = {"pool": {"seed": 1}}


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hunts" / "some.jsonl"


@pytest.fixture
def opened(machine: Machine, path: Path) -> Iterator[Records]:
    with trials_of(machine, *COLD_WARM) as trials:
        yield Records(path, KEY, trials)


def again(machine: Machine, path: Path, key: object = KEY) -> tuple[bool, bool]:
    """Open the file again and say whether two trials are known."""
    with trials_of(machine, *COLD_WARM) as trials:
        records = Records(path, {"pool": key} if key is not KEY else KEY, trials)
        return records.tried("a flip", fresh=False)[1], records.tried("a flip", fresh=True)[1]


def test_a_trial_is_known_by_its_prompt_and_its_servers(
    machine: Machine, path: Path, opened: Records
) -> None:
    first, known = opened.tried("a flip", fresh=False)
    assert (first.verdict, known) == ("flip", False)
    assert opened.tried("a flip", fresh=False) == (first, True)
    assert opened.tried("a flip", fresh=True)[1] is False
    assert again(machine, path) == (True, True)
    assert len(machine.asked) == 4


def test_every_trial_is_kept_with_its_prompt(path: Path, opened: Records) -> None:
    opened.tried("a flip", fresh=False)
    header, event = [json.loads(line) for line in path.read_text().splitlines()]
    assert header == {"event": "hunt", "key": KEY}
    assert (event["prompt"], event["fresh"]) == ("a flip", False)
    assert event["trial"]["token"] == 1


def test_another_hunt_begins_anew(machine: Machine, path: Path, opened: Records) -> None:
    opened.tried("a flip", fresh=False)
    assert again(machine, path, {"seed": 2}) == (False, False)
    assert again(machine, path) == (False, False)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-9],
        lambda data: data.replace(b'"flip"', b'"flop"'),
        lambda data: data.replace(b'"sha256"', b'"digest"'),
        lambda _data: b"",
        lambda _data: b"nonsense\n",
    ],
)
def test_what_cannot_be_read_is_tried_again(
    machine: Machine, path: Path, opened: Records, spoil: object
) -> None:
    opened.tried("a flip", fresh=False)
    assert callable(spoil)
    path.write_bytes(spoil(path.read_bytes()))
    assert again(machine, path)[0] is False
    assert again(machine, path)[0] is True


def test_a_file_that_cannot_be_written_is_told(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "hunts").write_text("a file in the folder's place")
    with trials_of(machine, *COLD_WARM) as trials, pytest.raises(RunError, match="be written"):
        Records(tmp_path / "hunts" / "some.jsonl", KEY, trials)
