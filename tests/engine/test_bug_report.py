"""The script of a bug report, run against the real llama-server program, gets the real flip."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from generator.answers import read_answers
from generator.bugreport.flips import plainest_flip
from generator.bugreport.report import bug_report
from generator.bugreport.script import told
from generator.client import Client
from generator.engines.native import NativeEngine
from generator.engines.ready import free_port
from generator.engines.table import command_line
from generator.outcome import Answered
from generator.pins import load_pins
from generator.receipt import BootRecord
from generator.settings import Sampling, ServerSettings, sampling_fields
from tests.engine.conftest import ALIAS, ONE_THREAD, ROOT
from tests.factory import MODEL, make_ask, make_boot, make_receipt
from tests.project import SHIPPED

pytestmark = pytest.mark.engine

PROMPT = (ROOT / "receipts/prompts/p04k0n24.txt").read_text(encoding="utf-8")
SETTINGS = ServerSettings.model_validate({"warmup": False, **ONE_THREAD})
SAMPLING = Sampling(temperature=0.0, seed=42, max_tokens=24, n_probs=2)


def cold_and_warm(program: Path, model: Path) -> BootRecord:
    """Ask a fresh server the same thing twice, and return the boot as a receipt has it."""
    body = {**sampling_fields(SAMPLING, "completion"), "prompt": PROMPT, "cache_prompt": True}
    request = {**body, "seed": SAMPLING.seed, "return_tokens": True}
    asks = []
    with NativeEngine(program).launch(SETTINGS, model, ALIAS) as server, Client(server) as client:
        for cache in ("cold", "warm"):
            outcome = client.ask("completion", request, 300.0)
            assert isinstance(outcome, Answered), outcome
            ask = make_ask(outcome.response, name=cache, cache=cache)
            asks.append(ask.model_copy(update={"request": request}))
    line = command_line(SETTINGS, ALIAS)
    return make_boot(asks, settings=SETTINGS).model_copy(update={"command_line": line})


def test_the_script_shows_what_the_receipt_has(
    server_program: Path, model: Path, tmp_path: Path
) -> None:
    boot = cold_and_warm(server_program, model)
    assert [answer.prompt_n for answer in read_answers([boot])] == [412, 1]
    pin = load_pins(ROOT).model(ALIAS)
    receipt = make_receipt("repeat", [boot])
    record = receipt.models[MODEL].model_copy(update={"file": pin.file, "sha256": pin.sha256})
    receipt = receipt.model_copy(update={"models": {MODEL: record}})
    flip = plainest_flip(receipt, "some.json")
    assert (flip.left.name, flip.right.name) == ("main/cold", "main/warm")
    written = bug_report([SHIPPED], receipt, "f" * 64, flip, pin)
    (tmp_path / "repro.sh").write_text(written.script, encoding="utf-8")
    done = subprocess.run(
        ["bash", "repro.sh"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
        env={
            "PATH": os.environ["PATH"],
            "LLAMA_SERVER": str(server_program),
            "MODEL": str(model),
            "PORT": str(free_port()),
        },
    )
    assert (done.returncode, done.stdout) == (0, f"{told(flip)}\n"), done.stderr
    assert told(flip) in written.report
