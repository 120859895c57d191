"""Is killed while loading, as the kernel does when memory ends, until it is mended."""

from __future__ import annotations

import os
import signal

from tests.faults.servers.stub import Stub, mended


class Server(Stub):
    def load(self) -> None:
        if not mended():
            os.kill(os.getpid(), signal.SIGKILL)
