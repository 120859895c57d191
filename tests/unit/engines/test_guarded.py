"""A guarded engine: what it loads is looked at in the running process, and compared."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from generator.engines.guarded import GuardedEngine
from generator.engines.loaded import is_a_library, is_the_engines
from generator.engines.native import NativeEngine
from generator.errors import EngineError
from generator.settings import ServerSettings

BACKEND = "libggml-cpu-stub.so"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def guarded(builds: dict[int, Path]) -> GuardedEngine:
    folder = builds[6543].resolve()
    names = ("llama-server", "libllama.so.0.0.6543", BACKEND)
    return GuardedEngine(
        inner=NativeEngine(folder / "llama-server", timeout_s=20.0),
        label="tiny",
        program=folder / "llama-server",
        files={folder / name: sha256(folder / name) for name in names},
        build=6543,
        digest=sha256,
    )


def refusal(engine: GuardedEngine, model: Path) -> EngineError:
    before = set(psutil.Process().children())  # a browser of other tests may be among them
    with (
        pytest.raises(EngineError) as caught,
        engine.launch(ServerSettings(), model, "smol"),
    ):
        pytest.fail("it was launched")
    assert set(psutil.Process().children()) <= before
    return caught.value


def test_what_it_loaded_is_told(guarded: GuardedEngine, model: Path) -> None:
    with guarded.launch(ServerSettings(), model, "smol") as server:
        loaded = server.effective["loaded"]
    assert {"llama-server", "libllama.so.0.0.6543", BACKEND} <= set(loaded)
    assert not any("/" in name for name in loaded)


def test_a_file_that_is_not_pinned_is_found_in_the_process(
    guarded: GuardedEngine, model: Path
) -> None:
    fewer = {path: digest for path, digest in guarded.files.items() if path.name != BACKEND}
    error = refusal(replace(guarded, files=fewer), model)
    backend = guarded.program.with_name(BACKEND)
    assert error.what == f"tiny loaded {backend}, which is not one of its pinned files."


def test_a_file_that_went_after_it_was_loaded(guarded: GuardedEngine, model: Path) -> None:
    seen: list[Path] = []

    def missing_in_the_end(path: Path) -> str:
        seen.append(path)
        if len(seen) > len(guarded.files):
            raise FileNotFoundError(2, "No such file or directory")
        return sha256(path)

    error = refusal(replace(guarded, digest=missing_in_the_end), model)
    assert error.what == "tiny: llama-server has changed since it was verified."
    assert "found    No such file or directory" in error.details


@pytest.mark.parametrize("good_for", [0, 3])
def test_a_file_that_changes_is_found_before_and_after_the_start(
    good_for: int, guarded: GuardedEngine, model: Path
) -> None:
    digests = iter([True] * good_for)

    def changing(path: Path) -> str:
        return sha256(path) if next(digests, False) else "other"

    error = refusal(replace(guarded, digest=changing), model)
    assert error.what == "tiny: llama-server has changed since it was verified."


def test_another_build_than_the_pinned_one(guarded: GuardedEngine, model: Path) -> None:
    error = refusal(replace(guarded, build=6544), model)
    assert error.what == "tiny says that it is build 6543, and build 6544 is pinned."


def test_a_limit_reaches_the_engine(guarded: GuardedEngine) -> None:
    inner = guarded.within(7.5).inner
    assert isinstance(inner, NativeEngine)
    assert inner.timeout_s == 7.5


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/opt/x/llama-server", True),
        ("/opt/x/lib/libfoo.so", True),
        ("/usr/local/lib/libfoo.so", True),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", False),
        ("/lib64/ld-linux-x86-64.so.2", False),
        ("/usr/lib/x86_64-linux-gnu/libllama.so.0", True),
        ("/usr/lib/x86_64-linux-gnu/libggml-cpu.so", True),
        ("/usr/lib/libggmlish.so", False),
        ("/usr/libexec/libfoo.so", True),
    ],
)
def test_what_is_the_engines(file: str, expected: bool) -> None:
    assert is_the_engines(Path(file), Path("/opt/x/llama-server")) is expected


def test_what_lies_beside_a_program_of_the_system_is_the_engines() -> None:
    program = Path("/usr/lib/ollama/llama-server")
    assert is_the_engines(Path("/usr/lib/ollama/libfoo.so"), program)
    assert not is_the_engines(Path("/usr/lib/libfoo.so"), program)


@pytest.mark.parametrize("name", ["libllama.so", "libllama.so.0.0.6543", "a/libggml.dylib"])
def test_names_of_libraries(name: str) -> None:
    assert is_a_library(name)
    assert not is_a_library(f"{name}.txt")
