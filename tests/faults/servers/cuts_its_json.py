"""Ends its second answer inside the JSON, and says that this was all of it."""

from __future__ import annotations

import json
import socket
from typing import Any

from tests.faults.servers.stub import Stub, send_raw


class Server(Stub):
    def answer(
        self, connection: socket.socket, request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        if self.asked == 2:
            body = json.dumps(response).encode()
            send_raw(connection, 200, body[: body.index(b"limit") + 2])
        else:
            super().answer(connection, request, response)
