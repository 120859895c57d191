"""What the model was given, on a real engine: ids that add up, and templates that read a clock."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from generator.cli import invoke

ROOT = Path(__file__).resolve().parents[2]
PINS = ROOT / "receipts" / "pins"
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
)
DECLARATION = """
title: {{zh: 时钟, en: A clock}}
summary: {{zh: 模板会读时钟, en: A template that reads the clock}}
author: {{name: tests, prose: machine}}
defaults:
  model: smollm2-135m-instruct-q4_1
  engine: llama-server-b11549
  server: {{threads: 1, threads_batch: 1, n_ctx: 512, cache_prompt: false}}
  sampling: {{temperature: 0, seed: 42, max_tokens: 12, {sampling}}}
experiments:
  again:
    kind: replay
    title: {{zh: 重放, en: Replays}}
    endpoint: chat
    prompt: Say hello.
    runs: {runs}
    server: {{chat_template: clocked, cache_prompt: {cache}}}
claims:
  repeats:
    when: again.identical_bytes
    topic: {{zh: 重放, en: replays}}
    holds: {{zh: 每次都一样。, en: Every replay is the same.}}
    fails: {{zh: 有一次不一样。, en: One of them is another.}}
"""
PAGE = '{{ show("again") }}\n\n{{ claim("repeats") }}\n'

pytestmark = pytest.mark.engine


def declared(
    root: Path,
    template: str,
    *,
    runs: int = 4,
    cache: bool = False,
    sampling: str = "",
    body: str = CHATML,
) -> None:
    """Declare a replay whose chat template begins with *template*."""
    shutil.copytree(PINS, root / "receipts" / "pins")
    (root / "receipts" / "chat-templates").mkdir()
    (root / "receipts/chat-templates/clocked.jinja").write_text(template + body)
    (root / "receipts/clock.yaml").write_text(
        DECLARATION.format(runs=runs, cache=str(cache).lower(), sampling=sampling),
        encoding="utf-8",
    )
    pages = root / "templates" / "articles" / "clock"
    pages.mkdir(parents=True)
    for lang in ("zh", "en"):
        (pages / f"{lang}.md.j2").write_text(PAGE)


def measured(root: Path, template: str, **settings: Any) -> dict[str, Any]:
    """Measure such a replay, render, audit."""
    declared(root, template, **settings)
    for command in (["check"], ["run"], ["render"], ["audit"]):
        assert invoke(["--root", str(root), *command]) == 0, command
    loaded: dict[str, Any] = json.loads((root / "receipts/clock/again.json").read_text())
    return loaded


def test_answers_to_prompts_that_the_clock_makes_differ_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = measured(tmp_path, '{{ strftime_now("%Y-%m-%d %H:%M:%S") }}\n', runs=30)
    told = "receipts/chat-templates/clocked.jinja:1: `strftime_now` reads the clock"
    assert told in capsys.readouterr().err
    assert len({ask["prompt"] for ask in receipt["boots"][0]["asks"]}) > 1
    assert receipt["analysis"]["invalid"] > 0
    page = (tmp_path / "site/en/articles/clock.md").read_text(encoding="utf-8")
    assert "The chat template reads the clock" in page
    assert "differs" not in page
    assert "One of them is another" not in page


def test_a_template_that_tells_the_day_alone_gives_prompts_that_are_compared(
    tmp_path: Path,
) -> None:
    receipt = measured(tmp_path, '{{ strftime_now("%Y-%m") }}\n')
    assert receipt["analysis"]["invalid"] == 0
    assert receipt["analysis"]["identical"] == 4


@pytest.mark.parametrize("cache", [False, True])
def test_the_ids_of_a_chat_are_as_many_as_were_evaluated_and_cached(
    tmp_path: Path, *, cache: bool
) -> None:
    receipt = measured(tmp_path, "", cache=cache)
    (prompt,) = receipt["prompts"].values()
    assert prompt["text"].strip() == "<|im_start|>user\nSay hello.<|im_end|>\n<|im_start|>assistant"
    for ask in receipt["boots"][0]["asks"]:
        timings = ask["outcome"]["response"]["timings"]
        assert timings["cache_n"] + timings["prompt_n"] == len(prompt["ids"])
        assert ask["mismatches"] == []
    assert receipt["analysis"]["invalid"] == 0


def test_a_template_that_is_not_jinja_is_refused_by_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match="check"):
        measured(tmp_path, "first line\n{{ if .System }}{{ .System }}{{ end }}")
    assert "receipts/chat-templates/clocked.jinja:2:1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("first line\n{{ messages | no_such_filter }}", "2:13"),
        ("{{ no_such_function() }}", "1:20"),
        ("{{ if .System }}{{ .System }}{{ end }}", "1:1"),
    ],
)
def test_a_template_that_the_engine_cannot_use_leads_back_to_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], template: str, place: str
) -> None:
    declared(tmp_path, template)
    assert invoke(["--root", str(tmp_path), "run"]) == 3
    assert f"receipts/chat-templates/clocked.jinja:{place}: " in capsys.readouterr().err


def test_a_template_that_refuses_the_messages_leads_back_to_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hello = '{% if messages[0].content == "Say hello." %}'
    declared(tmp_path, hello + '{{ raise_exception("not this") }}{% endif %}', runs=2)
    assert invoke(["--root", str(tmp_path), "run"]) == 6
    told = capsys.readouterr().err
    assert "receipts/chat-templates/clocked.jinja:1:" in told
    assert "not this" in told


@pytest.mark.parametrize(
    "template",
    [
        '{% set clock = strftime_now %}{{ clock("%H:%M:%S") }}',
        '{% set tools = {"time": strftime_now} %}{{ tools.time("%S") }}',
    ],
)
def test_a_clock_that_is_read_under_another_name_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], template: str
) -> None:
    receipt = measured(tmp_path, template, runs=30)
    assert "clocked.jinja:1: `strftime_now` reads the clock" in capsys.readouterr().err
    assert receipt["analysis"]["invalid"] > 0
    page = (tmp_path / "site/en/articles/clock.md").read_text(encoding="utf-8")
    assert "The chat template reads the clock" in page
    assert "differs" not in page


def test_the_day_that_the_server_gives_templates_is_known_as_a_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = measured(tmp_path, "{{ datetime }} {{ date_string }}\n")
    told = capsys.readouterr().err
    assert "`datetime` reads the clock" in told
    assert "`date_string` reads the clock" in told
    (prompt,) = receipt["prompts"].values()
    assert prompt["text"].split()[2] == receipt["started"][:4]
    assert receipt["analysis"]["identical"] == 4


OFF = "extra: {chat_template_kwargs: {enable_thinking: false}}"
THINKING = (Path(__file__).parent / "thinking.jinja").read_text(encoding="utf-8")
# it opens a thought whether or not that was switched off
DEAF = THINKING.replace(r"<think>\n\n</think>\n\n", r"<think>\n")


def test_thinking_that_comes_although_it_was_switched_off_is_not_claimed(tmp_path: Path) -> None:
    receipt = measured(tmp_path, "", body=DEAF, runs=2, sampling=OFF)
    for ask in receipt["boots"][0]["asks"]:
        assert [odd["name"] for odd in ask["mismatches"]] == ["enable_thinking"]
    assert receipt["analysis"]["invalid"] == 2
    page = (tmp_path / "site/en/articles/clock.md").read_text(encoding="utf-8")
    assert "A response reports something else than was asked" in page
    assert "enable&#95;thinking" in page
    assert "Every replay is the same" not in page


@pytest.mark.parametrize("sampling", ["", OFF])
def test_the_ids_of_a_thinking_chat_are_as_many_as_were_evaluated(
    tmp_path: Path, sampling: str
) -> None:
    receipt = measured(tmp_path, "", body=THINKING, runs=2, sampling=sampling)
    (prompt,) = receipt["prompts"].values()
    assert prompt["text"].rstrip().endswith("</think>" if sampling else "<think>")
    for ask in receipt["boots"][0]["asks"]:
        assert ask["mismatches"] == []
        assert ask["outcome"]["response"]["timings"]["prompt_n"] == len(prompt["ids"])
    assert receipt["analysis"]["invalid"] == 0
