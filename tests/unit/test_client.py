"""Every way in which a server can fail to answer has its own kind; nothing is asked twice."""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from generator.client import BODY_LIMIT, Client
from generator.outcome import KINDS, Answered, Failed
from generator.wire import body_of
from tests.unit.wire_server import WireServer, http


def ask(
    server: WireServer, body: dict[str, Any] | None = None, timeout_s: float = 5.0
) -> Answered | Failed:
    with Client(server) as client:
        return client.ask("completion", body or {"prompt": "p"}, timeout_s)


def failure(server: WireServer, **kwargs: Any) -> Failed:
    with server:
        outcome = ask(server, **kwargs)
    assert isinstance(outcome, Failed)
    return outcome


def leaves(kind: type[BaseException]) -> set[type[BaseException]]:
    below = kind.__subclasses__()
    return set().union(*(leaves(sub) for sub in below)) if below else {kind}


def test_every_failure_of_httpx_has_a_kind() -> None:
    assert leaves(httpx.TransportError) == set(KINDS)


def test_an_answer_is_kept_whole() -> None:
    raw = b'{"content": "\\ud83d", "n": 12345678901234567890}'
    with WireServer([http(raw)]) as server:
        outcome = ask(server)
    assert isinstance(outcome, Answered)
    assert outcome.response == {"content": "\ud83d", "n": 12345678901234567890}
    assert (outcome.raw_bytes, outcome.http_status) == (len(raw), 200)
    assert outcome.raw_sha256 == hashlib.sha256(raw).hexdigest()
    assert outcome.raw == raw.decode()
    assert 0 < outcome.wall_s < 5


@pytest.mark.parametrize("raw", [b'{"z":1,"a":{"y":0.5,"b":[]}}', b'{"z": 1.50, "a": 2}'])
def test_the_bytes_of_an_answer_can_be_made_again(raw: bytes) -> None:
    with WireServer([http(raw)]) as server:
        outcome = ask(server)
    assert isinstance(outcome, Answered)
    assert body_of(outcome.response, outcome.raw) == raw


def test_the_request_goes_out_as_it_is_with_our_key() -> None:
    body = {"prompt": "种子\u2028", "seed": 4294967294, "stop": []}
    with WireServer([http(b"{}")]) as server:
        ask(server, body)
    head, _, sent = server.requests[0].partition(b"\r\n\r\n")
    assert json.loads(sent) == body
    assert head.startswith(b"POST /completion HTTP/1.1")
    assert b"Authorization: Bearer key" in head


def test_the_chat_endpoint_has_its_own_path() -> None:
    with WireServer([http(b"{}")]) as server, Client(server) as client:
        client.ask("chat", {"messages": []}, 5.0)
    assert server.requests[0].startswith(b"POST /v1/chat/completions ")


