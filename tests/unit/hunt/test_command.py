"""The command: from two sides to a declaration, cut off and gone on with, on a stand-in engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generator.bench import Bench
from generator.cli import invoke
from generator.declaration import Declaration
from generator.evidence import declare
from generator.plan import Boot, Plan
from tests.factory import make_receipt
from tests.unit.hunt.flipping import COLD_WARM, ENGINE, MODEL, Machine


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """Put a stand-in on every bench."""
    made = Machine()
    receipt = make_receipt("repeat", [])

    def prepare(bench: Bench, plan: Plan) -> None:
        for boot in plan.boots:
            (engine,) = receipt.engines.values()
            bench.engines[boot.engine] = (None, engine)  # type: ignore[assignment]
            (model,) = receipt.models.values()
            bench.models[boot.model] = (tmp_path, model)

    monkeypatch.setenv("RECEIPTS_CACHE", str(tmp_path / "store"))
    monkeypatch.setattr(Bench, "prepare", prepare)
    monkeypatch.setattr(Bench, "launch", lambda _bench, boot: made.launch(boot))
    return made


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.txt"
    path.write_text("some drift\nnothing at all\na prompt in which tokens flip when warm\n")
    return path


def hunt(project: Path, *arguments: str, between: tuple[str, str] = COLD_WARM) -> int:
    command = ["hunt", "--model", MODEL, "--between", *between]
    return invoke(["--root", str(project), *command, *arguments])


def found_in(project: Path) -> Declaration:
    (path,) = project.glob("receipts/hunt-*.yaml")
    return declare(project, path.stem)


def test_a_find_is_written_down(
    project: Path, machine: Machine, prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hunt(project, "--prompts", str(prompts)) == 0
    shown = capsys.readouterr()
    declaration = found_in(project)
    assert declaration.experiments["found"].prompt == "tokens flip"
    assert 'Found: 2 prompt tokens: FLIP at token 1: " b" → " c", on fresh servers.' in shown.out
    assert f"receipts/prompts/{declaration.article}.txt" in shown.out
    assert f"receipts run {declaration.article}" in shown.out
    assert f"receipts bug-report receipts/{declaration.article}/found.json" in shown.out
    assert "[1/66] 2 prompt tokens: the same tokens, other probabilities (" in shown.err
    assert "[2/66] 3 prompt tokens: the same to the last bit (" in shown.err
    assert '[3/66] 8 prompt tokens: FLIP at token 1: " b" → " c" (' in shown.err
    assert 'on fresh servers: 8 prompt tokens: FLIP at token 1: " b" → " c" (' in shown.err
    assert 'shortened: 4 prompt tokens: FLIP at token 1: " b" → " c" (' in shown.err
    assert invoke(["--root", str(project), "check", declaration.article]) == 0
    assert {boot.engine for boot in machine.boots} == {ENGINE}


def test_a_hunt_goes_on_where_it_was_cut_off_and_finds_the_same(
    project: Path,
    machine: Machine,
    prompts: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launch, lives = machine.launch, 0

    def cut_off(boot: Boot) -> object:
        nonlocal lives
        lives += 1
        if lives == 2:
            raise KeyboardInterrupt
        return launch(boot)

    monkeypatch.setattr(machine, "launch", cut_off)
    assert hunt(project, "--prompts", str(prompts)) == 130
    before = len(machine.asked)
    assert before == 6
    capsys.readouterr()
    assert hunt(project, "--prompts", str(prompts)) == 0
    shown = capsys.readouterr().err
    assert shown.count("(known from before)") >= 3
    first = found_in(project).sha256
    asked = len(machine.asked)
    assert hunt(project, "--prompts", str(prompts)) == 0
    assert (found_in(project).sha256, len(machine.asked)) == (first, asked)


def test_made_up_prompts_and_nothing_found(
    project: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hunt(project, "--limit", "4", "--seed", "5") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Nothing found between cache=cold and cache=warm: 4 prompts of ")
    assert list(project.glob("receipts/hunt-*")) == []
    asked = len(machine.asked)
    assert hunt(project, "--limit", "5", "--seed", "5") == 0
    assert len(machine.asked) == asked + 2
    assert hunt(project, "--limit", "1", "--seed", "6") == 0
    assert len(machine.asked) == asked + 4


def test_a_find_can_be_named(project: Path, machine: Machine, prompts: Path) -> None:
    assert machine.boots == []
    assert hunt(project, "--prompts", str(prompts), "--name", "my-find") == 0
    assert declare(project, "my-find").experiments["found"].prompt == "tokens flip"


def test_a_machine_is_told_too(
    project: Path, machine: Machine, prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hunt(project, "--prompts", str(prompts), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    article = found_in(project).article
    assert (told["ended"], told["prompt"], told["article"]) == ("found", "tokens flip", article)
    assert told["verdicts"] == {"drift": 1, "flip": 1, "same": 1}
    assert (told["trial"]["token"], told["trial"]["left"], told["trial"]["right"]) == (
        1,
        " b",
        " c",
    )
    assert told["files"][0] == f"receipts/{article}.yaml"
    assert hunt(project, "--limit", "2", "--seed", "5", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ended"], told["tried"], told["prompt"]) == ("limit", 2, None)
    assert (told["article"], told["files"]) == (None, [])
    assert machine.asked


def test_another_article_s_name_is_refused_before_anything_is_tried(
    project: Path, machine: Machine, prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (project / "receipts/small.yaml").read_bytes()
    assert hunt(project, "--prompts", str(prompts), "--name", "small") == 6
    told = capsys.readouterr().err
    assert "small.yaml is there already, and is no find." in told
    assert "Give the find another name: --name." in told
    assert (project / "receipts/small.yaml").read_bytes() == before
    assert machine.boots == []


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--name", "My find"], 2, "lower-case letters"),
        (["--name", "index"], 2, "lower-case letters"),
        (["--engine", "tiny-engin"], 3, "did you mean `tiny-engine`?"),
        (["--settings", "thread=1"], 3, "did you mean `threads`?"),
        (["--minutes", "0"], 2, "0.0 is not in the range"),
    ],
)
def test_what_cannot_be_meant_is_told_before_anything_starts(
    project: Path,
    machine: Machine,
    capsys: pytest.CaptureFixture[str],
    *,
    arguments: list[str],
    code: int,
    told: str,
) -> None:
    assert hunt(project, *arguments) == code
    assert told in capsys.readouterr().err
    assert machine.boots == []
