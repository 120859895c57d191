"""Holding a server from its start to its end: what all engine types share."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.engines.base import RunningServer
from generator.engines.effective import compare, observe
from generator.engines.process import ServerProcess
from generator.engines.ready import start_timeout_s, wait_until_ready
from generator.engines.table import environment
from generator.errors import EngineError
from generator.pin_types import shard_names
from generator.settings import ServerSettings

# The lowest at which the log tells n_batch, n_ubatch and what became of flash attention.
VERBOSITY = 4
# No environment, no site, and no bytecode written.
ISOLATED = ("-I", "-S", "-B")


@dataclass(frozen=True)
class Start:
    """All that one start of a server takes.

    Attributes:
        command: The program that becomes the server, without its order.
        order: What that program reads first, as one line of JSON.
        aliases: Text to be replaced in the log when it is shown, such as a path by a name.
        timeout_s: How long the start may take, in seconds.
        template: The declared chat template's text, if there is one.
    """

    command: Sequence[str]
    order: Mapping[str, Any]
    aliases: Mapping[str, str]
    settings: ServerSettings
    model_alias: str
    port: int
    key: str
    timeout_s: float
    template: str | None


@contextmanager
def held(start: Start) -> Iterator[RunningServer]:
    """Start a server, wait until it is ready, and kill it when the context is left.

    Raises:
        EngineError: It did not start, or what answers is not what was started.
    """
    started = time.perf_counter()
    process = _process(start)
    try:
        props = wait_until_ready(process, start.port, start.key, start.model_alias, start.timeout_s)
        ready_s = time.perf_counter() - started
        effective = observe(process.log(), props, start.template)
        yield RunningServer(
            base_url=f"http://127.0.0.1:{start.port}",
            api_key=start.key,
            props=props,
            effective=effective,
            mismatches=compare(start.settings, effective),
            ready_s=ready_s,
            process=process,
        )
    finally:
        process.stop()


def _process(start: Start) -> ServerProcess:
    try:
        return ServerProcess(
            start.command,
            json.dumps(start.order).encode() + b"\n",
            start.aliases,
            environment(start.settings),
        )
    except OSError as error:
        raise EngineError(
            f"The engine's process could not be started: {error.strerror or error}.",
            "Check that there is room in the temporary folder and that Python can be run.",
        ) from error


def start_limit_s(model_path: Path, timeout_s: float | None) -> float:
    """Return how long a start may take, in seconds, once the model is seen to be one.

    Args:
        model_path: The model's file.
        timeout_s: A limit that was set; without one, it goes by the model's size.

    Raises:
        EngineError: The file cannot be read, or is not a GGUF file.
    """
    try:
        with model_path.open("rb") as file:
            magic = file.read(4)
        shards = [model_path.with_name(name) for name in shard_names(model_path.name)]
        size = sum(shard.stat().st_size for shard in shards if shard.is_file())
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
    return start_timeout_s(size) if timeout_s is None else timeout_s


def refuse_ours(settings: ServerSettings, ours: Sequence[str]) -> None:
    """Refuse what under `extra` would replace a parameter that we set.

    Raises:
        EngineError: Naming what is ours.
    """
    taken = sorted(settings.extra.keys() & set(ours))
    if taken:
        raise EngineError(
            f"`extra` may not hold {', '.join(taken)}: it is set by us.",
            "Use the setting of that meaning, or leave it out.",
        )
