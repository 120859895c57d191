"""What the tests of fetching share."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.models.store import Store
from tests.unit.models.heard import Heard


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")
