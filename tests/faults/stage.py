"""A project whose engine is one of the faulty servers, the command line run on it, and a count.

Every process of a stage has a `TMPDIR` that no other has, and hands it on to what it starts: by
that they are found and counted, whoever their parent is by then.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import yaml
from gguf import GGUFWriter

from generator.pins import platform_name

HERE = Path(__file__).parent
CODE = HERE.parents[1]
PACKAGE = "tests/faults/servers"
WHEEL = """
import sys
sys.pycache_prefix = None
from tests.faults.servers.{server} import Server as Faulty
from tests.faults.servers.xllamacpp_stub import CommonParams, start

def Server(parameters):
    start(Faulty, parameters)
"""
PROGRAM = """#!{python} -B
import sys
sys.path.insert(0, {code!r})
from tests.faults.servers.{server} import Server
Server.main()
"""
COLUMNS, ROWS = 80, 24
PROGRESS = re.compile(r"\[\d+/\d+\] |\d+ asks? in |\S+: (\w+: )?[\d.]+ MiB|warning: ")
BUSY = re.compile(r"warning: the load (is|reached) ")
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Told:
    """What a command said before it ended.

    Attributes:
        code: Its exit code; negative for a signal.
        progress: Its lines of progress and warnings.
        message: What it said last, on stderr, lines as printed.
        out: Its stdout.
    """

    code: int
    progress: list[str]
    message: list[str]
    out: str

    @property
    def rows(self) -> int:
        """How many rows the message takes on a screen."""
        return rows(self.message)


class Stage:
    """A project of its own, with a store, a folder of servers and an environment of its own."""

    def __init__(self, folder: Path, server: str = "sound") -> None:
        self.root, self.cache, self.tmp = folder / "project", folder / "cache", folder / "tmp"
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []
        shutil.copytree(HERE / "project", self.root)
        self.tmp.mkdir(parents=True)
        write_model(self.root / "tiny.gguf")
        self.pin_file()
        self.pin_server(server)

    def pin_server(self, server: str) -> None:
        """Put one of the servers into the store, as an unpacked wheel, and pin it as the engine."""
        sha256 = hashlib.sha256(server.encode()).hexdigest()
        wheel = self.cache / "engines" / sha256
        packages = [f"{name}/__init__.py" for name in ("tests", "tests/faults", PACKAGE)]
        modules = [f"{PACKAGE}/{name}.py" for name in (server, "stub", "xllamacpp_stub")]
        for name in packages + modules:
            (wheel / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CODE / name, wheel / name)
        (wheel / "xllamacpp.py").write_text(WHEEL.format(server=server), encoding="utf-8")
        names = [*packages, *modules, "xllamacpp.py"]
        rows = [f"{name},{_encoded(wheel / name)}," for name in names]
        record = wheel / "stub.dist-info/RECORD"
        record.parent.mkdir()
        record.write_text("\n".join([*rows, "stub.dist-info/RECORD,,"]) + "\n", encoding="utf-8")
        library = wheel / "xllamacpp.py"
        artifact = {
            "wheel": "stub-1-py3-none-any.whl",
            "bytes": 1,
            "sha256": sha256,
            "record_sha256": _sha256(record),
            "library": library.name,
            "library_bytes": library.stat().st_size,
            "library_sha256": _sha256(library),
        }
        self.pin_engine(
            {
                "type": "wheel",
                "title": "a server for tests",
                "license": "MIT",
                "distribution": "stub",
                "version": "1",
                "build": 1,
                "artifacts": {platform_name(): artifact},
            }
        )

    def program(self, server: str) -> Path:
        """Make one of the servers a program of its own."""
        path = self.folder / server
        text = PROGRAM.format(python=sys.executable, code=str(CODE), server=server)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def pin_engine(self, pin: Mapping[str, Any]) -> None:
        """Write the one pin of an engine."""
        write_yaml(self.root / "receipts/pins/engines.yaml", {"engines": {"stub": dict(pin)}})

    def pin_model(self, pin: Mapping[str, Any]) -> None:
        """Write the one pin of a model."""
        write_yaml(self.root / "receipts/pins/models.yaml", {"models": {"tiny-q4_1": dict(pin)}})

    def pin_file(self) -> None:
        """Pin the file `tiny.gguf` as the model, as it is now."""
        path = self.root / "tiny.gguf"
        self.pin_model(
            {
                "title": "Tiny (Q4_1)",
                "license": "Apache-2.0",
                "file": path.name,
                "quantization": "Q4_1",
                "bytes": path.stat().st_size,
                "sha256": _sha256(path),
                "source": {"type": "path", "path": path.name},
            }
        )

    def mend(self) -> None:
        """Take the server's fault away."""
        (self.folder / "mended").touch()

    @property
    def environment(self) -> dict[str, str]:
        """What the commands see: ours, but for what would lead them to the user's own things."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {
            "PYTHONPATH": str(CODE),
            "RECEIPTS_CACHE": str(self.cache),
            "TMPDIR": str(self.tmp),
        }

    def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None, **more: Any
    ) -> subprocess.Popen[str]:
        """Start a command; it is not waited for."""
        process = subprocess.Popen(
            [sys.executable, "-m", "generator", "--root", str(self.root), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=self.root,
            env={**self.environment, **(environment or {})},
            **more,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str, **more: Any) -> Told:
        """Run a command to its end."""
        return told(self.start(*arguments, **more))

    def events(self, event: str) -> list[dict[str, Any]]:
        """Return what the server has noted of one kind, in order."""
        file = self.folder / "events.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        return [entry for entry in map(json.loads, lines) if entry["event"] == event]

    def processes(self, *, besides: int | None = None) -> list[psutil.Process]:
        """Return every process that was started on this stage and still lives."""
        return [p for p in psutil.process_iter() if p.pid != besides and self._is_ours(p)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            ours = process.environ().get("TMPDIR") == str(self.tmp)
            return ours and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def receipts(self) -> dict[str, Any]:
        """Return the receipts that are there, by experiment."""
        folder = self.root / "receipts/broken"
        return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}

    def files(self) -> set[str]:
        """Return every file of the stage but locks."""
        return {
            path.relative_to(self.folder).as_posix()
            for path in self.folder.rglob("*")
            if path.is_file() and path.suffix != ".lock"
        }

    def plain(self, text: str) -> str:
        """Put words in the place of what differs from one run to the next."""
        text = text.replace(str(self.root), "PROJECT").replace(str(self.folder), "FOLDER")
        for pattern, word in (
            (r"\bport \d+", "port PORT"),
            (r"\bon [\d.]+ usable CPUs", "on N usable CPUs"),
            (r"\bprocess \d+", "process PID"),
            (r"line \d+ column \d+ \(char \d+\)", "line L column C (char N)"),
            (r"\bby [\d.]+ s before", "by N s before"),
            (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        ):
            text = re.sub(pattern, word, text)
        return text


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _encoded(path: Path) -> str:
    """Return a file's digest as a wheel's RECORD writes it."""
    raw = hashlib.sha256(path.read_bytes()).digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def rows(lines: Sequence[str]) -> int:
    """Return how many rows lines take on a screen."""
    return sum(max(1, -(-len(line) // COLUMNS)) for line in lines)


def told(process: subprocess.Popen[str]) -> Told:
    """Wait for a command's end and return what it said, but not of how busy this machine is.

    That comes and goes with what else runs here; tests of the command line have it.
    """
    out, err = process.communicate(timeout=PATIENCE_S)
    lines = [line for line in err.splitlines() if not BUSY.match(line)]
    begin = max((i + 1 for i, line in enumerate(lines) if PROGRESS.match(line)), default=0)
    return Told(process.returncode, lines[:begin], lines[begin:], out)


def until(condition: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    """Wait until something is so, which no event tells."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.005)


def write_yaml(path: Path, value: object) -> None:
    """Write a file of pins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value), encoding="utf-8")


def write_model(path: Path) -> None:
    """Write the smallest whole GGUF file."""
    writer = GGUFWriter(path, "llama")
    writer.add_token_list(["a", "b"])
    writer.add_tensor("output.weight", np.ones((4, 8), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
