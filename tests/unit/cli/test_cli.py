"""Tests of the command line: help, exit codes, faults, and what goes where."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from generator import __version__, cli, errors
from generator.cli import console, invoke
from generator.cli.app import EPILOG, app
from generator.cli.targets import Project
from tests.project import ROOT

RECEIPTS = [sys.executable, "-m", "generator"]
COMMANDS = list(app.commands)
JSON_COMMANDS = ["audit", "check", "list", "plan"]


def tree(base: type[errors.ReceiptsError]) -> Iterator[type[errors.ReceiptsError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from tree(kind)


def run(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RECEIPTS, "--root", str(project), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([name, "--help"]) == 0
    shown = capsys.readouterr().out
    command = app.commands[name]
    assert command.help
    first = command.help.split("\n\n")[0].replace("\n", " ")
    assert first.endswith(".")
    assert len(first.split()) > 4
    assert first[:40] in shown.replace("\n  ", " ")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help or parameter.show_default, parameter.name


def test_help_lists_every_command_and_what_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\w", shown, re.MULTILINE)
    examples = re.findall(r"(?:: +|&& )receipts (\w+)", shown)
    assert examples == ["run", "build", "plan", "audit"]
    assert "\\b" not in shown
    assert "\b" not in shown
    assert "..." not in shown.split("Commands:")[1]


def test_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--version"]) == 0
    assert capsys.readouterr().out == f"receipts, version {__version__}\n"


def test_exit_codes_documented_are_those_used() -> None:
    documented = {int(code) for code in re.findall(r"(?:^|[·:\s])(\d+) [a-z]", EPILOG)}
    in_docstring = {int(c) for c in re.findall(r"(?:: |; |\s)(\d+) [a-z]", invoke.__doc__ or "")}
    used = {kind.exit_code for kind in tree(errors.ReceiptsError)}
    used |= {0, errors.ReceiptsError.exit_code, click.UsageError.exit_code}
    used |= {cli.INTERNAL, cli.INTERRUPTED, cli.BROKEN_PIPE}
    assert documented == used
    assert in_docstring == used


def test_every_error_has_its_own_code() -> None:
    codes = [kind.exit_code for kind in tree(errors.ReceiptsError)]
    assert len(codes) == len(set(codes)) > 5


@pytest.mark.parametrize("kind", list(tree(errors.ReceiptsError)))
def test_errors_end_with_their_code_and_remedy(
    kind: type[errors.ReceiptsError],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fault = errors.Fault("x.yaml", 3, 4, "$.a", "it is wrong", "mend it")
    error = (
        errors.InputError([fault])
        if issubclass(kind, errors.InputError)
        else kind("It broke.", "Mend it.", ["a detail \x1b[31m\u202e"])
    )
    _raise(monkeypatch, error)
    assert invoke(["list"]) == kind.exit_code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert error.what in captured.err
    assert captured.err.endswith(f"→ {error.remedy}\n")
    assert "\x1b" not in captured.err
    assert "\u202e" not in captured.err
    assert "Traceback" not in captured.err


def _raise(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(Project, "select", fail)


def test_fault_of_our_own_asks_for_debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise(monkeypatch, ZeroDivisionError("oh"))
    assert invoke(["list"]) == 1
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: oh" in shown
    assert "--debug" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), errors.RunError("a", "b")])
def test_debug_raises(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    _raise(monkeypatch, error)
    with pytest.raises(type(error)):
        invoke(["list", "--debug"])


def test_only_debug_shows_a_traceback(project: Path) -> None:
    (project / "receipts/small/runs.json").write_text("{")
    plain, debug = run(project, "list"), run(project, "list", "--debug")
    assert plain.returncode == 7
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr


def test_interrupt_ends_with_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise(monkeypatch, KeyboardInterrupt())
    assert invoke(["list"]) == 130
    assert "Interrupted." in capsys.readouterr().err


def test_closed_pipe_is_quiet(project: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*RECEIPTS, "--root", str(project), "list"],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 141


def test_head_reads_one_line(project: Path) -> None:
    command = f"{' '.join(RECEIPTS)} --root {project} plan | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    assert done.stdout.startswith("small/runs (repeat): 4 asks")


@pytest.mark.parametrize("command", ["audit", "check", "list", "plan", "render"])
@pytest.mark.parametrize(
    ("target", "near"), [("smal", "did you mean small?"), ("zzzz", "one of: small")]
)
def test_unknown_articles(
    project: Path, capsys: pytest.CaptureFixture[str], command: str, target: str, near: str
) -> None:
    assert invoke(["--root", str(project), command, target]) == 3
    shown = capsys.readouterr().err
    assert f"there is no article '{target}'" in shown
    assert near in shown


def test_unknown_experiments(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--root", str(project), "plan", "small/run"]) == 3
    assert "there is no experiment 'run' → did you mean runs?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["--nothing"], ["list", "--nothing"], ["--root", "/no/where", "list"]],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Error: " in captured.err


def test_folder_without_declarations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--root", str(tmp_path), "list"]) == 3
    assert "--root" in capsys.readouterr().err


@pytest.mark.parametrize("command", JSON_COMMANDS)
def test_json_is_json_and_nothing_else(
    project: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert invoke(["--root", str(project), command, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) is not None
    assert captured.err == ""


def test_list_as_json_has_experiments_and_claims(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    invoke(["--root", str(project), "list", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    days = {entry["name"]: entry["measured_on"] for entry in row["experiments"]}
    assert days["runs"] == "2026-01-02"
    assert days["never"] is None
    assert row["claims"] == {"differ": "holds", "same": "fails", "unknown": "unmeasured"}


def test_list_says_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["--root", str(project), "list", "small"])
    shown = capsys.readouterr().out
    assert re.search(r"^  runs +repeat +2026-01-02$", shown, re.MULTILINE)
    assert re.search(r"^  never +repeat +not measured$", shown, re.MULTILINE)
    assert re.search(r"^  claim differ +holds$", shown, re.MULTILINE)


def test_plan_is_of_the_target_only(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["--root", str(project), "plan", "small/widths"])
    shown = capsys.readouterr().out
    assert re.search(r"\n4 asks in 2 boots, about \d+ s with a small model on two cores.\n$", shown)
    assert "small/runs" not in shown


def test_check_counts_and_lists_faults(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--root", str(project), "check"]) == 0
    assert capsys.readouterr().out == "1 articles with 5 experiments: no faults.\n"
    path = project / "templates/articles/small/en.md.j2"
    path.write_text(path.read_text() + "\n12% more\n")
    assert invoke(["--root", str(project), "check", "--json"]) == 3
    captured = capsys.readouterr()
    (fault,) = json.loads(captured.out)
    assert fault["file"] == "templates/articles/small/en.md.j2"
    assert "templates/articles/small/en.md.j2:" in captured.err


def test_check_knows_the_pins(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "receipts/small.yaml"
    path.write_text(path.read_text().replace("model: tiny-q4_1", "model: tinny-q4_1"))
    assert invoke(["--root", str(project), "check"]) == 3
    assert "did you mean `tiny-q4_1`?" in capsys.readouterr().err


@pytest.mark.parametrize("factor", ["engine", "model"])
def test_check_knows_the_pins_of_every_boot(
    project: Path, capsys: pytest.CaptureFixture[str], factor: str
) -> None:
    path = project / "receipts/small.yaml"
    text = path.read_text()
    pin = re.findall(rf"^  {factor}: (\S+)$", text, re.MULTILINE)[-1]
    sweep = f"kind: sweep\n    factors: {{{factor}: [{pin}, x{pin}]}}"
    path.write_text(
        text.replace("kind: ubatch", sweep).replace("    widths: [16, 32]\n    asks: 2\n", "")
    )
    assert invoke(["--root", str(project), "check"]) == 3
    shown = capsys.readouterr().err
    assert f"no {factor} is pinned as `x{pin}` → did you mean `{pin}`?" in shown


def test_render_writes_and_reanalyses(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = project / "site/en/articles/small.md"
    before = page.read_text()
    page.unlink()
    receipt = project / "receipts/small/runs.json"
    receipt.write_text(receipt.read_text().replace('"distinct": 3', '"distinct": 9'))
    assert invoke(["--root", str(project), "render", "--reanalyse"]) == 0
    assert capsys.readouterr().out == (
        "analysed again: receipts/small/runs.json\nRendered 4 pages of 1 articles below site/.\n"
    )
    assert page.read_text() == before
    assert invoke(["--root", str(project), "audit"]) == 0


def test_a_stale_receipt_is_refused_listed_and_shown_on_demand(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "receipts/small.yaml"
    path.write_text(path.read_text().replace("runs: 4", "runs: 5"))
    change = "runs was 4 and is now 5"
    for command in ("render", "build"):
        assert invoke(["--root", str(project), command]) == 8
        said = capsys.readouterr().err
        assert f"small/runs: {change}" in said
        assert "receipts run small/runs" in said
    invoke(["--root", str(project), "list"])
    assert f"2026-01-02 (stale)\n    {change}\n" in capsys.readouterr().out
    invoke(["--root", str(project), "list", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert {e["name"]: e["stale"] for e in row["experiments"] if e["stale"]} == {"runs": [change]}
    assert invoke(["--root", str(project), "render", "--stale"]) == 0
    assert "are stale" in (project / "site/en/articles/small.md").read_text()
    assert invoke(["--root", str(project), "audit"]) == 7


def test_render_says_what_is_not_measured(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "receipts/small/widths.json").unlink()
    assert invoke(["--root", str(project), "render"]) == 0
    said = capsys.readouterr().err
    assert re.findall(r"not measured: (\S+)", said) == ["small/widths", "small/never"]


@pytest.mark.parametrize("put", ["folder", "link to nowhere"])
def test_what_is_no_file_is_no_missing_receipt(
    project: Path, capsys: pytest.CaptureFixture[str], put: str
) -> None:
    receipt = project / "receipts/small/widths.json"
    receipt.unlink()
    receipt.mkdir() if put == "folder" else receipt.symlink_to("gone.json")
    page = (project / "site/en/articles/small.md").read_bytes()
    for command in ("render", "build", "audit"):
        assert invoke(["--root", str(project), command]) == 7
        assert "receipts/small/widths.json cannot be read: " in capsys.readouterr().err
    assert (project / "site/en/articles/small.md").read_bytes() == page


@pytest.mark.parametrize("command", ["list", "plan", "check", "audit"])
def test_no_escape_codes_without_a_terminal(project: Path, command: str) -> None:
    done = run(project, command, FORCE_COLOR="", TERM="xterm-256color")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_no_color_is_heeded_on_a_terminal(monkeypatch: pytest.MonkeyPatch, no_colour: str) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", no_colour)
    assert ("\x1b" in console.good("fine")) == (not no_colour)
    assert console.colour() == (not no_colour)


def test_help_comes_at_once() -> None:
    program = """
