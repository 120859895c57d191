"""A page is made from receipts: no edit of a setting in the declaration reaches it."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from generator.article import render_page
from generator.article.words import LANGUAGES, Language
from generator.errors import InputError
from generator.evidence import declare, gather
from generator.experiments import kinds
from generator.receipt import Receipt
from tests.factory import chat_response, completion_response
from tests.project import FIXTURE, receipt_of, templates_of

DECLARED = """
title: {zh: 全部, en: Everything}
summary: {zh: 每种一个。, en: One of each kind.}
author: {name: tests, prose: machine}
defaults:
  model: tiny-q4_1
  engine: tiny-engine
  server: {threads: 2, n_ctx: 1024, n_ubatch: 64, cache_prompt: false}
  sampling: {seed: 42, temperature: 0, top_k: 40, max_tokens: 8}
experiments:
  runs:
    {kind: repeat, endpoint: completion, prompt: The sky is, runs: 3,
    sampling: {seed: drawn, temperature: 0.7}}
  replays:
    {kind: replay, endpoint: chat, prompt: Say hello, runs: 3, server: {cache_prompt: true}}
  widths: {kind: ubatch, endpoint: completion, prompt: Count, widths: [16, 32], asks: 2}
  thoughts: {kind: thinking, endpoint: chat, prompt: Think, runs: 2, sampling: {seed: drawn}}
  several: {kind: panel, endpoint: completion, prompts: {one: First, two: Second}, threads: [1, 2]}
  crowd:
    {kind: concurrency, endpoint: completion, prompt: Hello, mode: identical, size: small,
     slots: [1, 2], asks: 4, rounds: 2, control: {seed: 43, temperature: 0.8}}
  openings:
    {kind: prefix, endpoint: completion, prompt: one two three four five six, lengths: [8, 20],
     control: {seed: 43, temperature: 0.8}}
  suspects:
    kind: sweep
    endpoint: completion
    prompt: Hello
    design: one-at-a-time
    factors: {cache: [cold, warm], n_ubatch: [64, 32]}
    warm_asks: 1
    control: {seed: 43, temperature: 0.8}
    interventions:
      unused:
        {cache: warm, reuse: false, predict: {same_as: {}}, because: {zh: 理由。, en: A reason.}}
"""
WORDING = {"title", "because"}
WORDS = ["chat", "completion", "drawn", "off", "on", "full", "pairs", "serial", "cold", "warm"]


def declaration() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(DECLARED)
    for name, experiment in data["experiments"].items():
        experiment["title"] = {"zh": f"题 {name}", "en": f"Title {name}"}
    return data


def project(root: Path) -> Path:
    shutil.copytree(FIXTURE, root, dirs_exist_ok=True)
    folder = root / "templates" / "articles" / "everything"
    folder.mkdir(parents=True)
    shown = "\n\n".join(f'{{{{ show("{name}") }}}}' for name in declaration()["experiments"])
    for lang in LANGUAGES:
        (folder / f"{lang}.md.j2").write_text(shown)
    write(root, declaration())
    return root


def write(root: Path, data: Mapping[str, Any]) -> None:
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    (root / "receipts" / "everything.yaml").write_text(text, encoding="utf-8")


@cache
def receipts(root: Path) -> Mapping[str, Receipt]:
    write(root, declaration())
    declared = declare(root, "everything")
    found = {}
    for name, experiment in declared.experiments.items():
        respond = chat_response if experiment.spec.endpoint == "chat" else completion_response
        found[name] = receipt_of(root, declared, name, lambda _boot, _ask, r=respond: r())  # type: ignore[misc]
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("everything"))


def page(root: Path, lang: Language, *, measured: Mapping[str, Receipt] | None = None) -> str:
    evidence = gather(declare(root, "everything"), measured or receipts(root))
    return render_page(templates_of(root), evidence, lang)


def without_banner(text: str) -> str:
    return re.sub(r'(?s)<div class="stale".*?</div>\s*', "", text)


def edits(
    value: Any, at: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield each place of a declaration's settings, and what to try there in turn."""
    match value:
        case dict():
            for key, part in value.items():
                if key not in WORDING:
                    yield from edits(part, (*at, key))
        case list():
            for index, part in enumerate(value):
                yield from edits(part, (*at, index))
            yield at, [value[:-1]]
        case bool():
            yield at, [not value]
        case int() | float():
            yield at, [value + 1, value + 0.5, 0.9]
        case str():
            yield at, [f"{value} more", *(w for w in WORDS if w != value), *kinds()]


