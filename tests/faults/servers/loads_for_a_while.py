"""Listens at once and says 503 under `/health` twenty times, then is ready: no fault at all."""

from __future__ import annotations

from tests.faults.servers.stub import Stub


class Server(Stub):
    polls = 0

    def health(self) -> int:
        self.polls += 1
        return 503 if self.polls <= 20 else 200
