"""What all kinds share: the asks they make, and that a new kind needs no other change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import generator
from generator import experiments
from generator.article.page import render_page
from generator.evidence import declare, gather
from generator.experiments import kinds, plan_experiment
from generator.experiments.kind import ask_of, one_boot, seed_of
from generator.experiments.repeat import Repeat
from generator.plan import DrawnSeed, EngineSeed, FixedSeed, Seed
from tests.factory import completion_response, make_boot, make_receipt
from tests.unit.experiments.resolving import resolved

SOURCE = Path(generator.__file__).parent

NEW_KIND = '''
"""The kind `echo`: one ask, and how long its answer is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from generator.answers import read_answers
from generator.declaration import Experiment, Resolved
from generator.experiments.kind import Kind, one_boot
from generator.plan import Boot
from generator.receipt import BootRecord
from generator.schema import Count, Model


class Echo(Experiment):
    kind: Literal["echo"]


class Result(Model):
    characters: Count


def expand(resolved: Resolved[Echo]) -> tuple[Boot, ...]:
    return one_boot(resolved, 1)


def analyse(boots: Sequence[BootRecord]) -> Result:
    return Result(characters=sum(len(answer.text) for answer in read_answers(boots)))


KIND = Kind("echo", Echo, Result, expand, analyse)
'''
DECLARATION = """
title: {zh: 一, en: One}
summary: {zh: 二, en: Two}
author: {name: somebody, prose: human}
defaults: {model: some-model, engine: some-engine}
experiments:
  loud:
    kind: echo
    title: {zh: 三, en: Three}
    prompt: Hello
    endpoint: completion
claims:
  long:
    when: loud.characters > 3
    topic: {zh: 四, en: Four}
    holds: {zh: 是, en: "Yes"}
    fails: {zh: 否, en: "No"}
"""


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "kinds"
    folder.mkdir()
    (folder / "echo.py").write_text(NEW_KIND, encoding="utf-8")
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(folder)])
    kinds.cache_clear()
    yield tmp_path
    kinds.cache_clear()


def test_a_new_kind_is_one_file_and_one_template(echo: Path) -> None:
    files = {
        "receipts/some-article.yaml": DECLARATION,
        "templates/articles/some-article/en.md.j2": '{{ show("loud") }}\n\n{{ claim("long") }}\n',
        "templates/experiments/echo.md.j2": "It said {{ analysis.characters }} characters.\n",
    }
    for name, text in files.items():
        (echo / name).parent.mkdir(parents=True, exist_ok=True)
        (echo / name).write_text(text, encoding="utf-8")
    declaration = declare(echo, "some-article")
    plan = plan_experiment(declaration.experiments["loud"])
    assert (plan.kind, plan.asks) == ("echo", 1)
    boots = [make_boot([completion_response("hello")])]
    receipt = make_receipt("echo", boots, article="some-article", experiment="loud")
    assert receipt.analysis == {"characters": 5}
    evidence = gather(declaration, {"loud": receipt})
    assert evidence.claims["long"].holds
    page = render_page([echo / "templates", SOURCE.parent / "templates"], evidence, "en")
    assert "It said 5 characters." in page
    assert "Yes" in page


def test_the_known_kinds_are_found_in_their_folder() -> None:
    names = [path.stem for path in (SOURCE / "experiments").glob("[a-z]*.py")]
    assert list(kinds()) == sorted(set(names) - {"kind"})
    assert {kind.name for kind in kinds().values()} == set(kinds())


def test_every_kind_has_a_template() -> None:
    folder = SOURCE.parent / "templates" / "experiments"
    assert {path.name for path in folder.iterdir()} == {f"{kind}.md.j2" for kind in kinds()}


@pytest.mark.parametrize("module", ["run", "journal", "measure", "client", "plan", "receipt"])
def test_the_runner_names_no_kind(module: str) -> None:
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not (words | names) & set(kinds())
    imported = {
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    allowed = r"experiments\.(?!(kinds|plan_experiment)$)"
    assert not {name for name in imported if re.search(allowed, name)}


@pytest.mark.parametrize(
    ("seed", "kind"), [(7, FixedSeed(7)), ("drawn", DrawnSeed()), ("engine", EngineSeed())]
)
def test_seeds_come_from_the_sampling(seed: Any, kind: Seed) -> None:
    assert seed_of(resolved(Repeat, runs=2, sampling={"seed": seed})) == kind


def test_a_completion_asks_for_tokens_and_two_candidates() -> None:
    ask = ask_of(resolved(Repeat, runs=2, server={"cache_prompt": False}), "1", "cold")
    assert ask.body["prompt"] == "Hello"
    assert ask.body["return_tokens"] is True
    assert ask.body["n_probs"] == 2
    assert ask.body["cache_prompt"] is False
    assert ask.body["stream"] is False
    assert "seed" not in ask.body


def test_a_chat_asks_for_log_probabilities() -> None:
    one = resolved(Repeat, runs=2, endpoint="chat", sampling={"n_probs": 5, "seed": 1})
    ask = ask_of(one, "1", "cold")
    assert ask.body["messages"] == [{"role": "user", "content": "Hello"}]
    assert (ask.body["logprobs"], ask.body["top_logprobs"]) == (True, 5)
    assert not {"prompt", "n_probs", "seed"} & set(ask.body)


@pytest.mark.parametrize(
    ("cache_prompt", "caches", "divisible"),
    [(True, ["cold", "warm", "warm"], False), (False, ["cold", "cold", "cold"], True)],
)
def test_the_first_ask_is_cold_and_the_others_as_the_server_keeps_prompts(
    cache_prompt: bool, caches: list[str], divisible: bool
) -> None:
    (boot,) = one_boot(resolved(Repeat, runs=3, server={"cache_prompt": cache_prompt}), 3)
    assert [ask.cache for ask in boot.asks] == caches
    assert [ask.name for ask in boot.asks] == ["1", "2", "3"]
    assert boot.divisible is divisible
    assert len({str(ask.body) for ask in boot.asks}) == 1
