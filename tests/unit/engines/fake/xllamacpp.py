"""A stand-in for the wheel: the real child imports it, and it fails as it is told."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

LOG = """0.00.000.001 I cmn  common_param: system_info: n_threads = {threads} (n_threads_batch = 2) / 2 | CPU : FMA = 1 |
0.00.000.002 I llama_context: n_ctx                 = {n_ctx}
0.00.000.002 I llama_context: n_batch               = {n_batch}
0.00.000.002 I llama_context: n_ubatch              = {n_ubatch}
"""  # noqa: E501 - as the engine writes it


class CommonParams:
    """Takes every parameter but those whose name begins with no_such."""

    def __init__(self) -> None:
        self.fault = ""
        self.cpuparams = SimpleNamespace(n_threads=-1)
        self.cpuparams_batch = SimpleNamespace(n_threads=-1)
        self.model = SimpleNamespace(path="")
        self.model_alias: set[str] = set()
        self.hostnames = ["127.0.0.1"]
        self.api_keys: list[str] = []

    def __getattr__(self, name: str) -> Any:
        """Pretend that the parameter was there all along."""
        if name.startswith("no_such"):
            raise AttributeError(f"no attribute {name!r}")
        return None


class Server:
    """Serves `/health` and `/props`, or fails."""

    def __init__(self, params: Any) -> None:
        log = LOG.format(
            threads=params.cpuparams.n_threads,
            n_ctx=params.n_ctx,
            n_batch=min(params.n_batch, params.n_ctx),
            n_ubatch=min(params.n_ubatch, params.n_batch, params.n_ctx),
        )
        say(f"{log}loading model '{params.model.path}'")
        fail(params.fault)
        key = "Bearer " + params.api_keys[0]
        alias = "another" if params.fault == "wrong_alias" else next(iter(params.model_alias))

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known = self.headers["Authorization"] == key
                if params.fault == "wrong_key":
                    known = False
                if params.fault == "no_key":
                    known = True
                if self.path == "/health":
                    self.answer(503 if params.fault == "loading" else 200, {})
                elif known:
                    self.answer(200, {"model_alias": alias, "total_slots": params.n_parallel})
                else:
                    self.answer(401, {})

            def answer(self, status: int, value: object) -> None:
                body = json.dumps(value).encode()
                if params.fault == "no_json" and status == 200:
                    body = b"<html>"
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        http = ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()


def say(text: str) -> None:
    """Write to the log."""
    os.write(2, f"{text}\n".encode())


def fail(fault: str) -> None:
    """Fail as *fault* says."""
    if fault.startswith("SIG"):
        os.kill(os.getpid(), signal.Signals[fault])
        time.sleep(5)
    if fault == "truncated_model":
        say("0.00.1 E llama_model_load: error: tensor is not within the file bounds, corrupted")
        raise RuntimeError("Failed to init server")
    if fault == "exit":
        say("0.00.1 E srv   init: a very particular reason")
        os._exit(3)
    if fault == "hang":
        time.sleep(60)
