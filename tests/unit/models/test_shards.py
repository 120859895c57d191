"""Split models: pinned whole, fetched file by file, and found by name beside the first."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from generator.errors import FetchError
from generator.models.metadata import read_metadata
from generator.models.named import named_key
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pin_types import ModelPin, shard_names
from tests.shards import split
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.test_metadata import write_model
from tests.unit.models.wheel_maker import digest

NAMES = shard_names("tiny-00001-of-00003.gguf")
BODIES = [b"GGUF first " * 1000, b"GGUF second " * 900, b"GGUF third " * 1100]


def files(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"file": name, "bytes": len(body), "sha256": digest(body), "source": source}
        for name, body, source in zip(NAMES, BODIES, sources, strict=True)
    ]


def split_pin(parts: list[dict[str, Any]]) -> ModelPin:
    about = {"name": "tiny", "title": "Tiny", "license": "MIT", "quantization": "F32"}
    return ModelPin.model_validate({**about, **parts[0], "shards": parts[1:]}, strict=False)


@pytest.fixture
def servers() -> Iterator[list[Served]]:
    first, second, third = (Served(body) for body in BODIES)
    with serving(first), serving(second), serving(third):
        yield [first, second, third]


def by_url(servers: list[Served]) -> ModelPin:
    return split_pin(files([{"type": "url", "urls": [served.url]} for served in servers]))


def by_path(folder: Path) -> ModelPin:
    for name, body in zip(NAMES, BODIES, strict=True):
        (folder / name).write_bytes(body)
    return split_pin(files([{"type": "path", "path": str(folder / name)} for name in NAMES]))


def contents(first: Path) -> list[bytes]:
    return [(first.parent / name).read_bytes() for name in NAMES]


def test_shards_lie_beside_the_first_under_their_names(
    servers: list[Served], store: Store, heard: Heard
) -> None:
    pin = by_url(servers)
    first = fetch_model(pin, store, heard)
    assert first.name == NAMES[0]
    assert first.resolve().name == NAMES[0]
    assert contents(first) == BODIES
    assert heard.labels == [f"tiny: {name}" for name in NAMES]
    assert [(f.file, f.bytes, f.sha256) for f in pin.files] == [
        (name, len(body), digest(body)) for name, body in zip(NAMES, BODIES, strict=True)
    ]
    assert pin.total_bytes == sum(map(len, BODIES))


def test_links_take_no_room_and_digests_stay_known(
    servers: list[Served], store: Store, heard: Heard
) -> None:
    pin = by_url(servers)
    first = fetch_model(pin, store, heard)
    kept = store.path(pin.sha256)
    assert kept is not None
    assert first.samefile(kept)
    assert fetch_model(pin, Store(store.root), heard) == first
    assert heard.labels == [f"tiny: {name}" for name in NAMES]
    assert [len(served.seen) for served in servers] == [1, 1, 1]


def test_where_hard_links_are_refused_there_are_symbolic_ones(
    servers: list[Served], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_link: Path, _target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    first = fetch_model(by_url(servers), store, NoProgress())
    assert contents(first) == BODIES
    moved = shutil.move(store.root, store.root.with_name("moved"))
    assert contents(moved / first.relative_to(store.root)) == BODIES


def test_folder_which_leads_astray_is_made_anew(servers: list[Served], store: Store) -> None:
    pin = by_url(servers)
    first = fetch_model(pin, store, NoProgress())
    first.unlink()
    first.write_bytes(b"another")
    (first.parent / NAMES[2]).unlink()
    assert contents(fetch_model(pin, store, NoProgress())) == BODIES


def test_one_bad_shard_spoils_the_model_and_keeps_the_others(
    servers: list[Served], store: Store
) -> None:
    pin = by_url(servers)
    servers[1].body = BODIES[1].replace(b"second", b"sekond")
    with pytest.raises(FetchError, match=r"tiny: tiny-00002-of-00003.gguf is not the file"):
        fetch_model(pin, store, NoProgress())
    assert not store.named_root(named_key(pin)).exists()
    servers[1].body = BODIES[1]
    assert contents(fetch_model(pin, store, NoProgress())) == BODIES
    assert [len(served.seen) for served in servers] == [1, 2, 1]


def test_space_is_asked_for_all_of_them_at_once(
    servers: list[Served], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = (64 << 20) + max(map(len, BODIES))
    usage = shutil.disk_usage(store.root)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(FetchError, match=f"tiny needs {sum(map(len, BODIES)):,} more bytes"):
        fetch_model(by_url(servers), store, NoProgress())
    assert [served.seen for served in servers] == [[], [], []]


def test_own_shards_are_used_in_place(store: Store, tmp_path: Path) -> None:
    assert fetch_model(by_path(tmp_path), store, NoProgress()) == tmp_path / NAMES[0]
    assert list((store.root / "named").iterdir()) == []


def test_own_shards_under_other_names_or_apart_are_refused(store: Store, tmp_path: Path) -> None:
    by_path(tmp_path)
    (tmp_path / "other").mkdir()
    for name in (NAMES[1], "second.gguf"):
        (tmp_path / "other" / name).write_bytes(BODIES[1])
        paths = [tmp_path / NAMES[0], tmp_path / "other" / name, tmp_path / NAMES[2]]
        pin = split_pin(files([{"type": "path", "path": str(path)} for path in paths]))
        with pytest.raises(FetchError, match=f"looks for {NAMES[1]} in {tmp_path}") as caught:
            fetch_model(pin, store, NoProgress())
        assert "one folder" in caught.value.remedy


def test_all_who_make_the_folder_at_once_get_it(servers: list[Served], store: Store) -> None:
    pin, ready = by_url(servers), threading.Barrier(4)

    def fetch(_: int) -> list[bytes]:
        ready.wait()
        return contents(fetch_model(pin, Store(store.root), NoProgress()))

    with ThreadPoolExecutor(4) as makers:
        assert list(makers.map(fetch, range(4))) == [BODIES] * 4
    assert [len(served.seen) for served in servers] == [1, 1, 1]
    assert list((store.root / "scratch").iterdir()) == []


Change = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
FAULTS: dict[str, tuple[Change, str]] = {
    "one-missing": (lambda parts: parts[:2], "is one of several → pin"),
    "out-of-order": (lambda parts: [parts[0], parts[2], parts[1]], "is one of several → pin"),
    "second-first": (lambda parts: parts[1:], "is one of several → pin"),
    "one-twice": (
        lambda parts: [parts[0], {**parts[1], "sha256": parts[0]["sha256"]}, parts[2]],
        "two files share one sha256",
    ),
    "first-not-named-so": (
        lambda parts: [{**parts[0], "file": "tiny.gguf"}, *parts[1:]],
        "not named as a first shard is",
    ),
    "some-in-place": (
        lambda parts: [{**parts[0], "source": {"type": "path", "path": "x"}}, *parts[1:]],
        "make it all or none",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_shards_which_make_no_whole_are_no_pin(fault: str) -> None:
    change, message = FAULTS[fault]
    parts = files([{"type": "url", "urls": ["http://127.0.0.1/x"]}] * 3)
    with pytest.raises(ValidationError, match=message):
        split_pin(change(parts))


def test_metadata_counts_the_parameters_of_all_shards(tmp_path: Path) -> None:
    whole = write_model(tmp_path / "tiny.gguf", tensors=5)
    first, second = split(whole, tmp_path, 2)
    assert read_metadata(first) == read_metadata(whole)
    assert read_metadata(whole).parameters == 5 * 32
    second.rename(tmp_path / "elsewhere")
    with pytest.raises(FetchError, match="is one of 2, and they are not all beside it"):
        read_metadata(first)
    first.rename(tmp_path / "renamed.gguf")
    with pytest.raises(FetchError, match="is one of 2, and they are not all beside it"):
        read_metadata(tmp_path / "renamed.gguf")
