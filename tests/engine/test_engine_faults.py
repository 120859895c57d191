"""The embedded engine, for real, when something is wrong: it is noticed and named."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from generator.client import Client
from generator.engines.effective import Mismatch
from generator.engines.process import ServerProcess
from generator.engines.table import TABLE, wheel_fields
from generator.engines.wheel import WheelEngine
from generator.errors import EngineError
from generator.outcome import Answered, Failed
from generator.settings import ServerSettings
from tests.engine.conftest import ALIAS, Launch

pytestmark = pytest.mark.engine


def refusal(engine: WheelEngine, model: Path, settings: ServerSettings | None = None) -> str:
    started = time.monotonic()
    with (
        pytest.raises(EngineError) as caught,
        engine.launch(settings or ServerSettings(), model, ALIAS),
    ):
        pytest.fail("it was said to be ready")
    assert time.monotonic() - started < 20
    assert str(model) not in str(caught.value)
    return caught.value.what


def test_a_widened_batch_that_the_engine_narrows_is_noticed(launch: Launch) -> None:
    with launch(n_batch=8192, n_ubatch=8192, n_ctx=4096) as server:
        assert set(server.mismatches) == {
            Mismatch("n_batch", 8192, 4096),
            Mismatch("n_ubatch", 8192, 4096),
        }


def test_settings_off_their_defaults_are_obeyed(launch: Launch) -> None:
    settings = {
        "threads": 2,
        "n_ctx": 1024,
        "n_batch": 256,
        "n_ubatch": 64,
        "n_parallel": 2,
        "flash_attn": "off",
        "kv_unified": True,
        "cache_ram_mib": 64,
        "cache_type_k": "q8_0",
        "repack": False,
        "extra": {"n_keep": 4, "rope_freq_scale": 1, "load_mode": "LLAMA_LOAD_MODE_NONE"},
    }
    with launch(**settings) as server:
        assert server.mismatches == ()
        assert server.effective["flash_attn_used"] == "off"


def test_every_field_of_the_table_is_the_engines(engine: WheelEngine, model: Path) -> None:
    fields = wheel_fields(ServerSettings(), "{{ x }}")
    assert len(fields) == len(TABLE) + 1
    what = refusal(engine, model, ServerSettings(extra={"zzz_last": 1}))
    assert "parameter zzz_last" in what


def test_a_setting_that_the_engine_cannot_do_is_explained(engine: WheelEngine, model: Path) -> None:
    what = refusal(engine, model, ServerSettings(flash_attn="off", cache_type_v="q8_0"))
    assert "quantized V cache requires flash_attn" in what


def test_a_truncated_model_is_named(engine: WheelEngine, model: Path, tmp_path: Path) -> None:
    half = tmp_path / "half.gguf"
    with model.open("rb") as whole:
        half.write_bytes(whole.read(40_000_000))
    assert "the model file is truncated or corrupt" in refusal(engine, half)


def test_a_taken_port_is_named(engine: WheelEngine, model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as impostor:
        port = impostor.getsockname()[1]
        what = refusal(replace(engine, pick_port=lambda: port), model)
    assert "another program took its port" in what or f"port {port}" in what


def test_a_server_killed_in_the_middle_of_an_answer_is_named(launch: Launch) -> None:
    with launch() as server, Client(server) as client:
        killer = threading.Timer(0.5, os.kill, (server.process.pid, signal.SIGKILL))
        killer.start()
        body = {"prompt": "Tell me a story.", "n_predict": 2000, "ignore_eos": True}
        outcome = client.ask("completion", body, 60.0)
        killer.join()
        again = client.ask("completion", {"prompt": "x", "n_predict": 1}, 60.0)
    assert isinstance(outcome, Failed)
    assert outcome.kind == "died"
    assert "SIGKILL" in outcome.message
    assert isinstance(again, Failed)
    assert again.kind == "died"


def test_it_dies_with_its_input_even_while_it_loads(engine: WheelEngine, model: Path) -> None:
    fields: dict[str, object] = {
        "model.path": str(model),
        "n_ctx": 8192,
        "n_batch": 8192,
        "n_ubatch": 8192,
    }
    process = ServerProcess(engine.command, order(engine, fields))
    try:
        until_it_loads(process)
        stdin = process._popen.stdin
        assert stdin is not None
        stdin.close()
        deadline = time.monotonic() + 5
        while process.death() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert str(process.death()).startswith("died of SIGKILL")
    finally:
        process.stop()


def order(engine: WheelEngine, fields: dict[str, object]) -> bytes:
    whole = {"parent": os.getpid(), "root": str(engine.root), "fields": fields}
    return json.dumps(whole).encode() + b"\n"


def until_it_loads(process: ServerProcess) -> None:
    deadline = time.monotonic() + 20
    while "loading model" not in process.log():
        assert process.death() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_a_full_disk_does_not_hang_it(engine: WheelEngine, model: Path) -> None:
    with (
        Path("/dev/full").open("wb") as full,
        subprocess.Popen(engine.command, stdin=subprocess.PIPE, stdout=full, stderr=full) as child,
    ):
        try:
            assert child.stdin is not None
            child.stdin.write(order(engine, {"model.path": str(model), "verbosity": 4}))
            child.stdin.flush()
            assert listens(child)
        finally:
            child.kill()


def listens(child: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + 20
    while child.poll() is None and time.monotonic() < deadline:
        found = psutil.Process(child.pid).net_connections(kind="tcp4")
        if any(connection.status == psutil.CONN_LISTEN for connection in found):
            return True
        time.sleep(0.02)
    return False


def test_a_thinking_template_gives_thinking(launch: Launch) -> None:
    template = Path(__file__).parent / "thinking.jinja"
    with launch(template, chat_template="thinking") as server, Client(server) as client:
        assert server.mismatches == ()
        body = {
            "messages": [{"role": "user", "content": "Think step by step: what is 17 + 25?"}],
            "max_tokens": 64,
            "seed": 1,
        }
        outcomes = [client.ask("chat", {**body, "seed": seed}, 60.0) for seed in range(3)]
    messages = [
        outcome.response["choices"][0]["message"]
        for outcome in outcomes
        if isinstance(outcome, Answered)
    ]
    assert len(messages) == 3
    assert any(message.get("reasoning_content") for message in messages)
