"""A stand-in for an engine: a launcher of servers that count what they are asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from generator.plan import Boot, Plan
from generator.receipt import AskRecord
from tests.factory import completion_response

Reply = Callable[[int, dict[str, Any]], dict[str, Any] | int | None]


class KillError(BaseException):
    """The run is killed here; no handler of errors may stop it."""


def counting(count: int, _request: dict[str, Any]) -> dict[str, Any]:
    """Answer with how many requests there have been; the first of a life is cold."""
    return completion_response([f"answer {count}"], stop="eos")


def ten(_text: str) -> int:
    """Count ten tokens in any text, as `completion_response` reports unless told."""
    return 10


def aside(path: str, request: dict[str, Any], tokens: Callable[[str], int]) -> dict[str, Any]:
    """Answer what is no ask: the tokens of a text, or the text of messages."""
    if path == "/tokenize":
        return {"tokens": list(range(tokens(request["content"])))}
    return {"prompt": "".join(f"<{m['role']}>{m['content']}" for m in request["messages"])}


@dataclass
class FakeServer:
    """What a launch yields: the surface of a running server, without a process."""

    base_url: str
    api_key: str = "key"
    props: dict[str, Any] = field(default_factory=lambda: {"total_slots": 1, "model_path": "/x"})
    effective: dict[str, Any] = field(default_factory=lambda: {"n_ctx": 4096})
    mismatches: tuple[Any, ...] = ()
    ready_s: float = 0.25
    died: str | None = None

    def death(self) -> str | None:
        return self.died

    def stop(self) -> None:
        """Be dead from now on."""
        self.died = "was stopped"

    def peak_memory_bytes(self) -> int | None:
        return 1_000_000


@dataclass
class FakeEngine:
    """Launches servers that answer at once, by *reply*.

    *reply* is given the number of the request, over all lives, and the request. It returns a
    response, an HTTP status to fail with, or None to die without a word. *tokens* counts those of
    a text.
    """

    reply: Reply = counting
    tokens: Callable[[str], int] = ten
    requests: list[dict[str, Any]] = field(default_factory=list)
    lives: list[str] = field(default_factory=list)
    asked_in_life: list[int] = field(default_factory=list)

    @contextmanager
    def launch(self, boot: Boot) -> Iterator[Any]:
        """Start a server for *boot*."""
        self.lives.append(boot.name)
        self.asked_in_life.append(0)
        with ThreadingHTTPServer(("127.0.0.1", 0), self._handler()) as http:
            server = FakeServer(f"http://127.0.0.1:{http.server_port}")
            http.fake = server  # type: ignore[attr-defined]
            thread = threading.Thread(target=http.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield server
            finally:
                http.shutdown()
                thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                request = json.loads(self.rfile.read(length))
                if self.path in ("/tokenize", "/apply-template"):
                    self.send_whole(
                        200, json.dumps(aside(self.path, request, engine.tokens)).encode()
                    )
                    return
                engine.requests.append(request)
                engine.asked_in_life[-1] += 1
                reply = engine.reply(len(engine.requests), request)
                if reply is None:
                    self.server.fake.died = "was killed by SIGKILL"  # type: ignore[attr-defined]
                    self.close_connection = True
                    return
                body = json.dumps({} if isinstance(reply, int) else reply).encode()
                self.send_whole(reply if isinstance(reply, int) else 200, body)

            def send_whole(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
                """Say nothing."""

        return Handler


@dataclass
class Watching:
    """Notes what a run tells, and kills it before step *kill_at*, counted from 1."""

    kill_at: int | None = None
    booted: list[str] = field(default_factory=list)
    asked_: list[tuple[str, str, bool]] = field(default_factory=list)

    def _step(self) -> None:
        if self.kill_at is not None and len(self.booted) + len(self.asked_) >= self.kill_at:
            raise KillError

    def booting(self, plan: Plan, boot: Boot) -> None:
        """Note a boot."""
        assert boot in plan.boots
        self.booted.append(boot.name)
        self._step()

    def asked(self, plan: Plan, boot: Boot, record: AskRecord, *, resumed: bool) -> None:
        """Note an ask."""
        assert boot in plan.boots
        self.asked_.append((boot.name, record.name, resumed))
        self._step()
