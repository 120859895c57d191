"""The outcome of an ask: a response, whole, or a failure of a known kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import httpx

Kind = Literal[
    "connect",
    "reset",
    "timeout",
    "protocol",
    "http_status",
    "impostor",
    "truncated",
    "invalid_utf8",
    "not_json",
    "engine_error",
    "died",
    "underived",
]
KINDS: Mapping[type[httpx.TransportError], Kind] = {
    httpx.ConnectTimeout: "timeout",
    httpx.ReadTimeout: "timeout",
    httpx.WriteTimeout: "timeout",
    httpx.PoolTimeout: "timeout",
    httpx.ConnectError: "connect",
    httpx.ReadError: "reset",
    httpx.WriteError: "reset",
    httpx.CloseError: "reset",
    httpx.LocalProtocolError: "protocol",
    httpx.RemoteProtocolError: "protocol",
    httpx.UnsupportedProtocol: "protocol",
    httpx.ProxyError: "connect",
}
"""The one place where httpx's failures become ours."""


@dataclass(frozen=True)
class Answered:
    """A response, whole.

    Attributes:
        http_status: Its HTTP status.
        response: Its JSON; of a stream `{"events": […]}`, each event's JSON in order.
        raw_bytes: Its length as received.
        raw_sha256: The digest of it as received.
        raw: Its text, only where compact JSON of `response` does not give it back.
        wall_s: From sending to the last byte, in seconds.
    """

    http_status: int
    response: dict[str, Any]
    raw_bytes: int
    raw_sha256: str
    raw: str | None
    wall_s: float


@dataclass(frozen=True)
class Failed:
    """No usable response, and why.

    Attributes:
        kind: What went wrong, one word.
        message: The same in a sentence.
        http_status: The HTTP status, if it came that far.
        body: What was received of the body, at most its first 64 KiB.
        wall_s: From sending to the failure, in seconds.
    """

    kind: Kind
    message: str
    http_status: int | None
    body: str | None
    wall_s: float
