"""A store that may only be read serves all that it has, and says what it cannot do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.models.named import named_key
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pin_types import ModelPin
from tests.sealed import bound_receipts, sealed
from tests.unit.models.file_server import Served, serving
from tests.unit.models.test_shards import BODIES, by_url
from tests.unit.models.tiny import pin, project_of
from tests.unit.models.wheel_maker import digest


@pytest.fixture
def split() -> Iterator[ModelPin]:
    """Pin a model of three shards, of which the first is also a model by itself."""
    first, second, third = (Served(body) for body in BODIES)
    with serving(first), serving(second), serving(third):
        yield by_url([first, second, third]).model_copy(update={"name": "split"})


@pytest.fixture
def read_only(split: ModelPin, store: Store) -> Iterator[Store]:
    """Fill a store, forget everything about it but its files, and seal it."""
    fetch_model(split, store, NoProgress())
    (store.root / "digests.json").unlink()
    for folder in ("locks", "partial", "scratch", "engines"):
        shutil.rmtree(store.root / folder)
    with sealed(store.root):
        yield store


def test_what_is_there_is_served(read_only: Store, split: ModelPin, tmp_path: Path) -> None:
    whole = split.files[0].source
    assert whole.type == "url"
    project = project_of(tmp_path, split, pin(*whole.urls, body=BODIES[0]))
    for name in ("split", "tiny"):
        fetched = bound_receipts(project, read_only.root, "fetch", "--model", name)
        assert (fetched.returncode, fetched.stdout.splitlines()[-1]) == (
            0,
            "Everything that was asked for is here and verified.",
        )
    verified = bound_receipts(project, read_only.root, "models", "verify")
    assert verified.returncode == 0
    assert "4 are here, and every byte is as it was pinned." in verified.stdout


def test_what_is_not_there_is_told(read_only: Store, served: Served, tmp_path: Path) -> None:
    project = project_of(tmp_path, pin(served.url))
    fetched = bound_receipts(project, read_only.root, "fetch", "--model", "tiny")
    assert fetched.returncode == 4
    assert "tiny could not be stored: the store may not be written to" in fetched.stderr
    assert "RECEIPTS_CACHE" in fetched.stderr
    assert served.seen == []


def test_what_is_not_needed_cannot_be_removed(read_only: Store, tmp_path: Path) -> None:
    project = project_of(tmp_path)
    assert bound_receipts(project, read_only.root, "models", "prune", "--dry-run").returncode == 0
    pruned = bound_receipts(project, read_only.root, "models", "prune")
    assert pruned.returncode == 4
    assert "could not be removed: Permission denied" in pruned.stderr


def test_shards_whose_folder_is_missing_are_told(
    split: ModelPin, store: Store, tmp_path: Path
) -> None:
    fetch_model(split, store, NoProgress())
    shutil.rmtree(store.named_root(named_key(split)))
    with sealed(store.root):
        fetched = bound_receipts(
            project_of(tmp_path, split), store.root, "fetch", "--model", "split"
        )
    assert fetched.returncode == 4
    assert "split: the folder of its shards could not be stored" in fetched.stderr


def test_a_change_is_seen_there_too(split: ModelPin, store: Store, tmp_path: Path) -> None:
    fetch_model(split, store, NoProgress())
    kept = store.path(split.sha256)
    assert kept is not None
    kept.chmod(0o644)
    kept.write_bytes(BODIES[0].replace(b"first", b"First"))
    with sealed(store.root):
        fetched = bound_receipts(
            project_of(tmp_path, split), store.root, "fetch", "--model", "split"
        )
    assert fetched.returncode == 4
    assert f"expected {len(BODIES[0])} bytes, sha256 {digest(BODIES[0])}" in fetched.stderr
