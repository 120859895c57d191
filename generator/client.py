"""The client of a server: one ask, one outcome; nothing is repeated, cached or guessed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

import httpx

from generator.outcome import KINDS, Answered, Failed, Kind
from generator.settings import PATHS, Endpoint
from generator.wire import WireError, parse_object, parse_stream, text_to_keep

# After these the process may be dying: it closes its connections before it can be waited for.
SUSPICIOUS = ("connect", "reset", "truncated", "protocol")
DEATH_WAIT_S = 0.5
BODY_LIMIT = 65_536


class Server(Protocol):
    """What the client needs of a running server."""

    @property
    def base_url(self) -> str:
        """Where it listens."""

    @property
    def api_key(self) -> str:
        """Its key."""

    def death(self) -> str | None:
        """Say why it is gone, or `None` while it lives."""


class _Received:
    """What has been received so far of one response."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.status: int | None = None
        self.raw = bytearray()

    @property
    def wall_s(self) -> float:
        return time.perf_counter() - self.started

    def failed(self, kind: Kind, message: str) -> Failed:
        body = self.raw[:BODY_LIMIT].decode("utf-8", errors="replace") or None
        return Failed(kind, message, self.status, body, self.wall_s)


class Client:
    """Asks one server.

    Every ask has a connection of its own: a server closes idle ones, and that must not look like an
    engine's failure. Proxies in the environment are not for loopback.

    Args:
        server: The server; it is asked whether it still lives when an ask fails.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._http = httpx.Client(
            base_url=server.base_url,
            headers={
                "Authorization": f"Bearer {server.api_key}",
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",
            },
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
            verify=False,  # noqa: S501 - plain HTTP; loading certificates would only cost time
        )

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close its connections."""
        self._http.close()

    def ask(
        self, endpoint: Endpoint, body: Mapping[str, Any], timeout_s: float
    ) -> Answered | Failed:
        """Send one request and return what became of it.

        Args:
            endpoint: Which endpoint.
            body: The request, sent as it is; with `stream` set, events are read.
            timeout_s: How long the whole may take, in seconds.
        """
        return self._send(PATHS[endpoint], body, timeout_s)

    def post(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Answered | Failed:
        """Send one request that is no ask, such as `/tokenize`, and return what became of it.

        Args:
            path: The endpoint's path.
            body: The request.
            timeout_s: How long the whole may take, in seconds.
        """
        return self._send(path, body, timeout_s)

    def _send(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Answered | Failed:
        content = json.dumps(body, allow_nan=False).encode()
        received = _Received()
        try:
            with self._http.stream("POST", path, content=content, timeout=timeout_s) as response:
                received.status = response.status_code
                for chunk in response.iter_raw():
                    received.raw += chunk
                    if received.wall_s > timeout_s:
                        return received.failed("timeout", f"not complete after {timeout_s:g} s")
        except httpx.TransportError as error:
            return self._broken(error, received, timeout_s)
        return _read(received, stream=body.get("stream") is True)

    def _broken(self, error: httpx.TransportError, received: _Received, timeout_s: float) -> Failed:
        kind = KINDS[type(error)]
        message = str(error) or type(error).__name__
        if kind == "timeout":
            message = f"nothing more came within {timeout_s:g} s"
        elif isinstance(error, httpx.RemoteProtocolError):
            if received.status is not None:
                kind = "truncated"
            elif "disconnected" in message:
                kind = "reset"
        failed = received.failed(kind, message)
        death = self._death() if kind in SUSPICIOUS else self._server.death()
        if death is None:
            return failed
        return Failed("died", f"the server {death}", failed.http_status, failed.body, failed.wall_s)

    def _death(self) -> str | None:
        deadline = time.monotonic() + DEATH_WAIT_S
        while (death := self._server.death()) is None and time.monotonic() < deadline:
            time.sleep(0.005)
        return death


def _read(received: _Received, *, stream: bool) -> Answered | Failed:
    """Turn a response that came to its end into an outcome."""
    wall_s, status, raw = received.wall_s, received.status, bytes(received.raw)
    if status == httpx.codes.UNAUTHORIZED:
        return received.failed("impostor", "the server does not know the key it was started with")
    if status != httpx.codes.OK:
        return received.failed("http_status", f"HTTP {status}")
    try:
        response = {"events": parse_stream(raw)} if stream else parse_object(raw)
    except WireError as error:
        return received.failed(error.kind, str(error))
    digest, kept = hashlib.sha256(raw).hexdigest(), text_to_keep(response, raw)
    return Answered(status, response, len(raw), digest, kept, wall_s)