@pytest.mark.parametrize(
    ("server", "kind"),
    [
        (WireServer([], reset=True), "reset"),
        (WireServer([]), "reset"),
        (WireServer([http(b'{"a":', length=100)]), "truncated"),
        (WireServer([http(b'{"a":', length=100)], reset=True), "reset"),
        (WireServer([http(b'{"a": "\xff"}')]), "invalid_utf8"),
        (WireServer([http(b'{"a": 1')]), "not_json"),
        (WireServer([http(b"<html>hello</html>")]), "not_json"),
        (WireServer([http(b'{"error": {}}', "503 Service Unavailable")]), "http_status"),
        (WireServer([http(b"", "302 Found")]), "http_status"),
        (WireServer([http(b"{}", "401 Unauthorized")]), "impostor"),
        (WireServer([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"]), "protocol"),
    ],
)
def test_each_way_to_fail_has_its_kind(server: WireServer, kind: str) -> None:
    failed = failure(server)
    assert failed.kind == kind
    assert failed.message
    assert len(server.requests) == 1


def test_what_was_received_of_a_broken_body_is_kept() -> None:
    failed = failure(WireServer([http(b'{"content": "so far', length=100)]))
    assert failed.body == '{"content": "so far'
    assert failed.http_status == 200


def test_a_page_in_place_of_an_answer_is_kept() -> None:
    failed = failure(WireServer([http(b"<html>busy</html>", "503 Service Unavailable")]))
    assert (failed.http_status, failed.body) == (503, "<html>busy</html>")


def test_nobody_there_is_a_failure_to_connect() -> None:
    with WireServer([]) as server:
        pass
    outcome = ask(server)
    assert isinstance(outcome, Failed)
    assert outcome.kind == "connect"


def test_silence_is_a_timeout() -> None:
    failed = failure(WireServer([], hold_s=5), timeout_s=0.1)
    assert failed.kind == "timeout"
    assert failed.wall_s < 2


def test_a_trickle_is_a_timeout_too() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    failed = failure(WireServer([head, *[b"x"] * 200]), timeout_s=0.1)
    assert failed.kind == "timeout"
    assert failed.wall_s < 0.5


def test_a_dead_server_is_named_with_its_cause() -> None:
    failed = failure(WireServer([], reset=True, gone="died of SIGKILL"))
    assert (failed.kind, failed.message) == ("died", "the server died of SIGKILL")


def test_a_proxy_in_the_environment_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with WireServer([http(b"{}")]) as server:
        assert isinstance(ask(server), Answered)


def test_a_server_that_closes_every_connection_is_no_failure() -> None:
    with WireServer([http(b"{}")]) as server, Client(server) as client:
        outcomes = [client.ask("completion", {"i": i}, 5.0) for i in range(5)]
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    assert len(server.requests) == 5


def stream(*chunks: bytes) -> WireServer:
    return WireServer([b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", *chunks])


def test_a_stream_survives_any_cut_and_odd_line_separators() -> None:
    text = "种\u2028子\x85\u2029 👍"
    event = json.dumps({"content": text, "stop": True}, ensure_ascii=False)
    raw = f"data: {event}\r\n\r\n".encode()
    with stream(*[raw[i : i + 1] for i in range(len(raw))]) as server:
        outcome = ask(server, {"stream": True})
    assert isinstance(outcome, Answered)
    assert outcome.response == {"events": [{"content": text, "stop": True}]}
    assert outcome.raw_bytes == len(raw)


def test_a_stream_without_its_end_is_truncated() -> None:
    failed = failure(stream(b'data: {"content": "plan</thi"}\n\n'), body={"stream": True})
    assert failed.kind == "truncated"
    assert "</thi" in str(failed.body)


def median_s(act: Callable[[], object]) -> float:
    times = []
    for _ in range(50):
        started = time.perf_counter()
        act()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def test_an_ask_costs_little_more_than_httpx_itself() -> None:
    limits = httpx.Limits(max_keepalive_connections=0)
    with (
        WireServer([http(b"{}")]) as server,
        Client(server) as client,
        httpx.Client(base_url=server.base_url, trust_env=False, limits=limits) as raw,
    ):
        theirs = median_s(lambda: raw.post("/completion", json={}))
        ours = median_s(lambda: client.ask("completion", {}, 5.0))
    assert ours - theirs < 0.002


@dataclass
class Dying(WireServer):
    """Closes its connections a moment before its process can be seen to have ended."""

    dies_after: int = 10

    def death(self) -> str | None:
        self.dies_after -= 1
        return "died of SIGSEGV" if self.dies_after < 0 else None


@pytest.mark.parametrize(
    "server",
    [
        Dying([], reset=True),
        Dying([]),
        Dying([http(b'{"a":', length=100)]),
        Dying([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"]),
    ],
    ids=["reset", "closed", "truncated", "protocol"],
)
def test_a_server_whose_connections_end_is_given_time_to_be_found_dead(server: Dying) -> None:
    failed = failure(server)
    assert (failed.kind, failed.message) == ("died", "the server died of SIGSEGV")


def test_a_server_that_lives_on_is_not_waited_for_after_a_timeout() -> None:
    failed = failure(Dying([], hold_s=5), timeout_s=0.1)
    assert failed.kind == "timeout"


@pytest.mark.parametrize("length", [BODY_LIMIT, BODY_LIMIT + 1, 2 * BODY_LIMIT])
def test_no_more_of_a_page_in_place_of_an_answer_is_kept_than_it_takes_to_know_it(
    length: int,
) -> None:
    page = bytes(range(ord("a"), ord("z"))) * (length // 25 + 1)
    failed = failure(WireServer([http(page[:length], "503 Service Unavailable")]))
    assert BODY_LIMIT == 64 * 1024
    assert failed.body == page[:BODY_LIMIT].decode()
