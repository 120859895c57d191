"""The engine built from source, for real: one static program that does what the table says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import psutil
import pytest

from generator.client import Client
from generator.engines.base import Obtained
from generator.engines.effective import LOG_LINES
from generator.engines.table import TABLE
from generator.engines.wheel import WheelEngine
from generator.outcome import Answered
from generator.settings import ServerSettings
from tests.engine.conftest import ALIAS, ONE_THREAD, ROOT, launching

pytestmark = pytest.mark.engine

# What the engine is told besides the table, by arguments and by the environment.
TOLD = ("--model", "--alias", "--host", "--port", "--log-verbosity", "--chat-template-file")
OFF_DEFAULT: Mapping[str, Any] = {
    "threads_http": 3,
    "n_ctx": 1024,
    "n_batch": 256,
    "n_ubatch": 64,
    "n_parallel": 2,
    "flash_attn": "on",
    "cache_prompt": False,
    "cache_ram_mib": 64,
    "cache_type_k": "q8_0",
    "cache_type_v": "q8_0",
    "kv_unified": True,
    "swa_full": True,
    "cont_batching": False,
    "reasoning_format": "none",
}
# Sets every field to each of its values, and prints those that the parameters then do not have.
ASSIGNING = """\
import enum, json, sys
import xllamacpp
from generator.engines.child import assign
lost = []
for setting, field, value in json.load(sys.stdin):
    parameters = xllamacpp.CommonParams()
    assign(parameters, field, value)
    target = parameters
    for name in field.split("."):
        target = getattr(target, name)
    if (target.name if isinstance(target, enum.Enum) else target) != value:
        lost.append([setting, value, str(target)])
print(json.dumps(lost))
"""


def values(setting: str) -> list[Any]:
    """Return every value that a setting can have, or for a number one that it can."""
    annotation = ServerSettings.model_fields[setting].annotation
    if annotation is bool:
        return [True, False]
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    assert annotation is int, f"{setting} is neither a switch, nor a word, nor a number"
    return [7]


@pytest.fixture(scope="module")
def flags(server_program: Path) -> set[str]:
    """Return the flags that `--help` lists."""
    said = subprocess.run([server_program, "--help"], capture_output=True, text=True, check=True)
    # a description begins in column 40, or on the next line where the flags take more room
    heads = [line.partition("  " * 2)[0] for line in said.stdout.splitlines() if line[:1] == "-"]
    heads += [line[:40] for line in said.stdout.splitlines() if line[:1] == "-"]
    return {flag for head in heads for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", head)}


def accepts(program: Path, arguments: list[str]) -> bool:
    """Tell whether llama-server can read these arguments: `--version` ends it once it has."""
    done = subprocess.run([program, *arguments, "--version"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("setting", TABLE)
def test_every_flag_of_the_table_is_the_servers(
    setting: str, flags: set[str], server_program: Path
) -> None:
    for value in values(setting):
        arguments = TABLE[setting].arguments(value)
        assert arguments[:1] == [] or arguments[0] in flags
        assert accepts(server_program, arguments)


def test_what_the_server_does_not_know_it_refuses(server_program: Path, flags: set[str]) -> None:
    assert flags.issuperset(TOLD)
    assert "--zzz" not in flags
    assert not accepts(server_program, ["--zzz", "1"])
    assert not accepts(server_program, ["--flash-attn", "zzz"])


def test_every_field_of_the_table_is_the_wheels(engine: WheelEngine) -> None:
    asked = [
        [setting, knob.field, knob.convert(value)]
        for setting, knob in TABLE.items()
        for value in values(setting)
    ]
    done = subprocess.run(
        [sys.executable, "-c", ASSIGNING],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(engine.root), str(ROOT)])},
    )
    assert json.loads(done.stdout) == []


def test_it_is_one_static_program_of_its_build(built: Obtained, server_program: Path) -> None:
    said = subprocess.run([server_program, "--version"], capture_output=True, text=True, check=True)
    assert "build 11434, commit sdist" in said.stdout + said.stderr
    assert [file.name for file in built.files] == ["llama-server"]
    assert built.built["instructions"] == "portable"


def test_settings_off_their_defaults_are_obeyed(built: Obtained, model: Path) -> None:
    default = ServerSettings().model_dump()
    assert all(default[name] != value for name, value in OFF_DEFAULT.items())
    with launching(built.engine, model)(**OFF_DEFAULT) as server, Client(server) as client:
        assert server.mismatches == ()
        declared = {**default, **ONE_THREAD, **OFF_DEFAULT}
        told = LOG_LINES.keys() - {"gomp_spincount"}  # it has no OpenMP
        assert {name: server.effective[name] for name in told} == {
            name: declared[name] for name in told
        }
        loaded = [name.partition(".")[0].partition("-")[0] for name in server.effective["loaded"]]
        assert set(loaded) <= {"llama", "libc", "libm", "ld"}
        assert server.props["build_info"] == "b11434-sdist"
        outcome = client.ask("completion", {"prompt": "The sky is", "n_predict": 4}, 60.0)
    assert isinstance(outcome, Answered), outcome


LAUNCHING = """\
import sys
from pathlib import Path
from generator.engines.native import NativeEngine
from generator.settings import ServerSettings
settings = ServerSettings(threads=1, threads_batch=1, warmup=False)
with NativeEngine(Path(sys.argv[1])).launch(settings, Path(sys.argv[2]), sys.argv[3]) as server:
    print(server.process.pid, flush=True)
    sys.stdin.read()
"""


def test_it_dies_with_its_parent_however_that_died(server_program: Path, model: Path) -> None:
    command = [sys.executable, "-c", LAUNCHING, str(server_program), str(model), ALIAS]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as parent:
        assert parent.stdout is not None
        server = psutil.Process(int(parent.stdout.readline()))
        assert server.name() == "llama-server"
        parent.kill()
    server.wait(10)
    assert not server.is_running()
