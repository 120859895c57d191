"""A plan says what will be asked; its digest changes with every part of it and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from generator.plan import Ask, Boot, DrawnSeed, EngineSeed, FixedSeed, Plan, seed_word
from generator.settings import ServerSettings

ASK = Ask("1", "completion", {"prompt": "a", "n_predict": 4}, FixedSeed(42), "cold")
BOOT = Boot("main", "engine", "model", ServerSettings(), (ASK, replace(ASK, name="2")))
PLAN = Plan("article", "experiment", "repeat", (BOOT, replace(BOOT, name="other")))

Change = Callable[[Any], Any]


def _ask(**fields: Any) -> Plan:
    changed = replace(BOOT, asks=(replace(ASK, **fields), BOOT.asks[1]))
    return replace(PLAN, boots=(changed, PLAN.boots[1]))


def _boot(**fields: Any) -> Plan:
    return replace(PLAN, boots=(replace(BOOT, **fields), PLAN.boots[1]))


CHANGED = {
    "article": replace(PLAN, article="b"),
    "experiment": replace(PLAN, experiment="b"),
    "kind": replace(PLAN, kind="replay"),
    "boots": replace(PLAN, boots=PLAN.boots[:1]),
    "order of boots": replace(PLAN, boots=PLAN.boots[::-1]),
    "boot name": _boot(name="b"),
    "boot engine": _boot(engine="b"),
    "boot model": _boot(model="b"),
    "boot asks": _boot(asks=BOOT.asks[:1]),
    "order of asks": _boot(asks=BOOT.asks[::-1]),
    "ask name": _ask(name="b"),
    "endpoint": _ask(endpoint="chat"),
    "body value": _ask(body={"prompt": "b", "n_predict": 4}),
    "body key": _ask(body={"prompt": "a"}),
    "whole or broken number": _ask(body={"prompt": "a", "n_predict": 4.0}),
    "fixed seed": _ask(seed=FixedSeed(43)),
    "drawn seed": _ask(seed=DrawnSeed()),
    "engine seed": _ask(seed=EngineSeed()),
    "cache": _ask(cache="warm"),
}


def _another(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case dict():
            return {"some_parameter": 1}
        case _:
            return f"{value}x"


@pytest.mark.parametrize("change", CHANGED)
def test_every_part_is_in_the_digest(change: str) -> None:
    assert CHANGED[change].sha256 != PLAN.sha256


def test_no_two_changes_look_alike() -> None:
    assert len({plan.sha256 for plan in CHANGED.values()}) == len(CHANGED)


@pytest.mark.parametrize("field", list(ServerSettings.model_fields))
def test_every_setting_is_in_the_digest(field: str) -> None:
    value = _another(getattr(ServerSettings(), field))
    server = ServerSettings().model_copy(update={field: value})
    assert _boot(server=server).sha256 != PLAN.sha256


def test_the_digest_does_not_depend_on_the_order_of_a_bodys_keys() -> None:
    assert _ask(body={"n_predict": 4, "prompt": "a"}).sha256 == PLAN.sha256


def test_the_plan_is_plain_data() -> None:
    data = PLAN.as_json()
    assert json.loads(json.dumps(data)) == json.loads(json.dumps(data, sort_keys=True))
    assert data["boots"][0]["asks"][0] == {
        "name": "1",
        "endpoint": "completion",
        "body": {"prompt": "a", "n_predict": 4},
        "seed": 42,
        "cache": "cold",
        "together": None,
    }
    assert PLAN.asks == 4


def test_seeds_are_written_as_declared() -> None:
    assert [seed_word(seed) for seed in (FixedSeed(7), DrawnSeed(), EngineSeed())] == [
        7,
        "drawn",
        "engine",
    ]


def test_a_boot_is_divisible_only_if_no_ask_needs_a_warm_cache() -> None:
    warm = replace(ASK, name="2", cache="warm")
    assert BOOT.divisible
    assert not replace(BOOT, asks=(ASK, warm)).divisible


def test_a_boot_is_not_divisible_if_asks_are_sent_at_once() -> None:
    together = tuple(replace(ask, together="crowd") for ask in BOOT.asks)
    assert not replace(BOOT, asks=together).divisible
    assert not replace(BOOT, asks=(ASK, *together)).divisible
