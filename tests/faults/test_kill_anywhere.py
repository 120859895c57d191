"""A run may be killed anywhere: it goes on, loses no answer, asks none twice, and leaves nothing.

Half of the points are moments, drawn over the time that a whole run takes; the other half are steps
(see `driver`), drawn over all that a whole run has. Every fourth run is killed again while it goes
on. The figures are printed.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults.killing import Driver, Trials, asks, clean, content, first_run, trial
from tests.faults.stage import Stage

SEED = 20_261_202
POINTS = 200


@pytest.fixture
def drivers() -> Iterator[list[Driver]]:
    memory = Path("/dev/shm")  # noqa: S108 - where there is one: a disk only makes it slower
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        folders = [Path(folder) / name for name in ("moments", "steps")]
        made = [Driver(Stage(place)) for place in folders]
        yield made
        for driver in made:
            driver.close()
            assert driver.stage.processes() == []


def check_answers(stage: Stage) -> None:
    """Check that drawn seeds were drawn once, and that every answer is the server's to its seed."""
    requests = [(e["request"], e["response"]) for e in stage.events("asked")]
    told = {r["seed"]: response for r, response in requests if r["prompt"] == "The sky is"}
    drawn = asks(stage.receipts()["runs"]["boots"])
    assert len(told) == len(drawn)
    for ask in drawn.values():
        assert ask["outcome"]["response"] == told[ask["request"]["seed"]]


def kill(driver: Driver, *, by_step: bool) -> Trials:
    """Kill a run at half of the points, each time from the beginning."""
    stage, dice = driver.stage, random.Random(SEED + by_step)  # noqa: S311 - for points only
    trials = first_run(driver)
    expected, files = content(stage), stage.files()
    while trials.points < POINTS // 2:
        clean(stage)
        if trial(driver, dice, trials, by_step=by_step):
            check_answers(stage)
        assert content(stage) == expected
        assert stage.files() == files
    return trials


@pytest.mark.timeout(900)  # on a machine that has much else to do
def test_a_run_killed_anywhere_goes_on(drivers: list[Driver]) -> None:
    with ThreadPoolExecutor(len(drivers)) as pool:
        done = [
            pool.submit(kill, driver, by_step=by_step)
            for driver, by_step in zip(drivers, (False, True), strict=True)
        ]
    for kind, trials in zip(("moments", "steps"), [each.result() for each in done], strict=True):
        print(f"seed {SEED}, {POINTS // 2} {kind}: {trials}")  # noqa: T201 - wanted
        assert trials.where.keys() >= {"before a server was ready", "inside a boot", "after a boot"}
