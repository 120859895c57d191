"""Listens, and says 503 under `/health` for as long as anybody asks."""

from __future__ import annotations

from tests.faults.servers.stub import Stub


class Server(Stub):
    def health(self) -> int:
        return 503
