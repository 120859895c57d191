"""Does not listen, but tells its port, so that the test can put an impostor there."""

from __future__ import annotations

from tests.faults.servers.stub import Stub, hang, note


class Server(Stub):
    def load(self) -> None:
        note(event="port", port=int(self.options["port"]))
        hang()
