"""A server's process: started apart from the terminal, watched, and never left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from generator.errors import EngineError

STOP_TIMEOUT_S = 10.0
TAIL_BYTES = 16_384
# What is shown of a log leaves room on a screen of 24 rows for what happened and what to do.
TAIL_ROWS = 16
ROW_WIDTH = 76
LINE_WIDTH = 3 * ROW_WIDTH
# Settings of the engine must come from the declaration, so none are let in by the environment
# (LLAMA_ARG_*, GGML_*, OMP_*).
KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR", "SYSTEMROOT")
CAUSES = {
    "SIGILL": "it used an instruction that this CPU does not have: it was built for another CPU",
    "SIGKILL": "it was killed by the system or by somebody, most often for want of memory",
    "SIGABRT": "it gave up on an internal error",
    "SIGSEGV": "it read memory that is not its own: a fault of the engine, or a broken model",
    "SIGBUS": "a file that it reads was cut short, or the disk failed",
    "SIGFPE": "it made an arithmetic error",
    "SIGTERM": "somebody asked it to end",
}
SYMPTOMS = {
    "is not within the file bounds": "the model file is truncated or corrupt",
    "invalid magic characters": "the model file is not a GGUF file",
    "couldn't bind HTTP server socket": "another program took its port",
    "failed to allocate": "there was not enough memory",
    "std::bad_alloc": "there was not enough memory",
    "unknown model architecture": "this build does not know the model's architecture",
}
ASSERTION = re.compile(r"GGML_ASSERT\(.+\) failed|terminate called after .+")
FIRST_ERROR = re.compile(r"^(?:[\d.]+ E \w+ *(?:\w+)?: |(?=parameter ))(.+)$", re.MULTILINE)


def _temporary_folder() -> str | None:
    # Python finds one by writing a file with a name, which stays if we are killed just then.
    candidates = (os.environ.get("TMPDIR"), "/tmp", "/var/tmp")  # noqa: S108 - as Python looks
    return next((c for c in candidates if c and os.access(c, os.W_OK)), None)


class ServerProcess:
    """A running server process and its log.

    Args:
        command: The program and its arguments.
        order: Written to its standard input, which then stays open: its end tells the server that
            we are gone.
        aliases: Text to be replaced in the log when it is shown, such as a path by a name.
        environment: What it is given besides the little that is kept of our own.
    """

    def __init__(
        self,
        command: Sequence[str],
        order: bytes,
        aliases: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._aliases = dict(aliases or {})
        self._death: str | None = None
        self._last_words = b""
        # It has no name, so nothing is left of it if we are killed.
        self._log = tempfile.TemporaryFile(dir=_temporary_folder())  # noqa: SIM115
        kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
        try:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                env={**kept, "LC_ALL": "C.UTF-8", **(environment or {})},
                start_new_session=True,
            )
        except BaseException:
            self._log.close()
            raise
        self.pid = self._popen.pid
        try:
            self._give(order)
        except BaseException:
            self.stop()
            raise

    def _give(self, order: bytes) -> None:
        if self._popen.stdin is not None:
            with suppress(BrokenPipeError):  # it died already; `death` says why
                self._popen.stdin.write(order)
                self._popen.stdin.flush()

    def death(self) -> str | None:
        """Say in plain words why the process is gone, or `None` while it lives."""
        if self._death is None:
            code = self._popen.poll()
            if code is not None:
                self._death = describe(code, self.log())
        return self._death

    def ends_within(self, seconds: float) -> bool:
        """Tell whether the process ends within *seconds*, or has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)
        return self.death() is not None

    def log(self) -> str:
        """Return the log as text, without paths; only its end once the process is stopped."""
        text = self._raw_log().decode("utf-8", errors="replace")
        for found, shown in self._aliases.items():
            text = text.replace(found, shown)
        return text

    def _raw_log(self) -> bytes:
        if self._log.closed:
            return self._last_words
        # The child writes through the same open file: a seek here would move its pen.
        return os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0)

    def log_tail(self, rows: int = TAIL_ROWS) -> list[str]:
        """Return the last lines of the log that fit on *rows* rows of a screen.

        They are without paths and control characters, and long ones are cut.
        """
        kept: list[str] = []
        for line in reversed(self.log()[-TAIL_BYTES:].splitlines()):
            shown = "".join(c if c.isprintable() else " " for c in line)[:LINE_WIDTH]
            rows -= max(1, -(-len(shown) // ROW_WIDTH))
            if rows < 0:
                break
            kept.append(shown)
        return kept[::-1]

    def listens_on(self, port: int) -> bool:
        """Tell whether the process itself listens on *port*."""
        try:
            found = psutil.Process(self.pid).net_connections(kind="tcp4")
        except psutil.Error:
            return False
        return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in found)

    def peak_memory_bytes(self) -> int | None:
        """Return the most memory that the process has held, where the system tells."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        except OSError:
            return None
        peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(peaks[0]) * 1024 if peaks else None

    def stop(self) -> None:
        """Kill the process and its group and wait for the end; idempotent.

        Raises:
            EngineError: It does not end, which happens while a device does not answer the kernel.
        """
        if self.death() is None:
            os.killpg(self.pid, signal.SIGKILL)
            try:
                self._popen.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired as error:
                raise EngineError(
                    f"The engine's process {self.pid} was killed and does not end.",
                    "It waits for a device, most often a disk; look at the kernel's log (dmesg).",
                ) from error
            self._death = "was stopped"
        if self._popen.stdin is not None:
            with suppress(BrokenPipeError):
                self._popen.stdin.close()
        self._last_words = self._raw_log()[-TAIL_BYTES:]
        self._log.close()


def describe(code: int, log: str) -> str:
    """Say in plain words why a process ended.

    Args:
        code: Its exit code, negative for a signal.
        log: Its log, in which known symptoms are looked for.
    """
    found = [cause for symptom, cause in SYMPTOMS.items() if symptom in log]
    if code >= 0:
        found = found or FIRST_ERROR.findall(log)[:1]
        return ": ".join([f"ended by itself with exit code {code}", *found])
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    found = found or ASSERTION.findall(log)[-1:]
    return ": ".join([f"died of {name}", *([CAUSES[name]] if name in CAUSES else []), *found])
