"""Never answers its second question, until it is mended."""

from __future__ import annotations

import socket
from typing import Any

from tests.faults.servers.stub import Stub, hang, mended


class Server(Stub):
    def answer(
        self, connection: socket.socket, request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        if self.asked > 1 and not mended():
            hang()
        super().answer(connection, request, response)
