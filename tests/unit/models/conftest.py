"""What the tests of fetching share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.models.store import Store
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.tiny import BODY


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(Served(BODY)) as served:
        yield served
