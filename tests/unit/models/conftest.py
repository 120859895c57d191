"""What the tests of fetching share."""

from __future__ import annotations

from pathlib import Path

import pytest
from heard import Heard

from generator.models.store import Store


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")
