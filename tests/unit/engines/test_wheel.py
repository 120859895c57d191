"""The real child with a fake engine: every way to fail at start is noticed at once and named."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from generator.engines.wheel import WheelEngine
from generator.errors import EngineError
from generator.settings import ServerSettings


def start(engine: WheelEngine, model: Path, fault: str) -> EngineError:
    """Start an engine with a fault and return what was said of it."""
    before = children()
    with (
        pytest.raises(EngineError) as caught,
        engine.launch(ServerSettings(extra={"fault": fault}), model, "smol"),
    ):
        pytest.fail("it was said to be ready")
    assert children() == before
    return caught.value


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("SIGILL", "built for another CPU"),
        ("SIGKILL", "want of memory"),
        ("SIGABRT", "internal error"),
        ("SIGSEGV", "memory that is not its own"),
        ("SIGBUS", "cut short"),
        ("exit", "exit code 3: a very particular reason"),
        ("truncated_model", "truncated or corrupt"),
    ],
)
def test_a_death_at_start_is_named_at_once(
    engine: WheelEngine, model: Path, fault: str, cause: str
) -> None:
    started = time.monotonic()
    error = start(engine, model, fault)
    assert time.monotonic() - started < 5
    assert cause in error.what
    if fault.startswith("SIG"):
        assert fault in error.what
    assert any("loading model 'smol'" in line for line in error.details)
    assert str(model) not in str(error)


def test_an_unknown_parameter_is_named(engine: WheelEngine, model: Path) -> None:
    with (
        pytest.raises(EngineError, match="parameter no_such_thing"),
        engine.launch(ServerSettings(extra={"no_such_thing": 1}), model, "smol"),
    ):
        pytest.fail("it was said to be ready")


@pytest.mark.parametrize("name", ["port", "api_keys", "n_threads_http", "verbosity"])
def test_extra_cannot_replace_what_is_ours(engine: WheelEngine, model: Path, name: str) -> None:
    with (
        pytest.raises(EngineError, match=f"may not hold {name}"),
        engine.launch(ServerSettings(extra={name: 1}), model, "smol"),
    ):
        pytest.fail("it was said to be ready")


@pytest.mark.parametrize("fault", ["hang", "loading"])
def test_an_engine_that_is_never_ready_is_given_up(
    engine: WheelEngine, model: Path, fault: str
) -> None:
    error = start(replace(engine, timeout_s=0.7), model, fault)
    assert "not ready after 0.7 s" in error.what


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("wrong_alias", "presents the model 'another'"),
        ("wrong_key", "with our key with 401"),
        ("no_key", "a stranger's /props with 200"),
        ("no_json", "its /props are not JSON"),
    ],
)
def test_a_server_that_cannot_prove_itself_is_an_impostor(
    engine: WheelEngine, model: Path, fault: str, seen: str
) -> None:
    error = start(engine, model, fault)
    assert "impostor" in error.what
    assert seen in error.what


def test_an_impostor_on_the_port_is_named(engine: WheelEngine, model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as impostor:
        port = impostor.getsockname()[1]
        error = start(replace(engine, pick_port=lambda: port), model, "hang")
    assert f"impostor answers on port {port}" in error.what


def test_a_ready_server_shows_itself_and_is_gone_afterwards(
    engine: WheelEngine, model: Path
) -> None:
    settings = ServerSettings(n_ctx=4096, n_batch=8192, n_ubatch=8192)
    with engine.launch(settings, model, "smol") as server:
        assert server.props["model_alias"] == "smol"
        assert server.death() is None
        assert 0 < server.ready_s < 20
        assert server.base_url.startswith("http://127.0.0.1:")
        assert server.log_tail()
        assert (server.peak_memory_bytes() or 2**30) > 2**20
        found = {(m.name, m.declared, m.effective) for m in server.mismatches}
        pid = server.process.pid
    assert found == {("n_batch", 8192, 4096), ("n_ubatch", 8192, 4096)}
    assert not psutil.pid_exists(pid)
    assert server.death() == "was stopped"
    server.stop()


def test_every_boot_has_its_own_key(engine: WheelEngine, model: Path) -> None:
    keys = set()
    for _ in range(2):
        with engine.launch(ServerSettings(), model, "smol") as server:
            keys.add(server.api_key)
    assert len(keys) == 2
    assert min(map(len, keys)) >= 32


def test_an_interrupt_leaves_no_process(engine: WheelEngine, model: Path) -> None:
    before = children()
    with (
        pytest.raises(KeyboardInterrupt),
        engine.launch(ServerSettings(), model, "smol"),
    ):
        raise KeyboardInterrupt
    assert children() == before


@pytest.mark.parametrize("content", [b"<html>not found</html>", b"", b"GG"])
def test_a_file_that_is_no_model_is_refused_before_launch(
    engine: WheelEngine, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "page.gguf"
    path.write_bytes(content)
    with (
        pytest.raises(EngineError, match="not a GGUF file"),
        engine.launch(ServerSettings(), path, "smol"),
    ):
        pytest.fail("it was said to be ready")


def test_a_model_that_is_not_there_is_refused(engine: WheelEngine, tmp_path: Path) -> None:
    with (
        pytest.raises(EngineError, match=r"gone\.gguf cannot be read"),
        engine.launch(ServerSettings(), tmp_path / "gone.gguf", "smol"),
    ):
        pytest.fail("it was said to be ready")