import contextlib, io, sys
from generator.cli import invoke
with contextlib.redirect_stdout(io.StringIO()):
    invoke(["--help"])
found = {n.partition(".")[0] for n, m in sys.modules.items()
         if "site-packages" in (getattr(m, "__file__", None) or "")}
print(*sorted(found - {"generator"}))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path = {sys.path!r}\n{program}"],
        check=True,
        capture_output=True,
        text=True,
    )
    # whatever else is imported takes longer than all the rest of it
    assert done.stdout.split() == ["click"]


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from generator.cli import invoke; invoke(['--help']); "
        "print(sorted({'pydantic', 'altair', 'httpx', 'rich', 'jinja2', 'yaml', 'mkdocs'}"
        " & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stderr == "[]\n"


def test_commands_of_the_readme_exist() -> None:
    blocks = re.findall(r"```\w*\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [line.strip().lstrip("$ ") for block in blocks for line in block.split("\n")]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = re.findall(r"(?:^|&& |\| |/)(receipts|make) +([a-z-]+)", "\n".join(lines), re.MULTILINE)
    assert used
    for program, word in used:
        known = targets if program == "make" else {*COMMANDS}
        assert word in known, f"README.md speaks of `{program} {word}`"
    for match in re.finditer(
        r"`(?:receipts|make) ([a-z-]+)[^`\n]*`", (ROOT / "README.md").read_text()
    ):
        assert match[1] in targets | {*COMMANDS}, match[0]
