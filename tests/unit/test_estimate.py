"""The guess of how long a plan takes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from generator.estimate import Speeds, estimate_s, size_of, tokens_in
from generator.experiments.kind import one_boot
from generator.experiments.repeat import Repeat
from generator.plan import Plan
from tests.unit.experiments.resolving import resolved

SPEEDS = Speeds(boot_s=2.0, read=100.0, written=10.0)


def plan_of(prompt: str, **fields: Any) -> Plan:
    sampling = {"seed": 1, "max_tokens": 30}
    experiment = resolved(Repeat, runs=2, sampling=sampling, **fields)
    asked = replace(experiment, prompts={"prompt": prompt})
    return Plan("some-article", "some-experiment", "repeat", one_boot(asked, 2))


@pytest.mark.parametrize("endpoint", ["completion", "chat"])
def test_a_plan_takes_its_boots_prompts_and_answers(endpoint: str) -> None:
    plan = plan_of("x" * 800, endpoint=endpoint, server={"cache_prompt": False})
    assert estimate_s(plan, SPEEDS) == pytest.approx(2 + 2 * (200 / 100 + 30 / 10))


def test_a_warm_ask_reads_one_token() -> None:
    plan = plan_of("x" * 800, server={"cache_prompt": True})
    assert estimate_s(plan, SPEEDS) == pytest.approx(2 + 2 + 0.01 + 2 * 3)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("four", 1), ("模型", 2), ("four 模型", 3)])
def test_tokens_are_guessed_by_script(text: str, tokens: int) -> None:
    assert tokens_in(text) == tokens


def test_several_plans_are_told_by_their_asks_boots_and_seconds() -> None:
    told = size_of([plan_of("x" * 80), plan_of("x" * 8000)])
    assert re.fullmatch(r"4 asks in 2 boots, about \d+ s", told)
    assert int(told.split()[-2]) == round(estimate_s(plan_of("x" * 80)) * 2 + 1980 / 250)
