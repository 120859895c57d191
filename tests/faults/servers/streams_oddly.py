"""Streams U+2028 inside a text byte by byte; its second stream is reset before its end."""

from __future__ import annotations

import socket
from typing import Any

from tests.faults.servers.stub import Stub, chunked, reset

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = 'data: {"content": "一\u2028二\x85三", "stop": true}\n\n'.encode()


class Server(Stub):
    def answer(
        self, connection: socket.socket, _request: dict[str, Any], _response: dict[str, Any]
    ) -> None:
        whole = HEAD + chunked([EVENT[i : i + 1] for i in range(len(EVENT))])
        if self.asked == 1:
            connection.sendall(whole)
        else:
            connection.sendall(whole[: len(whole) // 2])
            reset(connection)
