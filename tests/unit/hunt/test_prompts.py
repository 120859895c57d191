"""Made-up prompts are the same everywhere, and files of prompts are read line by line."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from generator.canonical import digest
from generator.errors import InputError
from generator.hunt.prompts import LINES, generated, read_prompts

DIGEST = "dce991e96c0c9c0cc3e707513f8a152656f147ba8d0f3b54920850dd6dcf20e3"


def test_a_seed_gives_the_same_prompts_on_every_machine() -> None:
    two_rounds = list(islice(generated(1), 2 * len(LINES)))
    assert digest(two_rounds) == DIGEST
    assert two_rounds == list(islice(generated(1), 2 * len(LINES)))


def test_seeds_and_rounds_give_other_texts() -> None:
    prompts = [*islice(generated(1), 50), *islice(generated(2), 50)]
    assert len(set(prompts)) == 100


def test_each_round_goes_from_short_to_long() -> None:
    prompts = list(islice(generated(7), 3 * len(LINES)))
    lengths = [prompt.count("\n") - 1 for prompt in prompts]
    assert lengths == list(LINES) * 3
    assert len(prompts[0]) < 120
    assert all(prompt.startswith("1. ") and prompt.isascii() for prompt in prompts)
    assert all(not prompt.endswith((" ", "\n", ".")) for prompt in prompts)


def test_lines_of_a_file_are_prompts_the_shortest_first(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("A longer one\n\nShort\n  \nShort\nTab\there\u2028 still\n")
    assert read_prompts(path) == ["Short", "A longer one", "Tab\there\u2028 still"]


def test_json_lines_are_texts_or_objects(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"prompt": "two\\nlines", "id": 7}\n"one"\n')
    assert read_prompts(path) == ["one", "two\nlines"]


@pytest.mark.parametrize(
    ("name", "data", "line", "problem"),
    [
        ("x.jsonl", b'"fine"\n{"text": "x"}\n', 2, "this line is no prompt"),
        ("x.jsonl", b'"fine"\n7\n', 2, "this line is no prompt"),
        ("x.jsonl", b'\n{"prompt": \n', 2, "this line is no prompt"),
        ("x.jsonl", b'""\n', 1, "this line is no prompt"),
        ("x.jsonl", b'"\\ud800"\n', 1, "this line is no prompt"),
        ("x.txt", b"\n \n", 1, "there is no prompt in it"),
        ("x.txt", b"\xff\n", 1, "it cannot be read"),
    ],
)
def test_a_file_of_no_prompts(
    tmp_path: Path, name: str, data: bytes, line: int, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_prompts(path)
    (fault,) = caught.value.faults
    assert (fault.file, fault.line) == (str(path), line)
    assert problem in fault.problem


def test_all_lines_at_fault_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("1\n2\n3\n")
    with pytest.raises(InputError) as caught:
        read_prompts(path)
    assert [fault.line for fault in caught.value.faults] == [1, 2, 3]
