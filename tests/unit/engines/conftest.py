"""A fake engine for the real child, compiled ones, and a file that begins like a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.engines.wheel import WheelEngine
from generator.models.store import Store
from tests.unit.engines.compiled import compile_server

FAKE = Path(__file__).parent / "fake"


@pytest.fixture
def engine() -> WheelEngine:
    return WheelEngine(FAKE, timeout_s=20.0)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and more")
    return path


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return two compiled programs in place of llama-server, by build; copy, never change them."""
    folder = tmp_path_factory.mktemp("builds")
    return {
        build: compile_server(folder / f"llama-b{build}", build).parent for build in (6543, 6600)
    }


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")
