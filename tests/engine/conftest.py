"""The real engines and the real model, fetched or built as pinned into the user's store, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from generator import pin_types
from generator.engines.base import Engine, Obtained, RunningServer
from generator.engines.guarded import GuardedEngine
from generator.engines.source import obtain
from generator.engines.wheel import WheelEngine
from generator.journal import Journal
from generator.models.engine_files import fetch_engine
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pins import load_pins
from generator.plan import Boot, Plan
from generator.receipt import AskRecord, BootRecord
from generator.run import run_plan, utc_now
from generator.settings import ServerSettings

ROOT = Path(__file__).parents[2]
ALIAS = "smollm2-135m-instruct-q4_1"
# Two threads that wait for each other crawl when anything else runs.
ONE_THREAD = {"threads": 1, "threads_batch": 1}

Launch = Callable[..., AbstractContextManager[RunningServer]]
Measure = Callable[[tuple[Boot, ...]], list[BootRecord]]


@pytest.fixture(scope="session")
def engine() -> WheelEngine:
    pin = load_pins(ROOT).engine("llama-server-b11549")
    assert isinstance(pin, pin_types.WheelEngine)
    return WheelEngine(fetch_engine(pin, Store.of_user(), NoProgress()).root)


@pytest.fixture(scope="session")
def model() -> Path:
    return fetch_model(load_pins(ROOT).model(ALIAS), Store.of_user(), NoProgress(), root=ROOT)


@pytest.fixture(scope="session")
def built() -> Obtained:
    """Return the engine built from source; `make test` has built it before, since it takes long."""
    pin = load_pins(ROOT).engine("llama-server-b11434")
    assert isinstance(pin, pin_types.SourceEngine)
    return obtain(pin, Store.of_user(), NoProgress())


@pytest.fixture(scope="session")
def server_program(built: Obtained) -> Path:
    """Return the llama-server that was built."""
    assert isinstance(built.engine, GuardedEngine)
    return built.engine.program


@pytest.fixture(scope="session")
def launch(engine: WheelEngine, model: Path) -> Launch:
    """Start a fresh, hence cold, server of the embedded engine with the given settings."""
    return launching(engine, model)


def launching(engine: Engine, model: Path) -> Launch:
    """Return a function that starts a fresh server of an engine with the given settings."""

    def start(
        template_path: Path | None = None, **settings: object
    ) -> AbstractContextManager[RunningServer]:
        full = ServerSettings.model_validate({"warmup": False, **ONE_THREAD, **settings})
        return engine.launch(full, model, ALIAS, template_path)

    return start


class Nobody:
    """Watches a run and says nothing."""

    def booting(self, plan: Plan, boot: Boot) -> None:
        """Do nothing."""

    def asked(self, plan: Plan, boot: Boot, record: AskRecord, *, resumed: bool) -> None:
        """Do nothing."""


@pytest.fixture
def measure(engine: WheelEngine, model: Path, tmp_path: Path) -> Measure:
    """Run boots on the real engine."""

    def launch(boot: Boot) -> AbstractContextManager[RunningServer]:
        return engine.launch(boot.server, model, boot.model, None)

    def run(boots: tuple[Boot, ...]) -> list[BootRecord]:
        plan = Plan("some-article", "some-experiment", "some-kind", boots)
        with Journal(tmp_path / "journal.jsonl", {}, utc_now()) as journal:
            run_plan(plan, launch, journal, Nobody(), lambda _boot, _ask: 60.0)
            return [journal.boots[boot.name].whole() for boot in boots]

    return run
