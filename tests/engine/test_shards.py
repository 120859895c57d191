"""A model split in two, fetched as two pinned files, answers on a real engine as the whole does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from generator.client import Client
from generator.engines.wheel import WheelEngine
from generator.errors import EngineError
from generator.models.metadata import read_metadata
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.outcome import Answered
from generator.pin_types import ModelFile, ModelPin, UrlSource
from generator.pins import load_pins
from generator.settings import Sampling, ServerSettings, sampling_fields
from tests.engine.conftest import ALIAS, ONE_THREAD, ROOT
from tests.shards import split
from tests.unit.models.file_server import Served, serving
from tests.unit.models.wheel_maker import digest

pytestmark = pytest.mark.engine

PROMPT = "The capital of France is"


@pytest.fixture(scope="module")
def split_model(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelPin]:
    """Pin the shards of the real model, offered by a server each."""
    folder = tmp_path_factory.mktemp("shards")
    paths = split(model, folder, 2)
    bodies = [path.read_bytes() for path in paths]
    shutil.rmtree(folder)
    with serving(Served(bodies[0])) as first, serving(Served(bodies[1])) as second:
        files = [
            ModelFile(
                file=path.name.replace(model.stem, "smol"),
                bytes=len(body),
                sha256=digest(body),
                source=UrlSource(type="url", urls=(served.url,)),
            )
            for path, body, served in zip(paths, bodies, (first, second), strict=True)
        ]
        whole = load_pins(ROOT).model(ALIAS).model_dump() | files[0].model_dump()
        yield ModelPin.model_validate(whole | {"shards": files[1:]}, strict=False)


@contextmanager
def answering(engine: WheelEngine, path: Path) -> Iterator[dict[str, Any]]:
    settings = ServerSettings.model_validate({"warmup": False, **ONE_THREAD})
    body = {
        **sampling_fields(Sampling(max_tokens=24, temperature=0, n_probs=2), "completion"),
        "prompt": PROMPT,
        "seed": 1,
        "return_tokens": True,
    }
    with engine.launch(settings, path, ALIAS) as server, Client(server) as client:
        outcome = client.ask("completion", body, 60.0)
        assert isinstance(outcome, Answered), outcome
        yield outcome.response


def test_shards_answer_as_the_whole_does(
    split_model: ModelPin, model: Path, engine: WheelEngine, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    first = fetch_model(split_model, store, NoProgress())
    assert {p.name for p in first.parent.iterdir()} == {f.file for f in split_model.files}
    assert read_metadata(first) == read_metadata(model)
    with answering(engine, first) as split_answer, answering(engine, model) as whole_answer:
        assert len(split_answer["tokens"]) == 24
        assert split_answer["tokens"] == whole_answer["tokens"]
        probabilities = "completion_probabilities"
        assert split_answer[probabilities] == whole_answer[probabilities]
        told = split_answer["tokens"]
    linked = tmp_path / "linked"  # as the hub's own cache keeps them
    linked.mkdir()
    for file in split_model.files:
        (linked / file.file).symlink_to(store.path(file.sha256) or "")
    with answering(engine, linked / first.name) as linked_answer:
        assert linked_answer["tokens"] == told
    (first.parent / split_model.files[1].file).unlink()
    with pytest.raises(EngineError), answering(engine, first):
        pass
