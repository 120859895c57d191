"""Measuring: only a finished receipt replaces a finished one, and nothing is measured twice."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from generator.bench import Bench, file_record
from generator.checkout import Checkout
from generator.declaration import Declaration
from generator.errors import EngineError, InputError
from generator.evidence import declare
from generator.experiments import plan_experiment
from generator.measure import measure, open_ledger, write_sums
from generator.plan import Boot, Plan
from generator.receipt import Receipt, read, receipt_path
from generator.settings import ServerSettings
from tests import factory
from tests.factory import completion_response
from tests.unit.launching import FakeEngine, KillError, Watching

DECLARATION = """
title: {zh: 一, en: One}
summary: {zh: 二, en: Two}
author: {name: somebody, prose: human}
defaults:
  model: tiny-model
  engine: tiny-engine
  server: {cache_prompt: CACHE}
experiments:
  runs:
    kind: repeat
    title: {zh: 三, en: Three}
    prompt: Hello
    endpoint: completion
    runs: 3
    sampling: {seed: drawn}
claims:
  differ:
    when: runs.distinct > 1
    topic: {zh: 四, en: Four}
    holds: {zh: 五, en: Five}
    fails: {zh: 六, en: Six}
"""
WORDING = [
    ("en: One", "en: Another"),
    ("en: Two", "en: Another"),
    ("en: Three", "en: Another"),
    ("en: Four", "en: Another"),
    ("en: Five", "en: Five; six"),
    ("claims:", "# a note\nclaims:"),
]


@dataclass
class FakeBench(Bench):
    """A bench with everything fetched, whose engine is a stand-in."""

    engine: FakeEngine = field(default_factory=FakeEngine)

    def prepare(self, plan: Any) -> None:
        """Put the synthetic engine and model where fetched ones would be."""
        receipt = factory.make_receipt(plan.kind, [])
        record = receipt.models[factory.MODEL]
        self.models[factory.MODEL] = (self.root / "model.gguf", record)
        self.engines[factory.ENGINE] = (Any, receipt.engines[factory.ENGINE])  # type: ignore[assignment]

    def launch(self, boot: Boot) -> Any:
        """Start a stand-in."""
        return self.engine.launch(boot)


@dataclass
class Project:
    root: Path
    bench: FakeBench
    declaration: Declaration

    def measure(self, watcher: Watching | None = None) -> Receipt:
        resolved = self.declaration.experiments["runs"]
        ledger = open_ledger(self.root, "some-article")
        receipt = measure(self.bench, self.declaration, resolved, watcher or Watching(), ledger)
        ledger.remove()
        return receipt

    @property
    def receipt(self) -> Path:
        return receipt_path(self.root, "some-article", "runs")

    @property
    def journal(self) -> Path:
        return self.root / ".work" / "some-article" / "runs.jsonl"


def _project(root: Path, *, cache: bool = False) -> Project:
    path = root / "receipts" / "some-article.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(DECLARATION.replace("CACHE", str(cache).lower()), encoding="utf-8")
    nothing: Any = None
    bench = FakeBench(root, nothing, nothing, nothing)
    return Project(root, bench, declare(root, "some-article"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return _project(tmp_path)


def test_a_receipt_says_all_that_pins_it(project: Project) -> None:
    receipt = project.measure()
    assert read(project.receipt, name="runs.json") == receipt
    resolved = project.declaration.experiments["runs"]
    assert receipt.plan_sha256 == plan_experiment(resolved).sha256
    assert receipt.declaration.sha256 == project.declaration.sha256
    assert receipt.declaration.experiment == resolved.as_json()
    assert list(receipt.models) == [factory.MODEL]
    assert list(receipt.engines) == [factory.ENGINE]
    assert receipt.analysis["distinct"] == 3
    assert receipt.measured_on == receipt.started[:10]
    assert receipt.started <= receipt.finished
    assert not project.journal.exists()


def test_a_receipt_names_no_place_on_this_machine(project: Project) -> None:
    project.measure()
    text = project.receipt.read_text(encoding="utf-8")
    assert str(project.root) not in text
    assert str(Path.home()) not in text


@pytest.mark.parametrize(
    ("found", "recorded"),
    [
        (Checkout("c" * 40, dirty=True), ("c" * 40, True, None)),
        ("not a git checkout", (None, None, "not a git checkout")),
    ],
)
def test_the_commit_or_why_it_is_unknown_is_recorded(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    found: Checkout | str,
    recorded: tuple[str | None, bool | None, str | None],
) -> None:
    monkeypatch.setattr("generator.measure.checkout", lambda: found)
    generator = project.measure().generator
    assert (generator.commit, generator.dirty, generator.commit_unknown) == recorded


def test_an_unfinished_run_leaves_the_finished_receipt_alone(project: Project) -> None:
    project.measure()
    before = project.receipt.read_bytes()
    with pytest.raises(KillError):
        project.measure(Watching(3))
    assert project.receipt.read_bytes() == before
    assert project.journal.exists()
    receipt = project.measure()
    assert project.receipt.read_bytes() != before
    assert len(receipt.boots[0].lives) == 2
    assert len(project.bench.engine.requests) == 6
    assert not project.journal.exists()


def test_an_interrupted_warm_boot_is_kept_beside_the_counted_one(tmp_path: Path) -> None:
    def reply(_count: int, _request: dict[str, Any]) -> dict[str, Any]:
        first = engine.asked_in_life[-1] == 1
        return completion_response(
            stop="eos", cache_n=0 if first else 9, prompt_n=10 if first else 1
        )

    project = _project(tmp_path, cache=True)
    engine = project.bench.engine
    engine.reply = reply
    with pytest.raises(KillError):
        project.measure(Watching(3))
    receipt = project.measure()
    assert [len(boot.asks) for boot in receipt.interrupted] == [2]
    assert [len(boot.asks) for boot in receipt.boots] == [3]
    assert receipt.analysis["asked"] == 3
    assert receipt.analysis["invalid"] == 0
    seeds = [ask.request["seed"] for ask in receipt.interrupted[0].asks]
    assert seeds == [ask.request["seed"] for ask in receipt.boots[0].asks][:2]


def test_a_changed_declaration_does_not_go_on_with_the_old_run(project: Project) -> None:
    with pytest.raises(KillError):
        project.measure(Watching(3))
    path = project.root / "receipts" / "some-article.yaml"
    path.write_text(path.read_text().replace("prompt: Hello", "prompt: Goodbye"))
    project.declaration = declare(project.root, "some-article")
    receipt = project.measure()
    assert len(receipt.boots[0].lives) == 1
    assert {ask.request["prompt"] for _, ask in receipt.asks()} == {"Goodbye"}


def _interrupted_and_edited(project: Project, old: str, new: str) -> Receipt:
    """Cut a run off after its third event, edit the declaration, and run again."""
    with pytest.raises(KillError):
        project.measure(Watching(3))
    path = project.root / "receipts" / "some-article.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    project.declaration = declare(project.root, "some-article")
    return project.measure()


@pytest.mark.parametrize(("old", "new"), WORDING)
def test_mended_wording_throws_no_answer_away(project: Project, old: str, new: str) -> None:
    receipt = _interrupted_and_edited(project, old, new)
    assert len(receipt.boots[0].lives) == 2
    assert len(project.bench.engine.requests) < 6


def test_a_condition_is_not_written_between_two_answers(project: Project) -> None:
    receipt = _interrupted_and_edited(project, "when: runs.distinct > 1", "when: runs.distinct > 2")
    assert len(receipt.boots[0].lives) == 1
    assert receipt.claims == {"differ": "runs.distinct > 2"}


def test_failures_are_in_the_receipt(project: Project) -> None:
    project.bench.engine.reply = lambda count, _: 503 if count == 1 else completion_response()
    receipt = project.measure()
    assert (receipt.analysis["failed"], receipt.analysis["answered"]) == (1, 2)
    assert [ask.outcome.status for _, ask in receipt.asks()] == ["failed", "answered", "answered"]


def test_an_answer_of_no_known_shape_does_not_lose_the_receipt(project: Project) -> None:
    project.bench.engine.reply = lambda _count, _request: {"surprise": True}
    assert project.measure().analysis["failed"] == 3


def test_an_engine_that_does_not_start_writes_no_receipt(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch(_self: FakeBench, _boot: Boot) -> Any:
        raise EngineError("It did not start.", "Look at its log.")

    monkeypatch.setattr(FakeBench, "launch", launch)
    with pytest.raises(EngineError):
        project.measure()
    assert not project.receipt.exists()


@pytest.mark.parametrize("name", ["missing", "../outside"])
def test_a_chat_template_must_lie_in_its_folder(project: Project, name: str) -> None:
    (project.root / "receipts" / "outside.jinja").write_text("x")
    plan = plan_experiment(project.declaration.experiments["runs"])
    with pytest.raises(InputError, match="there is no receipts/chat-templates"):
        Bench._template(project.bench, plan, name)


def test_sums_are_what_sha256sum_checks(project: Project) -> None:
    project.measure()
    write_sums(project.root, "some-article")
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=project.receipt.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "runs.json: OK\n"


def test_a_file_is_recorded_by_name_size_and_digest(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"abc")
    record = file_record(tmp_path / "a.txt")
    assert (record.name, record.bytes) == ("a.txt", 3)
    assert record.sha256 == hashlib.sha256(b"abc").hexdigest()


def test_a_file_that_a_setting_names_is_digested_and_its_folder_is_told_to_nobody(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "somebody" / "rules.gbnf"
    secret.parent.mkdir()
    secret.write_text("root ::= 'a'")
    boot = Boot("main", "e", "m", ServerSettings(extra={"grammar_file": str(secret)}), ())
    nothing: Any = None
    bench = Bench(tmp_path / "project", nothing, nothing, nothing)
    bench.engines["e"] = bench.models["m"] = nothing
    plan = Plan("some-article", "runs", "repeat", (boot,))
    bench.prepare(plan)
    (label,) = bench.named(plan)
    assert bench.named(plan)[label].sha256 == hashlib.sha256(secret.read_bytes()).hexdigest()
    told = f"{label} {bench.named(plan)[label].name}"
    assert "rules.gbnf" in told
    assert "somebody" not in told
    assert "grammar_file" in told


def test_what_an_earlier_part_of_the_run_finished_is_not_measured_again(project: Project) -> None:
    ledger = open_ledger(project.root, "some-article")
    resolved = project.declaration.experiments["runs"]
    first = measure(project.bench, project.declaration, resolved, Watching(), ledger)
    watcher = Watching()
    again = open_ledger(project.root, "some-article")
    assert measure(project.bench, project.declaration, resolved, watcher, again) == first
    assert watcher.asked_ == [("main", name, True) for name in ("1", "2", "3")]
    assert len(project.bench.engine.requests) == 3


def test_a_receipt_that_was_changed_meanwhile_is_measured_again(project: Project) -> None:
    ledger = open_ledger(project.root, "some-article")
    resolved = project.declaration.experiments["runs"]
    measure(project.bench, project.declaration, resolved, Watching(), ledger)
    project.receipt.write_text("{}")
    measure(project.bench, project.declaration, resolved, Watching(), ledger)
    assert len(project.bench.engine.requests) == 6
    assert read(project.receipt, name="it").analysis["answered"] == 3


def test_sums_are_in_the_order_of_the_names(tmp_path: Path) -> None:
    folder = tmp_path / "receipts" / "some-article"
    folder.mkdir(parents=True)
    for name in ("b.json", "a@z.json", "a.matrix.json", "a.json", ".hidden.json", "notes.txt"):
        (folder / name).write_text(name)
    write_sums(tmp_path, "some-article")
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == [
        "a.json",
        "a.matrix.json",
        "a@z.json",
        "b.json",
    ]
    assert lines[0].split("  ")[0] == hashlib.sha256(b"a.json").hexdigest()
