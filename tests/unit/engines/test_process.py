"""The process that is a server: whether it is about to end."""

from __future__ import annotations

import sys

from generator.engines.process import ServerProcess


def process(code: str) -> ServerProcess:
    return ServerProcess([sys.executable, "-c", code], b"order\n")


def test_an_end_is_waited_for() -> None:
    ending = process("input(); import os, time; os.close(1); os.close(2); time.sleep(0.1)")
    try:
        assert ending.ends_within(20.0)
        assert ending.ends_within(0.0)
        assert ending.death() == "ended by itself with exit code 0"
    finally:
        ending.stop()


def test_a_process_that_goes_on_is_not_waited_for_longer() -> None:
    going_on = process("input(); import time; time.sleep(60)")
    try:
        assert not going_on.ends_within(0.05)
        assert going_on.death() is None
    finally:
        going_on.stop()
    assert going_on.ends_within(0.0)
