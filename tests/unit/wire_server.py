"""A server that sends exactly the bytes it is told to, and then closes or resets."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

LINGER_RESET = struct.pack("ii", 1, 0)


@dataclass
class WireServer:
    """Answers every connection with the same chunks.

    Attributes:
        chunks: Sent one by one.
        reset: Whether the connection ends with a reset.
        hold_s: How long it stays open, silent, after the last chunk.
        gone: What `death` says.
    """

    chunks: Sequence[bytes]
    reset: bool = False
    hold_s: float = 0.0
    gone: str | None = None
    api_key: str = "key"
    requests: list[bytes] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Begin to serve."""
        self.closing = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self.closing.set()
        socket.create_connection(("127.0.0.1", self.port)).close()
        self.thread.join()
        self.socket.close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def death(self) -> str | None:
        return self.gone

    def _serve(self) -> None:
        while True:
            connection, _ = self.socket.accept()
            with connection:
                if self.closing.is_set():
                    return
                with suppress(ConnectionError):  # the client gave up first
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        self.requests.append(request(connection))
        for chunk in self.chunks:
            connection.sendall(chunk)
            if len(self.chunks) > 1:
                self.closing.wait(0.005)
        self.closing.wait(self.hold_s)
        if self.reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_RESET)


def request(connection: socket.socket) -> bytes:
    """Read one whole request."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += connection.recv(65_536)
    head, _, body = raw.partition(b"\r\n\r\n")
    lengths = [
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    while lengths and len(body) < lengths[0]:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def http(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    """Write a response; *length* may lie."""
    told = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {told}\r\n\r\n".encode() + body
