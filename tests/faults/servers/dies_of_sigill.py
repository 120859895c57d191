"""Dies of SIGILL while loading, as an engine built for another CPU does."""

from __future__ import annotations

import os
import signal

from tests.faults.servers.stub import Stub


class Server(Stub):
    def load(self) -> None:
        os.kill(os.getpid(), signal.SIGILL)
