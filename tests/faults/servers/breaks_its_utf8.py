"""Splits a character between two chunks in its first answer; in its second, loses half of it."""

from __future__ import annotations

import json
import socket
from typing import Any

from tests.faults.servers.stub import Stub, chunked

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Server(Stub):
    def answer(
        self, connection: socket.socket, _request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        text = json.dumps({**response, "content": "种\u2028子"}, ensure_ascii=False).encode()
        middle = text.index("子".encode()) + 1
        lost = 1 if self.asked == 2 else 0
        connection.sendall(HEAD + chunked([text[:middle], text[middle + lost :]]))
