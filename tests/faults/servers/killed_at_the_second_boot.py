"""Starts once, and is killed while loading at every later boot, until it is mended."""

from __future__ import annotations

import os
import signal

from tests.faults.servers.stub import FOLDER, Stub, mended


class Server(Stub):
    def load(self) -> None:
        starts = (FOLDER / "events.jsonl").read_text().count('"start"')
        if starts > 1 and not mended():
            os.kill(os.getpid(), signal.SIGKILL)
