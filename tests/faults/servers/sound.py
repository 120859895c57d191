"""Nothing is wrong with it."""

from __future__ import annotations

from tests.faults.servers.stub import Stub


class Server(Stub):
    pass
