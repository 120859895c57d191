"""The embedded engine: llama.cpp's own server out of a Python wheel, in a child of ours."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from generator.engines import child
from generator.engines.base import RunningServer
from generator.engines.effective import compare, observe
from generator.engines.process import ServerProcess
from generator.engines.ready import free_port, new_key, start_timeout_s, wait_until_ready
from generator.engines.table import wheel_fields
from generator.errors import EngineError
from generator.settings import ServerSettings

# The lowest at which the log tells n_batch, n_ubatch and what became of flash attention.
VERBOSITY = 4
# No environment, no site, and no bytecode beside the verified files, written or read.
ISOLATED = ("-I", "-S", "-B", "-X", "pycache_prefix=/nonexistent")


@dataclass(frozen=True)
class WheelEngine:
    """The embedded engine.

    Attributes:
        root: The unpacked wheel, verified by the caller.
        timeout_s: How long a start may take, in seconds; by default according to the model's size.
        pick_port: Where the next server is told to listen.
        command: The program that becomes the server, without its order.
    """

    root: Path
    timeout_s: float | None = None
    pick_port: Callable[[], int] = free_port
    command: Sequence[str] = (sys.executable, *ISOLATED, child.__file__)

    @contextmanager
    def launch(
        self,
        settings: ServerSettings,
        model_path: Path,
        model_alias: str,
        template_path: Path | None = None,
    ) -> Iterator[RunningServer]:
        """Start a server, wait until it is ready, and kill it when the context is left.

        Args:
            settings: What it is started with.
            model_path: The model's file, already verified.
            model_alias: The name under which the server must present the model.
            template_path: The chat template's file, if not the model's own.

        Raises:
            EngineError: It did not start, or what answers is not what was started.
        """
        size = _checked_size(model_path)
        template = template_path.read_text(encoding="utf-8") if template_path else None
        port, key = self.pick_port(), new_key()
        fields = wheel_fields(settings, template) | {
            "model.path": str(model_path.resolve()),
            "model_alias": model_alias,
            "hostnames": "127.0.0.1",
            "port": port,
            "api_keys": key,
            "ui": False,
            "verbosity": VERBOSITY,
        }
        taken = sorted(fields.keys() & settings.extra.keys())
        if taken:
            raise EngineError(
                f"`extra` may not hold {', '.join(taken)}: it is set by us.",
                "Use the setting of that meaning, or leave it out.",
            )
        order = {
            "parent": os.getpid(),
            "root": str(self.root.resolve()),
            "fields": fields | settings.extra,
        }
        aliases = {str(model_path.resolve()): model_alias, str(self.root.resolve()): "engine"}
        started = time.perf_counter()
        process = _start(self.command, order, aliases)
        try:
            timeout_s = start_timeout_s(size) if self.timeout_s is None else self.timeout_s
            props = wait_until_ready(process, port, key, model_alias, timeout_s)
            ready_s = time.perf_counter() - started
            effective = observe(process.log(), props, template)
            yield RunningServer(
                base_url=f"http://127.0.0.1:{port}",
                api_key=key,
                props=props,
                effective=effective,
                mismatches=compare(settings, effective),
                ready_s=ready_s,
                process=process,
            )
        finally:
            process.stop()


def _start(
    command: Sequence[str], order: dict[str, object], aliases: dict[str, str]
) -> ServerProcess:
    try:
        return ServerProcess(command, json.dumps(order).encode() + b"\n", aliases)
    except OSError as error:
        raise EngineError(
            f"The engine's process could not be started: {error.strerror or error}.",
            "Check that there is room in the temporary folder and that Python can be run.",
        ) from error


def _checked_size(model_path: Path) -> int:
    try:
        with model_path.open("rb") as file:
            magic = file.read(4)
        size = model_path.stat().st_size
    except OSError as error:
        raise EngineError(
            f"The model {model_path.name} cannot be read: {error.strerror or error}.",
            "Fetch it again: receipts fetch.",
        ) from error
    if magic != b"GGUF":
        raise EngineError(
            f"The model {model_path.name} is not a GGUF file: it begins with {magic!r}.",
            "Fetch it again: receipts fetch. (A web page saved as a model begins with b'<'.)",
        )
    return size
