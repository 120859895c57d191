"""The port to an engine: what it can be asked to do, and the server it starts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from generator.engines.effective import Mismatch
from generator.engines.process import ServerProcess
from generator.settings import ServerSettings


@dataclass(frozen=True)
class RunningServer:
    """A server that is ready and is the one that we started.

    Attributes:
        base_url: Where it listens, on loopback.
        api_key: The key drawn for this boot.
        props: Its `/props` as received; scrub them before they are recorded.
        effective: What its log and `/props` say of its settings, by our names.
        mismatches: Where that differs from what was declared.
        ready_s: From the start of the process until it was ready, in seconds.
        process: The process; killed when the launch's context is left.
    """

    base_url: str
    api_key: str
    props: dict[str, Any]
    effective: dict[str, Any]
    mismatches: tuple[Mismatch, ...]
    ready_s: float
    process: ServerProcess

    def death(self) -> str | None:
        """Say why the server is gone, or `None` while it lives."""
        return self.process.death()

    def log_tail(self) -> list[str]:
        """Return the last lines of the server's log that fit on a screen, without paths."""
        return self.process.log_tail()

    def peak_memory_bytes(self) -> int | None:
        """Return the most memory that the process has held, where the system tells."""
        return self.process.peak_memory_bytes()

    def stop(self) -> None:
        """Kill the process and wait for its end; nothing happens the second time."""
        self.process.stop()


class Engine(Protocol):
    """One type of engine, ready to launch."""

    def launch(
        self,
        settings: ServerSettings,
        model_path: Path,
        model_alias: str,
        template_path: Path | None = None,
    ) -> AbstractContextManager[RunningServer]:
        """Start a server, wait until it is ready, and kill it when the context is left.

        Args:
            settings: What it is started with.
            model_path: The model's file, already verified.
            model_alias: The name under which the server must present the model.
            template_path: The chat template's file, if not the model's own.

        Raises:
            EngineError: It did not start, or what answers is not what was started.
        """

    def within(self, start_limit_s: float) -> Engine:
        """Return the same engine with a limit to how long a start may take, in seconds."""


@dataclass(frozen=True)
class LoadedFile:
    """One file that an engine loads."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Obtained:
    """An engine that is here and verified, with everything that a receipt says of it.

    Attributes:
        engine: Launches its servers.
        version: What it is called where it comes from.
        build: llama.cpp's build number.
        origin_sha256: The digest of what was pinned: a wheel, an archive, a program.
        files: Every file that it loads.
        built: How it was built, where it was built here: compiler, flags, and the like.
    """

    engine: Engine
    version: str
    build: int
    origin_sha256: str
    files: tuple[LoadedFile, ...]
    built: Mapping[str, str]
