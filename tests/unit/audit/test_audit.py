"""Tests of the audit: each single change to anything committed is caught, and its place named."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from generator.audit import Finding
from generator.audit import audit as audit_project
from generator.audit.findings import Report, differences, shorten
from generator.audit.planned import check_plan
from generator.cli import invoke
from generator.evidence import declare
from generator.experiments import plan_experiment
from generator.measure import write_sums
from generator.publish import render_articles
from generator.receipt import FileRecord, read
from tests.project import templates_of

RECEIPT = Path("receipts/small/runs.json")
SUMS = Path("receipts/small/SHA256SUMS")


def audit(project: Path) -> list[Finding]:
    return audit_project(project, templates_of(project), ["small"]).findings


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())


def sha256sum(project: Path) -> int:
    """Return what the real tool says."""
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    done = subprocess.run(command, cwd=project / SUMS.parent, capture_output=True, check=False)
    return done.returncode


def places(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.file, finding.pointer) for finding in findings}


def test_untouched_project_passes(project: Path) -> None:
    report = audit_project(project, templates_of(project), ["small"])
    assert report.findings == []
    assert report.checked > 100
    assert sha256sum(project) == 0


def test_audit_writes_nothing(project: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    audit(project)
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == before


RECEIPT_EDITS = [
    ("request", '"n_predict": 32', '"n_predict": 33', "/boots/0/asks/0/request/n_predict"),
    ("prompt", '"prompt": "The sky is"', '"prompt": "The sky"', "/boots/0/asks/0/request/prompt"),
    ("response", '"content": " blue today"', '"content": " blue todaz"', "/analysis/runs/0/text"),
    ("token", '"cache_n": 0,', '"cache_n": 1,', "/analysis/runs/0/cache_n"),
    ("analysis", '"distinct": 3', '"distinct": 4', "/analysis/distinct"),
    ("setting", '"threads": 2', '"threads": 3', "/boots/0/settings/threads"),
    ("seed word", '"seed": "drawn"', '"seed": "fixed"', "/boots/0/asks/0/seed"),
    ("model", f'"sha256": "a{"0" * 62}1"', f'"sha256": "a{"0" * 62}2"', "/models/tiny-q4_1/sha256"),
    ("engine", f'"b{"0" * 62}3"', f'"b{"0" * 62}4"', "/engines/tiny-engine/files"),
    ("plan", '"plan_sha256": "', '"plan_sha256": "0', ""),
    ("day", '"measured_on": "2026-01-02"', '"measured_on": "2026-01-03"', "/measured_on"),
    ("kind", '"kind": "repeat",\n "measured_on"', '"kind": "replay",\n "measured_on"', "/kind"),
    ("name", '"experiment": "runs"', '"experiment": "runz"', "/experiment"),
    ("article", '"article": "small"', '"article": "smell"', "/article"),
    ("boot", '"name": "main"', '"name": "mail"', "/boots"),
    ("shape", '"content": " blue today"', '"kontent": " blue today"', "/analysis/failed"),
    ("not a number", '"predicted_n": 2', '"predicted_n": NaN', ""),
    ("type", '"cores": 2', '"cores": "2"', "/host/cores"),
    ("unknown key", '"cores": 2', '"kores": 2', "/host/kores"),
    ("newer schema", '"schema_version": 2', '"schema_version": 3', "/schema_version"),
]  # fmt: skip


@pytest.mark.parametrize("resealed", [False, True], ids=["sums-old", "sums-renewed"])
@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [edit[1:] for edit in RECEIPT_EDITS],
    ids=[edit[0] for edit in RECEIPT_EDITS],
)
def test_changed_receipt_is_caught_even_if_its_digest_is_renewed(
    project: Path, old: str, new: str, pointer: str, resealed: bool
) -> None:
    edit(project / RECEIPT, old, new)
    if resealed:
        write_sums(project, "small")
    findings = audit(project)
    if pointer:
        assert (RECEIPT.as_posix(), pointer) in places(findings)
    assert findings
    assert any("digest in" in f.check for f in findings) == (not resealed)
    assert sha256sum(project) == (0 if resealed else 1)
    assert all(finding.expected != finding.found for finding in findings)


def test_one_byte_of_white_space_is_caught(project: Path) -> None:
    edit(project / RECEIPT, "\n", "\r\n")
    write_sums(project, "small")
    assert [f.check for f in audit(project)] == ["written as we write it"]


def test_truncated_receipt_is_caught(project: Path) -> None:
    path = project / RECEIPT
    path.write_bytes(path.read_bytes()[:1000])
    findings = audit(project)
    assert {f.check for f in findings} == {"digest in receipts/small/SHA256SUMS", "schema"}
    assert "not JSON" in next(f.found for f in findings if f.check == "schema")


def test_missing_receipt_is_caught(project: Path) -> None:
    (project / RECEIPT).unlink()
    assert (RECEIPT.as_posix(), "") in places(audit(project))
    write_sums(project, "small")
    pages = {f.file for f in audit(project)}
    assert {"site/zh/articles/small.md", "site/en/articles/small.md"} <= pages


def test_extra_receipt_is_caught(project: Path) -> None:
    extra = project / "receipts/small/extra.json"
    extra.write_text("{}")
    findings = audit(project)
    assert {f.check for f in findings} == {
        "digest in receipts/small/SHA256SUMS",
        "nothing is published undeclared",
    }
    assert {f.file for f in findings} == {"receipts/small/extra.json"}
    write_sums(project, "small")
    assert [f.check for f in audit(project)] == ["nothing is published undeclared"]


def test_missing_line_in_the_sums_is_caught(project: Path) -> None:
    lines = (project / SUMS).read_text().splitlines(keepends=True)
    (project / SUMS).write_text("".join(line for line in lines if "runs.json" not in line))
    assert [(f.file, f.expected) for f in audit(project)] == [(RECEIPT.as_posix(), "nothing")]


def test_missing_sums_are_caught(project: Path) -> None:
    (project / SUMS).unlink()
    assert len(audit(project)) == 4


def test_changed_digit_of_a_digest_is_caught(project: Path) -> None:
    text = (project / SUMS).read_text()
    (project / SUMS).write_text(("1" if text[0] == "0" else "0") + text[1:])
    assert [f.check for f in audit(project)] == ["digest in receipts/small/SHA256SUMS"]
    assert sha256sum(project) == 1


@pytest.mark.parametrize("line", ["nonsense", f"{'0' * 64}  ../../secret", f"{'0' * 64} x.json"])
def test_line_that_is_no_digest_is_caught(project: Path, line: str) -> None:
    with (project / SUMS).open("a") as file:
        file.write(f"{line}\n")
    assert [(f.file, f.pointer) for f in audit(project)] == [(SUMS.as_posix(), "line 5")]
    assert sha256sum(project) == 1


def test_second_line_for_one_file_is_caught(project: Path) -> None:
    with (project / SUMS).open("a") as file:
        file.write(f"{'0' * 64}  runs.json\n")
    assert [(f.file, f.pointer) for f in audit(project)] == [(SUMS.as_posix(), "line 5")]


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize(
    ("old", "new"),
    [(">1000</a>", ">1001</a>"), ("1000", "100O"), ("small.yaml", "smell.yaml")],
)
def test_changed_page_is_caught(project: Path, lang: str, old: str, new: str) -> None:
    path = project / f"site/{lang}/articles/small.md"
    line = path.read_text()[: path.read_text().index(old)].count("\n") + 1
    edit(path, old, new)
    (finding,) = audit(project)
    assert finding.file == f"site/{lang}/articles/small.md"
    assert finding.pointer.startswith(f"line {line}, column ")
    assert finding.expected != finding.found


def test_page_with_one_more_line_is_caught(project: Path) -> None:
    with (project / "site/en/articles/small.md").open("a") as file:
        file.write("one more\n")
    assert len(audit(project)) == 1


def test_page_that_is_no_text_is_caught(project: Path) -> None:
    path = project / "site/en/articles/small.md"
    path.write_bytes(path.read_bytes() + b"\xff")
    (finding,) = audit(project)
    assert finding.found == '"\\udcff"'


def test_missing_pages_are_caught(project: Path) -> None:
    (project / "site/zh/articles/small.md").unlink()
    (project / "site/en/articles/index.md").unlink()
    assert {f.file for f in audit(project)} == {
        "site/zh/articles/small.md",
        "site/en/articles/index.md",
    }


def test_fact_that_points_to_nothing_is_caught(project: Path) -> None:
    edit(project / "site/en/articles/small.md", "#/analysis/distinct", "#/analysis/distinkt")
    findings = audit(project)
    assert "the fact runs.json#/analysis/distinkt resolves" in {f.check for f in findings}


@pytest.mark.parametrize(
    ("old", "new", "places_too"),
    [
        ("prompt: The sky is", "prompt: The sky is blue", "/declaration/experiment/prompts/prompt"),
        ("runs: 4", "runs: 3", "/plan_sha256"),
        ("max_tokens: 32", "max_tokens: 33", "/declaration/experiment/sampling/max_tokens"),
        ("when: runs.distinct > 1", "when: runs.distinct > 2", "/claims/differ"),
        ("  differ:", "  other:", "/claims/other"),
    ],
)
def test_changed_declaration_is_caught(project: Path, old: str, new: str, places_too: str) -> None:
    edit(project / "receipts/small.yaml", old, new)
    found = audit(project)
    assert (RECEIPT.as_posix(), places_too) in places(found)
    stale = [f.check for f in found if f.check.startswith("measured as receipts/small.yaml")]
    assert stale
    assert all(" was " in check for check in stale)


def test_a_note_in_the_declaration_is_nothing_to_the_audit(project: Path) -> None:
    path = project / "receipts/small.yaml"
    path.write_text(path.read_text() + "# a note\n")
    assert audit(project) == []


def test_wording_is_mended_by_rendering_again(project: Path) -> None:
    path = project / "receipts/small.yaml"
    edit(path, "en: There are", "en: Here are")
    edit(path, "en: Asked again", "en: Asked once more")
    render_articles(project, templates_of(project), ["small"])
    assert audit(project) == []


def test_changed_sentence_of_a_claim_is_caught_on_the_page(project: Path) -> None:
    edit(project / "receipts/small.yaml", "en: There are", "en: There once were")
    found = {(f.file, f.check) for f in audit(project)}
    assert ("site/en/articles/small.md", "rendered again from the receipts") in found
    assert "site/zh/articles/small.md" not in {file for file, _ in found}


def test_faulty_declaration_is_a_finding(project: Path) -> None:
    edit(project / "receipts/small.yaml", "kind: repeat", "kind: repeet")
    (finding,) = audit(project)
    assert finding.file == "receipts/small.yaml"
    assert re.fullmatch(r"line \d+, \$\.experiments\.runs\.kind", finding.pointer)


def test_changed_model_pin_is_caught(project: Path) -> None:
    edit(project / "receipts/pins/models.yaml", f"a{'0' * 62}1", f"a{'0' * 62}9")
    assert (RECEIPT.as_posix(), "/models/tiny-q4_1/sha256") in places(audit(project))


def test_changed_engine_pin_is_caught(project: Path) -> None:
    edit(project / "receipts/pins/engines.yaml", f"b{'0' * 62}3", f"b{'0' * 62}9")
    assert (RECEIPT.as_posix(), "/engines/tiny-engine/files") in places(audit(project))


def test_pins_that_are_gone_are_findings(project: Path) -> None:
    edit(project / "receipts/pins/models.yaml", "tiny-q4_1:", "other-q4_1:")
    edit(project / "receipts/pins/engines.yaml", "tiny-engine:", "other-engine:")
    found = places(audit(project))
    assert (RECEIPT.as_posix(), "/models/tiny-q4_1") in found
    assert (RECEIPT.as_posix(), "/engines/tiny-engine") in found


def test_changed_chat_template_is_caught(project: Path) -> None:
    path = project / "receipts/chat-templates/tiny-think.jinja"
    edit(path, "<think>", "<thinc>")
    where = ("receipts/small/thoughts.json", "/chat_templates/tiny-think/sha256")
    assert where in places(audit(project))
    path.unlink()
    assert (where[0], "/chat_templates/tiny-think") in places(audit(project))


def test_template_that_cannot_be_rendered_is_a_finding(project: Path) -> None:
    edit(project / "templates/articles/small/en.md.j2", "{{ show(", "{{ shoe(")
    found = {(f.file, f.check): f for f in audit(project)}
    assert set(found) == {
        ("templates/articles/small/en.md.j2", "the templates have no faults"),
        ("site/en/articles/small.md", "can be rendered"),
    }
    assert "shoe" in found["site/en/articles/small.md", "can be rendered"].found


def test_findings_hold_no_control_characters(project: Path) -> None:
    edit(project / RECEIPT, '"cores": 2', '"cores": 2, "\\u001b[31m\\u202e": 2')
    edit(project / "site/en/articles/small.md", ">1000</a>", ">\x1b[31m</a>")
    assert all(f.found.isprintable() for f in audit(project))


def run(project: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = invoke(["--root", str(project), "audit", *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_command_passes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(project, capsys)
    assert (code, err) == (0, "")
    assert re.match(r"\d+ checks passed", out)


def test_command_names_each_finding(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(project / RECEIPT, '"distinct": 3', '"distinct": 4')
    code, out, err = run(project, capsys)
    assert (code, out) == (7, "")
    for finding in audit(project):
        assert str(finding) in err
    assert "receipts/small/runs.json: /analysis/distinct: " in err
    assert "expected 3, found 4" in err


def test_command_as_json_is_complete(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(run(project, capsys, "--json")[1])["findings"] == []
    edit(project / RECEIPT, '"distinct": 3', '"distinct": 4')
    code, out, _ = run(project, capsys, "--json")
    assert code == 7
    report = json.loads(out)
    assert report["findings"] == [vars(finding) for finding in audit(project)]
    assert report["checked"] > len(report["findings"])


@pytest.mark.parametrize(
    ("expected", "found", "pointers"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["/a"]),
        ({"a": 1}, {}, ["/a"]),
        ({}, {"b/~c": 1}, ["/b~1~0c"]),
        ([1, 2], [1, 3], ["/1"]),
        ([1], [1, 2], [""]),
        ({"a": [{"b": 1}]}, {"a": [{"b": None}]}, ["/a/0/b"]),
        (1, True, [""]),
        (1, 1.0, [""]),
    ],
)
def test_differences_are_placed(expected: object, found: object, pointers: list[str]) -> None:
    assert [pointer for pointer, _, _ in differences(expected, found, "")] == pointers


def test_difference_far_into_a_chinese_line_is_shown(project: Path) -> None:
    path = project / "site/zh/articles/small.md"
    edit(path, "答案", "答按")
    finding = next(f for f in audit(project) if f.file == "site/zh/articles/small.md")
    assert "答案" in finding.expected
    assert "答按" in finding.found


def test_long_values_are_shortened() -> None:
    assert len(shorten("x" * 1000)) < 130


@pytest.mark.parametrize("key", ["models", "engines", "chat_templates"])
def test_what_is_listed_is_just_what_was_used(measured: Path, key: str) -> None:
    receipt = read(measured / RECEIPT, name=RECEIPT.name)
    plan = plan_experiment(declare(measured, "small").experiments["runs"])
    listed = getattr(receipt, key)
    some = next(iter(listed.values()), FileRecord(name="x.jinja", bytes=1, sha256="0" * 64))
    for other in ({**listed, "never-used": some}, {} if listed else {"never-used": some}):
        report = Report()
        check_plan(report, "some-file", plan, receipt.model_copy(update={key: other}))
        assert places(report.findings) == {("some-file", f"/{key}")}
