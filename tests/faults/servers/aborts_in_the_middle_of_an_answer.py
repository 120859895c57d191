"""Sends half of its second answer and aborts, as llama.cpp does when a check of its own fails."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from tests.faults.servers.stub import Stub, say


class Server(Stub):
    def answer(
        self, connection: socket.socket, request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        if self.asked > 1:
            body = json.dumps(response).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            connection.sendall(head + body[: len(body) // 2])
            say("ggml/src/ggml.c:1234: GGML_ASSERT(n_tokens > 0) failed")
            os.abort()
        super().answer(connection, request, response)
