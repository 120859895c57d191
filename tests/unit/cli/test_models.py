"""Tests of `receipts models`: what it shows, what it finds changed, and what it removes."""

from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.cli import invoke
from generator.models.engine_files import verify_engine
from generator.models.named import named_key
from generator.models.progress import NoProgress
from generator.models.scratch import lock_of
from generator.models.sources import fetch_model
from generator.models.store import Expected, Store
from generator.pin_types import ModelPin, PathSource, WheelEngine
from generator.pins import platform_name
from tests.unit.models.file_server import Served, serving
from tests.unit.models.test_package import LIBRARY, engine
from tests.unit.models.test_shards import BODIES, NAMES, by_url
from tests.unit.models.tiny import BODY, pin, project_of
from tests.unit.models.wheel_maker import digest, make_wheel

OTHER = b"GGUF of another project"
Pin = ModelPin | WheelEngine
Models = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("RECEIPTS_CACHE", str(tmp_path / "store"))
    return Store(tmp_path / "store")


@pytest.fixture
def models(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Models:
    """Return a function that runs a command of `receipts models` in a project with these pins."""
    assert store.root == Store.of_user().root

    def run(pins: list[Pin], *arguments: str) -> tuple[int, list[str], str]:
        shutil.rmtree(tmp_path / "project", ignore_errors=True)
        root = str(project_of(tmp_path, *pins))
        code = invoke(["--root", root, "models", *arguments])
        shown = capsys.readouterr()
        return code, shown.out.splitlines(), shown.err

    return run


def own_pin(path: Path) -> ModelPin:
    source = PathSource(type="path", path=str(path))
    return pin("http://127.0.0.1/x").model_copy(update={"name": "own", "source": source})


def fetched(store: Store, body: bytes = BODY) -> tuple[ModelPin, Path]:
    with serving(Served(body)) as served:
        model = pin(served.url, body=body)
        return model, fetch_model(model, store, NoProgress())


def fetched_split(store: Store) -> tuple[ModelPin, Path]:
    first, second, third = (Served(body) for body in BODIES)
    with serving(first), serving(second), serving(third):
        model = by_url([first, second, third]).model_copy(update={"name": "split"})
        return model, fetch_model(model, store, NoProgress())


def kept(store: Store, body: bytes) -> Path:
    """Put a file into the store that somebody else pinned."""
    made = store.root / "scratch" / "made"
    made.write_bytes(body)
    return store.add(made, Expected("other", len(body), digest(body)), digest(body))


def test_list_says_what_is_here_and_where_it_is_from(store: Store, models: Models) -> None:
    tiny, _ = fetched(store)
    split = by_url([Served(b"", url="http://a/x")] * 3).model_copy(update={"name": "split"})
    store.partial(split.shards[0].sha256).write_bytes(BODIES[1][:5])
    code, lines, err = models([tiny, split], "list")
    assert (code, err) == (0, "")
    assert lines == [
        "split: Tiny, 0.0 MB, MIT",
        f"  absent   {NAMES[0]}, from http://a/x",
        f"  partial (0.0 MB) {NAMES[1]}, from http://a/x",
        f"  absent   {NAMES[2]}, from http://a/x",
        "tiny: Tiny, 0.3 MB, MIT",
        f"  here     tiny.gguf, from {tiny.source.urls[0]}",  # type: ignore[union-attr]
    ]


def test_list_as_json(store: Store, models: Models, tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(BODY)
    split, _ = fetched_split(store)
    code, lines, err = models([own_pin(tmp_path / "own.gguf"), split], "list", "--json")
    assert (code, err) == (0, "")
    own, found = json.loads("\n".join(lines))
    assert own == {
        "name": "own",
        "title": "Tiny",
        "license": "MIT",
        "quantization": "F32",
        "bytes": len(BODY),
        "here": True,
        "files": [
            {
                "file": "tiny.gguf",
                "bytes": len(BODY),
                "sha256": digest(BODY),
                "origin": [str(tmp_path / "own.gguf")],
                "state": "here",
                "have_bytes": len(BODY),
            }
        ],
    }
    assert found["bytes"] == sum(map(len, BODIES))
    assert [file["file"] for file in found["files"]] == NAMES


def test_verify_reads_everything_again(store: Store, models: Models, tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(BODY)
    tiny, place = fetched(store)
    split, _ = fetched_split(store)
    pins = [own_pin(tmp_path / "own.gguf"), split, tiny]
    assert models(pins, "verify")[:2] == (
        0,
        [
            f"good     own ({len(BODY):,} bytes)",
            *(
                f"good     split: {name} ({len(body):,} bytes)"
                for name, body in zip(NAMES, BODIES, strict=True)
            ),
            f"good     tiny ({len(BODY):,} bytes)",
            "5 are here, and every byte is as it was pinned.",
        ],
    )
    # What the store remembers of a file is not believed.
    flipped = bytearray(BODY)
    flipped[1000] ^= 1
    place.chmod(0o644)
    place.write_bytes(flipped)
    store.note(place, digest(BODY))
    assert fetch_model(tiny, store, NoProgress()) == place
    code, lines, err = models(pins, "verify")
    assert code == 4
    assert lines[-1] == "CHANGED  tiny"
    assert "1 of 5 are not what was pinned." in err
    assert f"expected {len(BODY)} bytes, sha256 {digest(BODY)}" in err
    assert f"found    {len(BODY)} bytes, sha256 {digest(bytes(flipped))}" in err
    assert f"→ Remove {place} and run `receipts fetch`." in err


def test_verify_reads_engines_again_too(store: Store, models: Models, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "tinyengine", {"tinyengine/lib.so": LIBRARY})
    pin = engine(wheel)
    assert models([pin], "verify")[1][0] == "absent   tiny-engine"
    root = store.engine_root(*pin.origins)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root)
    code, lines, err = models([pin], "verify")
    assert (code, lines[0]) == (0, f"good     tiny-engine ({len(LIBRARY)} bytes)")
    assert err == "tiny-engine: verifying\n"
    library = root / "tinyengine/lib.so"
    library.write_bytes(LIBRARY[::-1])
    store.note(library, digest(LIBRARY))
    assert verify_engine(pin, store).library == library
    code, lines, err = models([pin], "verify")
    assert (code, lines) == (4, ["CHANGED  tiny-engine"])
    assert f"expected {len(LIBRARY)} bytes, sha256 {digest(LIBRARY)}" in err
    assert f"found    {len(LIBRARY)} bytes, sha256 {digest(LIBRARY[::-1])}" in err
    elsewhere = {"linux-aarch64", "macos-arm64"} - {platform_name()}
    artifacts = {elsewhere.pop(): next(iter(pin.artifacts.values()))}
    other = pin.model_copy(update={"artifacts": artifacts})
    assert models([other], "verify")[1][0] == "absent   tiny-engine"


def test_verify_says_what_is_not_here(models: Models) -> None:
    assert models([pin("http://127.0.0.1/x"), own_pin(Path("/no/model"))], "verify")[:2] == (
        0,
        ["absent   own", "absent   tiny", "0 are here, and every byte is as it was pinned."],
    )


def test_where(store: Store, models: Models, tmp_path: Path) -> None:
    tiny, place = fetched(store)
    split, first = fetched_split(store)
    own = own_pin(tmp_path / "own.gguf")
    pins = [own, split, tiny]
    assert models(pins, "where")[1] == [str(store.root)]
    assert models(pins, "where", "tiny")[1] == [str(place)]
    assert models(pins, "where", "split")[1] == [str(first)]
    code, lines, err = models(pins, "where", "own")
    assert (code, lines) == (4, [])
    assert "→ receipts fetch --model own" in err
    assert models(pins, "where", "tinny")[0] == 3


def test_prune_removes_what_no_pin_names(store: Store, models: Models) -> None:
    tiny, place = fetched(store)
    split, first = fetched_split(store)
    other = kept(store, OTHER)
    engine = store.engine_root("e" * 64)
    engine.mkdir()
    (engine / "library").write_bytes(b"x" * 1000)
    lines = [
        *sorted(
            (
                f"{len(body):>15,} bytes  sha256/{digest(body)[:2]}/{digest(body)}: no pin names it"
                for body in (OTHER, *BODIES)
            ),
            key=lambda line: line.split("sha256")[1],
        ),
        f"          1,000 bytes  engines/{'e' * 64}: no pin names it",
        f"              0 bytes  named/{named_key(split)}: no pin names it",
    ]
    freed = sum(map(len, (OTHER, *BODIES))) + 1000
    assert models([tiny], "prune", "--dry-run")[1] == [
        *lines,
        f"{freed:,} bytes would be freed in {store.root}.",
    ]
    assert other.exists()
    assert first.exists()
    assert models([tiny], "prune")[1] == [*lines, f"{freed:,} bytes freed in {store.root}."]
    folders = ("sha256", "engines", "named", "partial", "scratch")
    assert [p for f in folders for p in (store.root / f).rglob("*") if p.is_file()] == [place]
    assert models([tiny], "prune")[1] == [f"0 bytes freed in {store.root}."]


def test_prune_keeps_all_that_is_pinned(store: Store, models: Models) -> None:
    split, first = fetched_split(store)
    assert models([split], "prune")[1] == [f"0 bytes freed in {store.root}."]
    assert [(first.parent / name).read_bytes() for name in NAMES] == BODIES


def test_prune_knows_stale_from_resumable(store: Store, models: Models) -> None:
    tiny, _ = fetched(store)
    split = by_url([Served(b"", url="http://a/x")] * 3).model_copy(update={"name": "split"})
    old, young, there, unpinned = (
        store.partial(sha256)
        for sha256 in (split.sha256, split.shards[0].sha256, tiny.sha256, "f" * 64)
    )
    for part in (old, young, there, unpinned):
        part.write_bytes(b"12345")
    eight_days_ago = time.time() - 8 * 86_400
    os.utime(old, (eight_days_ago, eight_days_ago))
    shown = models([tiny, split], "prune")[1]
    reasons = {line.split(": ")[0].split("/")[1]: line.split(": ")[1] for line in shown[:-1]}
    assert reasons == {
        old.name: "nothing has come for 8 days",
        there.name: "the whole file is here",
        unpinned.name: "no pin names it",
    }
    assert shown[-1] == f"15 bytes freed in {store.root}."
    assert list((store.root / "partial").iterdir()) == [young]


def test_prune_leaves_alone_what_a_process_works_on(store: Store, models: Models) -> None:
    left = store.root / "scratch" / "left"
    held = store.root / "scratch" / "held"
    for folder in (left, held):
        folder.mkdir()
        (folder / "wheel").write_bytes(b"123")
    part = store.partial("f" * 64)
    part.write_bytes(b"12345")
    cut = store.root / "digests.json.new"
    cut.write_text("{")
    with lock_of(store.root, "held"), lock_of(store.root, "f" * 64):
        shown = models([], "prune")[1]
    assert shown == [
        "              3 bytes  scratch/left: its process has ended",
        f"              1 bytes  {cut.name}: its process has ended",
        f"4 bytes freed in {store.root}.",
    ]
    assert (held / "wheel").exists()
    assert part.exists()


def test_prune_knows_which_builds_go_on(store: Store, models: Models) -> None:
    builds = {name: store.root / "builds" / name for name in ("old", "young", "done", "held")}
    eight_days_ago = time.time() - 8 * 86_400
    for folder in builds.values():
        folder.mkdir(parents=True)
        (folder / "object.o").write_bytes(b"12345")
    for name in ("old", "held"):
        for path in (builds[name] / "object.o", builds[name]):
            os.utime(path, (eight_days_ago, eight_days_ago))
    tiny, _ = fetched(store)
    (store.engine_root(tiny.sha256) / "done").mkdir(parents=True)
    with lock_of(store.root, "held"):
        shown = models([], "prune")[1]
    assert {line.split("  ")[-1] for line in shown if "  builds/" in line} == {
        "builds/done: what it builds is here",
        "builds/old: nothing was built for 8 days",
    }
    assert sorted((store.root / "builds").iterdir()) == [builds["held"], builds["young"]]
