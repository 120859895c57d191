"""A stand-in for the llama-server program: answers from a file, and writes down what it heard.

Run by file: `stub_server.py FOLDER --port N …`. The folder's `answers.json` holds, by the value of
`--ubatch-size`, the responses in order. Each server appends to `heard.jsonl` what it was started
with, then every request. With `--threads 9` it ends at once, and `--threads 8` makes it wait until
two requests are there before it answers either.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def main(folder: Path, arguments: list[str]) -> None:
    """Serve until killed."""

    def argument(name: str) -> str:
        return arguments[arguments.index(name) + 1]

    lock = threading.Lock()
    company = threading.Barrier(2)

    def hear(thing: dict[str, Any]) -> None:
        with lock, (folder / "heard.jsonl").open("a") as file:
            file.write(json.dumps(thing) + "\n")

    environment = [name for name in os.environ if name.startswith(("LLAMA_ARG_", "OMP_"))]
    hear({"arguments": arguments, "environment": environment, "pid": os.getpid()})
    if argument("--threads") == "9":
        sys.stderr.write("error: this machine has no ninth thread\n")
        sys.exit(3)
    answers = json.loads((folder / "answers.json").read_text())[argument("--ubatch-size")]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"status": "ok"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            hear({"path": self.path, "body": body})
            if argument("--threads") == "8":
                company.wait(30)
            with lock:
                answer = answers.pop(0)
            self._send(200 if answer is not None else 500, answer)

        def _send(self, status: int, answer: Any) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
            """Say nothing."""

    ThreadingHTTPServer(("127.0.0.1", int(argument("--port"))), Handler).serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
