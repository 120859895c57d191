"""A run whose engine and model lie in a store that may only be read, for real."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from generator.models.store import Store
from generator.pins import load_pins
from tests.engine.conftest import ALIAS, ROOT
from tests.project import FIXTURE
from tests.sealed import bound_receipts, sealed

pytestmark = pytest.mark.engine

ENGINE = "llama-server-b11549"


def mirrored(source: Path, target: Path) -> None:
    """Give a folder the files of another by links to them."""
    for folder, _, names in os.walk(source):
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True)
        for name in names:
            (place / name).symlink_to(Path(folder) / name)


@pytest.fixture
def store(model: Path, engine: object, tmp_path: Path) -> Path:  # noqa: ARG001 - it is fetched
    """Make a store of nothing but the engine's and the model's files."""
    pins, users = load_pins(ROOT), Store.of_user()
    made = tmp_path / "store"
    kept = made / model.relative_to(users.root)
    kept.parent.mkdir(parents=True)
    kept.symlink_to(model)
    for origin in pins.engine(ENGINE).origins:
        if users.engine_root(origin).is_dir():
            mirrored(users.engine_root(origin), made / "engines" / origin)
    return made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project that asks a real engine and model a little."""
    root = tmp_path / "project"
    shutil.copytree(FIXTURE / "receipts", root / "receipts")
    shutil.copytree(ROOT / "receipts/pins", root / "receipts/pins", dirs_exist_ok=True)
    declaration = root / "receipts/small.yaml"
    text = declaration.read_text().replace("tiny-q4_1", ALIAS).replace("tiny-engine", ENGINE)
    alone = "cache_prompt: false\n    threads: 1\n    threads_batch: 1\n"
    declaration.write_text(text.replace("cache_prompt: false\n", alone, 1))
    return root


def test_a_run_needs_to_write_nothing_there(
    store: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    with sealed(store):
        ran = bound_receipts(project, store, "run", "small/runs")
    assert ran.returncode == 0, ran.stderr
    text = (project / "receipts/small/runs.json").read_text()
    assert "hf_secret" not in text
    assert "mirror.example" not in text
    receipt = json.loads(text)
    answered = [ask["outcome"]["status"] for ask in receipt["boots"][0]["asks"]]
    assert answered == ["answered"] * 4