def changed(data: dict[str, Any], at: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    new = copy.deepcopy(data)
    holder: Any = new
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = value
    return new


def accepted(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Write each edit that makes another valid declaration, and yield its place and the data."""
    data = declaration()
    settings = {key: data[key] for key in ("defaults", "experiments")}
    for at, values in edits(settings):
        for value in values:
            new = changed(data, at, value)
            write(root, new)
            try:
                declare(root, "everything")
            except InputError:
                continue
            yield ".".join(map(str, at)), new
            break


def test_it_has_every_kind(root: Path) -> None:
    assert {receipt.kind for receipt in receipts(root).values()} == set(kinds())


def test_no_edit_of_a_setting_changes_more_of_a_page_than_its_banner(root: Path) -> None:
    measured = receipts(root)
    write(root, declaration())
    before = {lang: page(root, lang) for lang in LANGUAGES}
    assert not any("stale" in text for text in before.values())
    tried = []
    for index, (at, _) in enumerate(accepted(root)):
        lang = LANGUAGES[index % 2]
        after = page(root, lang, measured=measured)
        assert without_banner(after) == before[lang], at
        tried.append(at)
        stale = gather(declare(root, "everything"), measured).stale
        assert ('<div class="stale"' in after) == bool(stale), at
    for name, experiment in declaration()["experiments"].items():
        assert sum(at.startswith(f"experiments.{name}.") for at in tried) >= 2, experiment["kind"]
    for setting in ("sampling.temperature", "sampling.max_tokens", "server.threads", "model"):
        assert any(at.endswith(setting) for at in tried), setting


def test_a_page_shows_the_settings_that_were_sent(root: Path) -> None:
    """What the test above keeps from changing is on the page: of each kind, with its link."""
    write(root, declaration())
    for lang in LANGUAGES:
        text = page(root, lang)
        for name in receipts(root):
            assert f"everything/{name}.json#/boots/0/asks/0/request/temperature" in text
        assert "runs.json#/boots/0/asks/0/request/prompt" in text
        assert "thoughts.json#/boots/0/asks/0/request/max_tokens" in text
        assert "several.json#/boots/0/engine" in text
        assert "crowd.json#/boots/0/asks/0/request/cache_prompt" in text


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [("temperature", 0.9, "0&#46;9"), ("prompt", "Something else", "Something&#32;else")],
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_rows_that_were_not_sent_the_same_say_so(
    root: Path, lang: Language, key: str, value: object, shown: str
) -> None:
    write(root, declaration())
    receipt = receipts(root)["runs"]
    boot = receipt.boots[0]
    last = boot.asks[-1]
    other = last.model_copy(update={"request": {**last.request, key: value}})
    boots = [boot.model_copy(update={"asks": [*boot.asks[:-1], other]})]
    odd = receipt.model_copy(update={"boots": boots})
    text = page(root, lang, measured={"runs": odd})
    rows = re.findall(r'(?m)^<tr.*data-label="(?:第几次|run)".*$', text)
    assert [f">{shown}</a>" in row for row in rows] == [False, False, True]
    assert [f"/request/{key}" in row for row in rows] == [True, True, True]
    caption = re.search(r"(?s)<caption>.*?</caption>", text)
    assert caption
    assert {"zh": "见各行", "en": "see rows"}[lang] in caption[0]
    assert f"/request/{key}" not in caption[0]
