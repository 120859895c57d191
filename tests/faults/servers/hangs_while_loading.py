"""Never comes to listen."""

from __future__ import annotations

from tests.faults.servers.stub import Stub, hang


class Server(Stub):
    def load(self) -> None:
        hang()
