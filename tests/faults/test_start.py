"""An engine that does not start: the command says why and what to do, and leaves nothing."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.faults.conftest import Fault
from tests.faults.stage import Stage, told, until

ENGINE = 5


@pytest.mark.parametrize(
    ("server", "limit_s", "cause"),
    [
        ("dies_of_sigill", "60", "SIGILL"),
        ("killed_while_loading", "60", "for want of memory"),
        ("hangs_while_loading", "3", "does not listen yet"),
        ("loads_for_ever", "3", "still loads"),
    ],
)
def test_a_start_that_fails(
    stage: Stage, fault: Fault, server: str, limit_s: str, cause: str
) -> None:
    stage.pin_server(server)
    end = stage.run("run", "broken/runs", "--start-limit", limit_s)
    assert end.code == ENGINE
    assert cause in end.message[-2]
    fault(server, end)
    assert stage.receipts() == {}
    assert stage.processes() == []


def test_a_limit_may_come_from_the_environment(stage: Stage) -> None:
    stage.pin_server("loads_for_ever")
    end = stage.run("run", "broken/runs", environment={"RECEIPTS_START_LIMIT": "0.25"})
    assert "not ready after 0.25 s" in end.message[-2]


def test_an_engine_that_loads_for_a_while_is_waited_for(stage: Stage) -> None:
    stage.pin_server("loads_for_a_while")
    assert stage.run("run", "broken/runs").code == 0
    assert stage.receipts()["runs"]["analysis"]["answered"] == 4


def test_what_earlier_boots_answered_is_kept(stage: Stage, fault: Fault) -> None:
    stage.pin_server("killed_at_the_second_boot")
    end = stage.run("run")
    assert end.code == ENGINE
    fault("killed_at_the_second_boot", end)
    assert list(stage.receipts()) == ["runs"]
    before = stage.receipts()["runs"]
    stage.mend()
    end = stage.run("run")
    assert end.code == 0
    assert sum("already answered" in line for line in end.progress) == 4
    assert list(stage.receipts()) == ["runs", "widths"]
    assert stage.receipts()["runs"] == before
    assert len(stage.events("asked")) == 4 + 6


class Impostor(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


def test_an_impostor_with_a_healthy_face(stage: Stage, fault: Fault) -> None:
    stage.pin_server("leaves_its_port_to_another")
    run = stage.start("run", "broken/runs")
    until(lambda: len(stage.events("port")) == 1)
    with ThreadingHTTPServer(("127.0.0.1", stage.events("port")[0]["port"]), Impostor) as impostor:
        Thread(target=impostor.serve_forever, args=(0.01,)).start()
        end = told(run)
        impostor.shutdown()
    assert end.code == ENGINE
    fault("leaves_its_port_to_another", end)
    assert stage.events("asked") == []
