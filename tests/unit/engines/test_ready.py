"""The port that a server is given: free, and no port that the system gives to others meanwhile."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

import pytest

from generator.engines.ready import PORTS, free_port


def test_ports_are_none_that_linux_gives_to_whoever_asks_for_any() -> None:
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert 1024 < PORTS.start < PORTS.stop <= lowest


def test_a_port_that_is_taken_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    free = free_port()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        drawn = iter([taken.getsockname()[1], taken.getsockname()[1], free])
        monkeypatch.setattr(secrets, "choice", lambda _: next(drawn))
        assert free_port() == free
    assert list(drawn) == []


def test_a_port_can_be_listened_on() -> None:
    with socket.create_server(("127.0.0.1", free_port())) as server:
        assert server.getsockname()[1] in PORTS
