"""A server of one file which misbehaves on request, on loopback only."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """What is served and how.

    Attributes:
        body: The file.
        etag: Its ETag, none where empty.
        cut_after: How many bytes of a body are sent before the line is cut, for each request.
        declared: The Content-Length to declare in place of the true one; -1 declares none.
        status: The status to answer with.
        content_type: The type to declare.
        ranges: Whether Range is heeded.
        conditions: Whether If-Range is heeded.
        headers: Further headers of every answer.
        gate: Waited for in the middle of a body.
        range_total: The total to declare in Content-Range in place of the true one.
        location: Where to redirect to.
        seen: Each request's headers, in lower case.
    """

    body: bytes
    etag: str = '"v1"'
    cut_after: list[int] = field(default_factory=list)
    declared: int | None = None
    status: int = 200
    content_type: str = "application/octet-stream"
    ranges: bool = True
    conditions: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Event | None = None
    range_total: int | None = None
    location: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    seen: list[dict[str, str]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(served: Served) -> Iterator[Served]:
    """Serve on a free port until the block ends; the address is put into *served*."""

    class Handler(_Handler):
        what = served

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served.url = f"http://127.0.0.1:{server.server_port}/model.gguf"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    what: Served

    def do_GET(self) -> None:
        what = self.what
        what.seen.append({name.lower(): value for name, value in self.headers.items()})
        if what.location:
            self.send_response(302)
            self.send_header("Location", what.location)
            self.end_headers()
            return
        if self.path in what.pages:
            self._answer(200, what.pages[self.path], "text/html")
            return
        start = self._start()
        if start and start >= len(what.body):
            self._answer(416, b"", what.content_type)
            return
        extra = {}
        if start:
            total = what.range_total or len(what.body)
            extra = {"Content-Range": f"bytes {start}-{len(what.body) - 1}/{total}"}
        self._answer(206 if start else what.status, what.body[start:], what.content_type, extra)

    def _start(self) -> int:
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range", self.what.etag)
        fresh = condition == self.what.etag or not self.what.conditions
        heeded = self.what.ranges and fresh
        return int(match[1]) if match and heeded else 0

    def _answer(
        self, status: int, body: bytes, content_type: str, extra: dict[str, str] | None = None
    ) -> None:
        what = self.what
        declared = len(body) if what.declared is None else what.declared
        self.send_response(status)
        headers = {"Content-Type": content_type, "ETag": what.etag} | (extra or {}) | what.headers
        if declared >= 0:
            headers["Content-Length"] = str(declared)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        sent = body[: what.cut_after.pop(0)] if what.cut_after else body
        with suppress(ConnectionError):  # the other end may be killed, or have seen enough
            self.wfile.write(sent[: len(sent) // 2])
            if what.gate is not None:
                what.gate.wait()
            self.wfile.write(sent[len(sent) // 2 :])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        """Say nothing."""
