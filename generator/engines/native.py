"""A llama-server program on disk, wherever it came from, run on a leash."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from generator.engines import leash
from generator.engines.base import RunningServer
from generator.engines.launching import (
    ISOLATED,
    VERBOSITY,
    Start,
    held,
    refuse_ours,
    start_limit_s,
)
from generator.engines.ready import free_port, new_key
from generator.engines.table import command_line
from generator.settings import ServerSettings

OURS = ("model", "alias", "host", "port", "api_key", "api_key_file", "log_verbosity", "verbosity")


@dataclass(frozen=True)
class NativeEngine:
    """A llama-server program.

    Attributes:
        program: The program, verified by the caller.
        environment: What it is given besides what every server is given.
        timeout_s: How long a start may take, in seconds; by default according to the model's size.
        pick_port: Where the next server is told to listen.
        leashed: The program that becomes the server, without its order.
    """

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    pick_port: Callable[[], int] = free_port
    leashed: Sequence[str] = (sys.executable, *ISOLATED, leash.__file__)

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
        timeout_s = start_limit_s(model_path, self.timeout_s)
        refuse_ours(settings, OURS)
        template = template_path.read_text(encoding="utf-8") if template_path else None
        port, key = self.pick_port(), new_key()
        model, program = str(model_path.absolute()), str(self.program.resolve())
        _, *arguments = command_line(
            settings, model, template=str(template_path.resolve()) if template_path else None
        )
        arguments += ["--alias", model_alias, "--host", "127.0.0.1", "--port", str(port)]
        arguments += ["--log-verbosity", str(VERBOSITY)]
        start = Start(
            command=self.leashed,
            order={
                "parent": os.getpid(),
                "command": [program, *arguments],
                # not an argument: those are shown to everybody on the machine
                "environment": {**self.environment, "LLAMA_API_KEY": key},
            },
            aliases={
                model: model_alias,
                str(template_path.resolve() if template_path else "\0"): "chat template",
                program: "llama-server",
                str(self.program.resolve().parent): "engine",
            },
            settings=settings,
            model_alias=model_alias,
            port=port,
            key=key,
            timeout_s=timeout_s,
            template=template,
        )
        with held(start) as server:
            yield server

    def within(self, start_limit_s: float) -> NativeEngine:
        """Return the same engine with a limit to how long a start may take, in seconds."""
        return replace(self, timeout_s=start_limit_s)
