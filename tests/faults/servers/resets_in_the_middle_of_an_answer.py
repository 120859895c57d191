"""Sends half of its second answer and resets the connection, but lives."""

from __future__ import annotations

import json
import socket
from typing import Any

from tests.faults.servers.stub import Stub, reset


class Server(Stub):
    def answer(
        self, connection: socket.socket, request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        if self.asked != 2:
            super().answer(connection, request, response)
            return
        body = json.dumps(response).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        connection.sendall(head + body[: len(body) // 2])
        reset(connection)
