"""A stage for each test, which is left without a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.stage import ROWS, Stage, Told

Fault = Callable[[str, Told], None]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    left = made.processes()
    for process in left:
        process.kill()
    for command in made.started:
        command.communicate()
    assert left == []


@pytest.fixture
def fault(stage: Stage, golden: Callable[[str, str], None]) -> Fault:
    """Return a function that checks a fault's message: on one screen, and word for word."""

    def check(name: str, told: Told) -> None:
        assert 0 < told.rows <= ROWS, "\n".join(told.message)
        text = stage.plain("\n".join(told.message)) + "\n"
        assert "a fault of receipts itself" not in text
        golden(f"faults/{name}.txt", text)

    return check
