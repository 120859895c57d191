"""A fake engine for the real child, and a file that begins like a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.engines.wheel import WheelEngine
from generator.models.store import Store

FAKE = Path(__file__).parent / "fake"


@pytest.fixture
def engine() -> WheelEngine:
    return WheelEngine(FAKE, timeout_s=20.0)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and more")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")
