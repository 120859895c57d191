"""A llama-server that the user has: its program, version and libraries are those of its pin."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from generator.engines.path import obtain, pin_what_is_there
from generator.engines.probe import probe
from generator.errors import EngineError, FetchError, ReceiptsError
from generator.models.store import Store
from generator.pin_changes import changes
from generator.pin_types import PathEngine
from generator.settings import ServerSettings
from tests.unit.engines.compiled import compile_library, compile_program
from tests.unit.models.wheel_maker import digest

BACKEND = "libggml-cpu-stub.so"


@pytest.fixture
def here(builds: dict[int, Path], tmp_path: Path) -> Path:
    """Return a folder with a llama-server in it, to do anything with."""
    return Path(shutil.copytree(builds[6543], tmp_path / "mine", symlinks=True))


@pytest.fixture
def pin(here: Path, store: Store, tmp_path: Path) -> PathEngine:
    return pin_what_is_there("mine", "My server", f"{here.name}/llama-server", store, tmp_path)


def refusal(pin: PathEngine, store: Store, root: Path, **changed: Any) -> ReceiptsError:
    with pytest.raises(ReceiptsError) as caught:
        obtain(pin.model_copy(update=changed), store, root)
    return caught.value


def test_what_is_there_is_pinned(pin: PathEngine, here: Path) -> None:
    assert (pin.build, pin.version) == (6543, "6543 (abcdef01)")
    assert pin.sha256 == digest((here / "llama-server").read_bytes())
    assert pin.libraries == {
        BACKEND: digest((here / BACKEND).read_bytes()),
        "libllama.so.0": digest((here / "libllama.so.0").read_bytes()),
    }


def test_it_is_verified_and_launched_in_place(
    pin: PathEngine, store: Store, tmp_path: Path, model: Path
) -> None:
    obtained = obtain(pin, store, tmp_path)
    assert {file.name: file.sha256 for file in obtained.files} == {
        "llama-server": pin.sha256,
        **pin.libraries,
    }
    assert obtained.origin_sha256 == pin.sha256
    assert (obtained.build, obtained.version) == (6543, "6543 (abcdef01)")
    with obtained.engine.launch(ServerSettings(), model, "smol") as server:
        assert {"llama-server", BACKEND} <= set(server.effective["loaded"])
        assert str(tmp_path) not in str(server.effective)


def test_a_program_found_by_a_link_is_the_one_it_leads_to(
    pin: PathEngine, store: Store, tmp_path: Path, model: Path
) -> None:
    (tmp_path / "server").symlink_to("mine/llama-server")
    linked = pin.model_copy(update={"path": "server"})
    with obtain(linked, store, tmp_path).engine.launch(ServerSettings(), model, "smol") as server:
        assert server.props["build_info"] == "b6543-stub"


def test_libraries_elsewhere_are_pinned_too(
    builds: dict[int, Path], store: Store, tmp_path: Path
) -> None:
    place = tmp_path / "bin/llama-server"
    place.parent.mkdir()
    compile_program(place, 6543, builds[6543], f"-Wl,-rpath,{builds[6543]}")
    pin = pin_what_is_there("mine", "Mine", str(place), store, tmp_path)
    assert list(pin.libraries) == ["libllama.so.0"]
    assert obtain(pin, store, tmp_path).files[1].name == "libllama.so.0"


def test_another_program_is_refused_before_it_is_run(
    pin: PathEngine, here: Path, store: Store, tmp_path: Path
) -> None:
    (here / "llama-server").unlink()
    (here / "llama-server").write_bytes(b"not even a program")
    (here / "llama-server").chmod(0o755)
    error = refusal(pin, store, tmp_path)
    assert isinstance(error, FetchError)
    assert error.what == "mine: llama-server is not the program that was pinned."
    assert "receipts pins update mine" in error.remedy
    assert error.details == (
        f"expected sha256 {pin.sha256}",
        f"found    sha256 {digest(b'not even a program')}",
    )


def test_other_libraries_are_refused_with_all_that_changed(
    pin: PathEngine, here: Path, store: Store, tmp_path: Path
) -> None:
    (here / BACKEND).unlink()
    compile_library(here / "libllama.so.0.0.6544", 6544)
    (here / "libllama.so.0").unlink()
    (here / "libllama.so.0").symlink_to("libllama.so.0.0.6544")
    error = refusal(pin, store, tmp_path)
    new = digest((here / "libllama.so.0").read_bytes())
    assert error.what == "mine: it is not as pinned."
    assert error.details == (
        f"libraries.libllama.so.0: {pin.libraries['libllama.so.0']} → {new}",
        f"libraries.{BACKEND}: {pin.libraries[BACKEND]} → gone",
    )


def test_a_library_that_a_variable_puts_before_the_pinned_one_is_refused(
    pin: PathEngine, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    compile_library(tmp_path / "other/libllama.so.0", 1)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "other"))
    error = refusal(pin, store, tmp_path)
    assert len(error.details) == 1
    assert error.details[0].startswith("libraries.libllama.so.0: ")


def test_another_version_or_build_is_refused(pin: PathEngine, store: Store, tmp_path: Path) -> None:
    error = refusal(pin, store, tmp_path, build=6000, version="6000 (00000000)")
    assert error.details == (
        "build: 6000 → 6543",
        "version: 6000 (00000000) → 6543 (abcdef01)",
    )


def test_what_cannot_be_pinned(here: Path, store: Store, tmp_path: Path) -> None:
    def told(path: str) -> str:
        with pytest.raises(ReceiptsError) as caught:
            pin_what_is_there("mine", "Mine", path, store, tmp_path)
        return caught.value.what

    assert told("gone") == f"mine: there is no file at {tmp_path / 'gone'}."
    assert told("mine") == f"mine: there is no file at {here}."
    (here / "plain").write_bytes(b"x")
    assert told("mine/plain") == f"mine: {here / 'plain'} may not be run."
    for name, body in {"script": b"#!/bin/sh\nexec llama-server", "odd": b"\x7fELF?"}.items():
        (here / name).write_bytes(body)
        (here / name).chmod(0o755)
    assert "is a script, so that its digest says nothing of the engine" in told("mine/script")
    assert told("mine/odd") == f"{here / 'odd'} cannot be run: Exec format error."
    assert "true does not tell its version as llama-server does" in told(shutil.which("true") or "")
    (here / "libllama.so.0").unlink()
    assert "failed: it ended by itself with exit code 127" in told("mine/llama-server")


@pytest.mark.parametrize(
    ("said", "build"),
    [
        ("version: 0.6.0-dev (build 11434, commit sdist)", 11434),
        ("version: 6543 (abcdef01)", 6543),
        ("version: 0 (unknown)", 0),
    ],
)
def test_forms_of_version(said: str, build: int, tmp_path: Path) -> None:
    script = tmp_path / "llama-server"
    script.write_text(f"#!/bin/sh\necho 'ggml: loading'\necho '{said}' >&2\n")
    script.chmod(0o755)
    seen = probe(script, {})
    assert seen.build == build
    assert seen.version == said.removeprefix("version: ")
    assert seen.built_with is None
    assert seen.built == {}


def test_without_a_loader_that_tells_the_libraries_beside_it_count(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generator.engines.probe._FOUND", re.compile("nothing"))
    seen = probe(here / "llama-server", {})
    assert {BACKEND, "libllama.so", "libllama.so.0", "libllama.so.0.0.6543"} == set(seen.libraries)


def test_a_program_that_does_not_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generator.engines.probe._LIMIT_S", 0.2)
    script = tmp_path / "llama-server"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    with pytest.raises(EngineError, match="llama-server --version did not end within"):
        probe(script, {})


def test_changes_are_told_place_by_place(pin: PathEngine) -> None:
    other = pin.model_copy(update={"title": "Ours", "libraries": {"a.so": "0" * 64}})
    told = [str(change) for change in changes(pin, other)]
    assert told[:2] == ["title: My server → Ours", f"libraries.a.so: {'0' * 64} (new)"]
    assert [line.rsplit(" ", 1)[1] for line in told[2:]] == ["gone", "gone"]
    assert changes(pin, pin) == ()
    bare = pin.model_copy(update={"libraries": {}})
    assert [change.path for change in changes(bare, pin)] == [
        ("libraries", BACKEND),
        ("libraries", "libllama.so.0"),
    ]
    (gone,) = changes(pin, bare)
    assert (gone.path, gone.new) == (("libraries",), None)
