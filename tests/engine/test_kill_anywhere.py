"""The real engine's runs killed at random points: they go on, and end as if nothing had been."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from generator.engines.wheel import WheelEngine
from generator.models.store import Store
from tests.engine.conftest import ALIAS, ROOT
from tests.faults.killing import Driver, clean, content, first_run, trial
from tests.faults.stage import Stage

SEED = 20_261_203
POINTS = 10

pytestmark = pytest.mark.engine


@pytest.fixture
def driver(tmp_path: Path, engine: WheelEngine, model: Path) -> Iterator[Driver]:
    stage = Stage(tmp_path)
    assert engine.root.is_relative_to(Store.of_user().root)
    assert model.is_file()
    stage.cache = Store.of_user().root
    for pin, file, name in (
        (stage.pin_engine, "engines", "llama-server-b11549"),
        (stage.pin_model, "models", ALIAS),
    ):
        text = (ROOT / f"receipts/pins/{file}.yaml").read_text(encoding="utf-8")
        pin(yaml.safe_load(text)[file][name])
    made = Driver(stage)
    yield made
    made.close()
    assert stage.processes() == []


@pytest.mark.timeout(900)  # on a machine that has much else to do
def test_a_run_killed_anywhere_goes_on(driver: Driver) -> None:
    stage, dice = driver.stage, random.Random(SEED)  # noqa: S311 - for points only
    trials = first_run(driver)
    expected, files = content(stage), stage.files()
    while trials.points < POINTS:
        clean(stage)
        trial(driver, dice, trials, by_step=trials.points % 2 == 0)
        assert content(stage) == expected
        assert stage.files() == files
    print(f"seed {SEED}, {POINTS} points: {trials}")  # noqa: T201 - the figures are wanted
