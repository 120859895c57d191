"""What a llama-server program says of itself, and which libraries its loader finds for it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.engines.loaded import is_a_library
from generator.engines.process import KEPT_ENVIRONMENT, describe
from generator.errors import EngineError

_LIMIT_S = 60.0
_LAST_LINES = 8
_VERSION = re.compile(r"^version: (.+)$", re.MULTILINE)
_BUILT = re.compile(r"^built with (.+)$", re.MULTILINE)
# "0.6.0-dev (build 11434, commit sdist)", and before that "6543 (abcdef01)"
_BUILD = re.compile(r"\(build (\d+)\b|^(\d+) \(")
_FOUND = re.compile(r"calling init: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Probe:
    """A program's own words, and its libraries.

    Attributes:
        version: What it says after `version:`.
        build: Its build number; 0 if its builder did not know it.
        built_with: The compiler and system that it names, if it does.
        libraries: Each library that it loads, the system's too, by the name it is loaded under.
    """

    version: str
    build: int
    built_with: str | None
    libraries: Mapping[str, Path]

    @property
    def built(self) -> dict[str, str]:
        """How it says that it was built, as a receipt records it."""
        return {"built with": self.built_with} if self.built_with else {}


def probe(program: Path, environment: Mapping[str, str]) -> Probe:
    """Ask a program what it is.

    It is run twice, each time to its own early end: with `--version`, and with `--list-devices`,
    which lets it load what it would load to serve.

    Args:
        program: The program.
        environment: What it is given besides what every server is given.

    Raises:
        EngineError: It cannot be run, or is no llama-server.
    """
    said = _run(program, "--version", environment)
    version = _VERSION.search(said)
    build = _BUILD.search(version[1].strip()) if version else None
    if version is None or build is None:
        raise EngineError(
            f"{program.name} does not tell its version as llama-server does.",
            "Name the llama-server program itself, from llama.cpp of 2024 or later.",
            said.splitlines()[-_LAST_LINES:],
        )
    built = _BUILT.search(said)
    return Probe(
        version=version[1].strip(),
        build=int(build[1] or build[2]),
        built_with=built[1].strip() if built else None,
        libraries=_libraries(program, environment),
    )


def _libraries(program: Path, environment: Mapping[str, str]) -> dict[str, Path]:
    with tempfile.TemporaryDirectory() as folder:
        # glibc's loader writes down what it loads, whatever the program says or returns.
        wish = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{folder}/loader"}
        _run(program, "--list-devices", {**environment, **wish}, must_succeed=False)
        told = [path.read_text(errors="replace") for path in Path(folder).iterdir()]
    found = [Path(name) for text in told for name in _FOUND.findall(text)]
    if not found:  # another loader: the libraries beside the program are what can be known
        found = [path for path in program.parent.iterdir() if is_a_library(path.name)]
    return {path.name: path.resolve() for path in found if path.resolve() != program}


def _run(
    program: Path, argument: str, environment: Mapping[str, str], *, must_succeed: bool = True
) -> str:
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    try:
        done = subprocess.run(
            [program, argument],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**kept, "LC_ALL": "C.UTF-8", **environment},
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineError(
            f"{program.name} {argument} did not end within {_LIMIT_S:.0f} s.",
            "Run it by hand to see what it waits for.",
        ) from error
    except OSError as error:
        raise EngineError(
            f"{program} cannot be run: {error.strerror or error}.",
            "Name a llama-server program that was built for this system and CPU.",
        ) from error
    said = done.stdout.decode("utf-8", errors="replace")
    if done.returncode != 0 and must_succeed:
        raise EngineError(
            f"{program.name} {argument} failed: it {describe(done.returncode, said)}.",
            "Name a llama-server program that was built for this CPU, with its libraries.",
            said.splitlines()[-_LAST_LINES:],
        )
    return said
