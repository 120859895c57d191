"""Building from source with CMake and ninja: on a leash, gently, gone on with if it was cut off."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import IO

from generator import host
from generator.engines import leash
from generator.engines.launching import ISOLATED
from generator.engines.recipe import TARGET, Recipe
from generator.engines.toolchain import OTHERWISE, Toolchain, build_environment
from generator.errors import FetchError
from generator.models.progress import Progress

NICENESS = 10
# What compiling the largest of llama.cpp's files takes.
MEMORY_PER_JOB = 1 << 30
_STEP = re.compile(r"\[(\d+)/(\d+)\] ")
_NINJA_FAILED = "FAILED: "
_FAILED = re.compile(rf"{_NINJA_FAILED}|CMake Error")
_MOST_LINES = 12
_LONGEST_LINE = 300
_END_S = 10.0


@dataclass(frozen=True)
class Build:
    """One build's folder, in which all of it happens.

    Attributes:
        label: What is built.
        folder: Where; it may hold what an earlier build left.
        source: llama.cpp's folder in it.
        recipe: How it is built.
        tools: With what.
        kept: Open files that whatever is started holds open: a lock lasts as long as they do.
    """

    label: str
    folder: Path
    source: Path
    recipe: Recipe
    tools: Toolchain
    kept: Sequence[int]

    @property
    def log(self) -> Path:
        """What the tools said."""
        return self.folder / "build.log"

    @property
    def program(self) -> Path:
        """Where the program comes to lie."""
        return self.folder / "build" / "bin" / TARGET

    def run(self, progress: Progress) -> None:
        """Build the program.

        Raises:
            FetchError: It cannot be built; the log is kept, and so is what was built so far.
        """
        tools = self.tools
        (self.folder / "tmp").mkdir(exist_ok=True)
        configure = [tools.cmake, *self.recipe.arguments(self.source, self.folder / "build")]
        configure += [f"-DCMAKE_C_COMPILER={tools.cc}", f"-DCMAKE_CXX_COMPILER={tools.cxx}"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={tools.ninja}"]
        compiling = [tools.ninja, "-C", str(self.folder / "build"), "-j", str(jobs()), TARGET]
        with self.log.open("w", buffering=1, encoding="utf-8") as log:
            progress.start(f"{self.label}: configuring the build", 0)
            try:
                self._run("configuring", configure, log, lambda _: None)
            finally:
                progress.done()
            steps = _Steps(f"{self.label}: compiling", progress)
            try:
                self._run("compiling", compiling, log, steps.hear)
            finally:
                steps.end()

    def _run(
        self, doing: str, command: Sequence[str], log: IO[str], hear: Callable[[str], None]
    ) -> None:
        said: list[str] = []
        with self._leashed(command) as process:
            for line in process.stdout or ():
                log.write(line)
                said.append(line.rstrip())
                hear(line)
            code = process.wait()
        if code != 0:
            raise FetchError(
                f"{self.label} could not be built: {doing} it failed (exit code {code}).",
                f"The whole log is {self.log}. Mend what it names and run again, which goes on"
                f" from there; or install another compiler, {OTHERWISE}.",
                failure(said),
            )

    @contextmanager
    def _leashed(self, command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
        """Run a tool that does not outlive us, and that gives way to others."""
        nice = shutil.which("nice")
        gentle = [nice, "-n", str(NICENESS), *command] if nice else list(command)
        order = {"parent": os.getpid(), "command": gentle, "environment": {}}
        with subprocess.Popen(
            [sys.executable, *ISOLATED, leash.__file__],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            pass_fds=self.kept,
        ) as process:
            try:
                if process.stdin is not None:
                    process.stdin.write(json.dumps(order) + "\n")
                    process.stdin.flush()
                yield process
            finally:
                _end(process)

    def _environment(self) -> Mapping[str, str]:
        # Git must not take a repository around us for llama.cpp's.
        ceiling = str(self.source.parent.resolve())
        return build_environment(
            TMPDIR=str(self.folder / "tmp"),
            GIT_CEILING_DIRECTORIES=ceiling,
            NINJA_STATUS="[%f/%t] ",
        )


class _Steps:
    """Hears ninja count its steps, and tells of them."""

    def __init__(self, label: str, progress: Progress) -> None:
        self._label = label
        self._progress = progress
        self._finished, self._begun = 0, False

    def hear(self, line: str) -> None:
        """Note a line; most say nothing of steps."""
        match = _STEP.match(line)
        if match is None:
            return
        if not self._begun:
            self._progress.start_steps(self._label, int(match[2]))
            self._begun = True
        self._progress.advance(int(match[1]) - self._finished)
        self._finished = int(match[1])

    def end(self) -> None:
        """End, finished or failed."""
        if self._begun:
            self._progress.done()


def jobs() -> int:
    """Return how many files to compile at once: as many as there are CPUs for us, and memory."""
    machine = host.probe()
    cpus = min(machine.usable, round(machine.cpu_limit or machine.usable))
    return max(1, min(cpus, host.available_bytes() // MEMORY_PER_JOB))


def failure(said: Sequence[str]) -> list[str]:
    """Return what a tool said of its first failure, without the command that failed."""
    begin = next((n for n, line in enumerate(said) if _FAILED.match(line)), None)
    if begin is None:
        told = said[-_MOST_LINES:]
    elif said[begin].startswith(_NINJA_FAILED):
        # The next line is the command; then the compiler speaks, until another step ends.
        words = takewhile(lambda line: not _STEP.match(line), said[begin + 2 :])
        told = [said[begin], *words][:_MOST_LINES]
    else:
        told = said[begin : begin + _MOST_LINES]
    return [line[:_LONGEST_LINE] for line in told if line.strip()]


def _end(process: subprocess.Popen[str]) -> None:
    """End what still runs: ninja removes what its compilers have half written."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
