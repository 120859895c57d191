"""Waiting for a server to be ready, and making sure that it is the one we started."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import httpx

from generator.engines.process import ServerProcess
from generator.errors import EngineError
from generator.wire import WireError, parse_object

POLL_S = 0.01
PORTS = range(15_000, 32_000)  # systems give away ports from 32768 on
PROBE_TIMEOUT_S = 1.0
ENDING_S = 1.0
SEEN: Mapping[int | None, str] = {
    None: "it does not listen yet",
    0: "it listens, and does not answer",
    503: "it still loads, as it says itself",
}


def free_port() -> int:
    """Draw a loopback port that is free at this moment.

    It is none that a system gives to whoever asks for any: such a one may be given away again
    before the server listens on it.
    """
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def new_key() -> str:
    """Draw an API key for one boot."""
    return secrets.token_urlsafe(24)


def start_timeout_s(model_bytes: int) -> float:
    """Return how long a start may take: a minute, and the time a slow disk needs for the model."""
    return 60.0 + model_bytes / 20e6


def wait_until_ready(
    process: ServerProcess, port: int, key: str, alias: str, timeout_s: float
) -> dict[str, Any]:
    """Wait until the server is ready and has proved to be ours.

    It is ours if the process we started listens on the port itself, shows its `/props` to our key
    and no stranger, and presents the model under our alias.

    Args:
        process: The process we started.
        port: Where it was told to listen.
        key: Its API key.
        alias: The model's name as it was told.
        timeout_s: How long this may take, in seconds.

    Returns:
        Its `/props`.

    Raises:
        EngineError: It died, took too long, or something else answers on its port.
    """
    deadline = time.monotonic() + timeout_s
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}",
        trust_env=False,
        verify=False,  # noqa: S501 - plain HTTP; loading certificates would only cost time
        timeout=PROBE_TIMEOUT_S,
    ) as client:
        while True:
            death = process.death()
            if death is not None:
                raise EngineError(
                    f"The engine did not start: it {death}.",
                    _remedy(death),
                    process.log_tail(),
                )
            status = _health(client)
            seen = SEEN.get(status, f"it still answers /health with {status}")
            if status is not None and not process.listens_on(port):
                if _stranger_answers(client, process, port):
                    raise _impostor(port, "another program listens there")
            elif status == httpx.codes.OK:
                with suppress(httpx.TransportError):  # it broke off; the next round says why
                    return _prove(client, port, key, alias)
            if time.monotonic() > deadline:
                raise EngineError(
                    f"The engine was not ready after {timeout_s:g} s: {seen}.",
                    "Look at its last lines above; declare no more threads than there are CPUs, or"
                    " give a slow machine more time: receipts run --start-limit SECONDS.",
                    process.log_tail(),
                )
            time.sleep(POLL_S)


def _stranger_answers(client: httpx.Client, process: ServerProcess, port: int) -> bool:
    """Tell a stranger from our own process that is ending: its port goes before it does."""
    answers = _health(client) is not None and not process.listens_on(port)
    return answers and not process.ends_within(ENDING_S)


def _health(client: httpx.Client) -> int | None:
    """Return the status of `/health`, 0 for something that is no HTTP, or `None` for nobody."""
    try:
        return client.get("/health").status_code
    except (httpx.ConnectError, httpx.ConnectTimeout):
        return None
    except httpx.TransportError:
        return 0


def _prove(client: httpx.Client, port: int, key: str, alias: str) -> dict[str, Any]:
    stranger = client.get("/props").status_code
    if stranger != httpx.codes.UNAUTHORIZED:
        raise _impostor(port, f"it answers a stranger's /props with {stranger}, not 401")
    answer = client.get("/props", headers={"Authorization": f"Bearer {key}"})
    if answer.status_code != httpx.codes.OK:
        raise _impostor(port, f"it answers /props with our key with {answer.status_code}")
    try:
        props = parse_object(answer.content)
    except WireError as error:
        raise _impostor(port, f"its /props are {error}") from error
    shown = props.get("model_alias")
    if shown != alias:
        raise _impostor(port, f"it presents the model {shown!r}, not {alias!r}")
    return props


def _impostor(port: int, seen: str) -> EngineError:
    return EngineError(
        f"An impostor answers on port {port}: {seen}.",
        "End the other program, or run again: the port is drawn anew each time.",
    )


def _remedy(death: str) -> str:
    if "SIGILL" in death:
        return "Use an engine built for this CPU; `receipts doctor` shows what the CPU has."
    if "memory" in death:
        return "Free memory, or declare a smaller n_ctx or n_ubatch, or a smaller model."
    if "model" in death:
        return "Fetch the model again: receipts fetch."
    if "port" in death:
        return "Run again: the port is drawn anew each time."
    return "Look at its last lines above; settings under `extra` are passed through unchecked."
