"""The real llama-server out of an archive, in place and by LLAMA_SERVER: one program."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.cli import invoke
from generator.client import Client
from generator.engines.base import Obtained
from generator.engines.path import obtain as obtain_path
from generator.engines.path import pin_what_is_there
from generator.engines.url import obtain as obtain_url
from generator.models.progress import NoProgress
from generator.models.store import Store
from generator.outcome import Answered
from generator.pin_types import LOCAL_ENGINE, UrlEngine
from generator.pins import platform_name
from generator.settings import Sampling, ServerSettings, sampling_fields
from tests.engine.conftest import ALIAS, ONE_THREAD, ROOT
from tests.unit.models.file_server import Served, serving
from tests.unit.models.wheel_maker import digest

pytestmark = pytest.mark.engine

MEMBER = "build/bin/llama-server"
DECLARATION = """\
title: {zh: 小, en: Small}
summary: {zh: 小, en: Small}
author: {name: tests, prose: machine}
defaults:
  model: smollm2-135m-instruct-q4_1
  engine: llama-server-b11549
  server: {threads: 1, threads_batch: 1, warmup: false, cache_prompt: false}
  sampling: {max_tokens: 4}
experiments:
  runs:
    kind: repeat
    title: {zh: 连问, en: Asked again}
    endpoint: completion
    prompt: The sky is
    runs: 2
    sampling: {seed: drawn}
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@contextmanager
def released(program: Path, folder: Path) -> Iterator[UrlEngine]:
    """Serve an archive of a program as llama.cpp's releases were laid out, and pin it."""
    path = folder / "llama-b11434-bin.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        tar.add(program, arcname=MEMBER)
    body = path.read_bytes()
    with serving(Served(body)) as served:
        archive = {
            "urls": (served.url,),
            "bytes": len(body),
            "sha256": digest(body),
            "member": MEMBER,
        }
        yield UrlEngine.model_validate(
            {
                "name": "released",
                "type": "url",
                "title": "llama.cpp server b11434, released",
                "license": "MIT",
                "build": 11434,
                "archives": {platform_name(): archive},
            }
        )


def answer(obtained: Obtained, model: Path) -> list[int]:
    """Return the tokens of one answer on a fresh server of an engine."""
    settings = ServerSettings.model_validate({"warmup": False, **ONE_THREAD})
    fields = sampling_fields(Sampling(max_tokens=8, temperature=0.0), "completion")
    body = {**fields, "prompt": "Once upon a time", "cache_prompt": False, "return_tokens": True}
    with obtained.engine.launch(settings, model, ALIAS) as server, Client(server) as client:
        assert server.props["build_info"].startswith("b11434-")
        assert server.mismatches == ()
        assert "llama-server" in server.effective["loaded"]
        outcome = client.ask("completion", body, 60.0)
    assert isinstance(outcome, Answered), outcome
    tokens: list[int] = outcome.response["tokens"]
    return tokens


def test_out_of_an_archive_and_in_place_it_is_the_same_engine(
    server_program: Path, model: Path, store: Store, tmp_path: Path
) -> None:
    with released(server_program, tmp_path) as pin:
        out_of_archive = obtain_url(pin, store, NoProgress())
    own = pin_what_is_there("own", "Own", str(server_program), store, tmp_path)
    in_place = obtain_path(own, store, tmp_path)
    program = digest(server_program.read_bytes())
    assert {file.sha256 for file in out_of_archive.files} == {program}
    assert {file.sha256 for file in in_place.files} == {program}
    assert out_of_archive.version == in_place.version
    assert (out_of_archive.build, in_place.build) == (11434, 11434)
    tokens = answer(out_of_archive, model)
    assert len(tokens) == 8
    assert answer(in_place, model) == tokens


def test_a_run_by_llama_server_is_marked_and_the_audit_says_so(
    server_program: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(ROOT / "receipts/pins", tmp_path / "receipts/pins")
    (tmp_path / "receipts/small.yaml").write_text(DECLARATION, encoding="utf-8")
    root = ["--root", str(tmp_path)]
    monkeypatch.setenv("LLAMA_SERVER", str(server_program))
    assert invoke([*root, "run"]) == 0
    receipt = (tmp_path / "receipts/small/runs.json").read_text()
    engine = json.loads(receipt)["engines"][LOCAL_ENGINE]
    assert (engine["type"], engine["build"]) == ("path", 11434)
    assert engine["built"]["pinned"] == "when it was measured, by LLAMA_SERVER"
    assert engine["files"][0]["sha256"] == digest(server_program.read_bytes())
    assert str(server_program.parent) not in receipt
    capsys.readouterr()
    assert invoke([*root, "audit"]) == 7
    assert f"/engines/{LOCAL_ENGINE}: pinned" in capsys.readouterr().err
