"""Is killed when it is asked for the second time, as the kernel does when memory ends."""

from __future__ import annotations

import os
import signal
import socket
from typing import Any

from tests.faults.servers.stub import Stub


class Server(Stub):
    def answer(
        self, connection: socket.socket, request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        if self.asked > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        super().answer(connection, request, response)
