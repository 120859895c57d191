"""A llama-server for tests: it answers by the request alone, in milliseconds, and notes it all.

The files beside this one are servers with one fault each. Each can be a program that takes
llama-server's arguments, and stand in for the embedded engine, by `xllamacpp_stub`. What they note
goes to the folder above the temporary one, and a fault that can be mended is gone once a file named
`mended` lies there.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["TMPDIR"]).parent
LOG = """\
0.00.000.001 I system_info: n_threads = {threads} (n_threads_batch = {threads-batch}) / 2 | FMA = 1|
0.00.000.002 I llama_context: n_ctx                 = {ctx-size}
0.00.000.002 I llama_context: n_batch               = {batch-size}
0.00.000.002 I llama_context: n_ubatch              = {ubatch-size}
0.00.000.003 I srv    load_model: loading model '{model}'"""  # as the engine writes it
PROMPT_TOKENS = 7
ANSWER_TOKENS = 3
FOR_EVER_S = 600.0


def note(**event: Any) -> None:
    """Append an event to `events.jsonl`, whole or not at all."""
    line = json.dumps({"pid": os.getpid(), **event}) + "\n"
    pen = os.open(FOLDER / "events.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(pen, line.encode())
    os.close(pen)


def say(text: str) -> None:
    """Write to the server's log."""
    os.write(2, f"{text}\n".encode())


def mended() -> bool:
    """Tell whether somebody has mended what is wrong with this server."""
    return (FOLDER / "mended").exists()


def hang() -> None:
    """Do nothing, for longer than anybody waits."""
    time.sleep(FOR_EVER_S)


def reset(connection: socket.socket) -> None:
    """Let the connection end with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def chunked(pieces: list[bytes]) -> bytes:
    """Write a body as chunks, cut as given."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def aside(path: str, request: dict[str, Any]) -> dict[str, Any]:
    """Answer what is no ask: the tokens of a text, or the text of messages."""
    if path == "/tokenize":
        return {"tokens": list(range(PROMPT_TOKENS))}
    return {"prompt": "".join(f"<{m['role']}>{m['content']}" for m in request["messages"])}


class Stub:
    """A server without a fault; each fault overrides one of its steps."""

    def __init__(self, options: dict[str, str], key: str) -> None:
        self.options, self.key = options, key
        self.asked = 0
        self.cached: set[str] = set()

    @classmethod
    def main(cls) -> None:
        """Be a program: take llama-server's arguments, and serve until killed."""
        words = sys.argv[1:]
        pairs = zip(words, [*words[1:], ""], strict=True)
        options = {word[2:]: value for word, value in pairs if word.startswith("--")}
        cls(options, os.environ["LLAMA_API_KEY"]).start()
        threading.Event().wait()

    def start(self) -> None:
        """Load, listen, and let a thread serve."""
        note(event="start")
        say(LOG.format(**self.options))
        self.load()
        server = socket.create_server(("127.0.0.1", int(self.options["port"])))
        threading.Thread(target=self.accept, args=(server,), daemon=True).start()

    def accept(self, server: socket.socket) -> None:
        """Serve each connection in a thread of its own."""
        while True:
            connection, _ = server.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def load(self) -> None:
        """Load the model: a fault at the start goes here."""

    def health(self) -> int:
        """Return the status of `/health`."""
        return 200

    def serve(self, connection: socket.socket) -> None:
        """Read one request, answer it, and close the connection."""
        with connection, connection.makefile("rb") as stream:
            head = stream.readline().split()
            headers = {}
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                headers[name.strip().lower()] = value.strip()
            body = stream.read(int(headers.get(b"content-length", 0)))
            if not head:
                return
            path = head[1].decode()
            known = headers.get(b"authorization") == f"Bearer {self.key}".encode()
            try:
                self.route(connection, path, body, known=known)
            except OSError as error:  # the client is gone, which is for the test to judge
                note(event="unheard", path=path, error=str(error))

    def route(self, connection: socket.socket, path: str, body: bytes, *, known: bool) -> None:
        """Send what *path* asks for."""
        if path == "/health":
            send(connection, self.health(), {})
        elif not known:
            send(connection, 401, {})
        elif path == "/props":
            slots = int(self.options["parallel"])
            send(connection, 200, {"model_alias": self.options["alias"], "total_slots": slots})
        elif path in ("/tokenize", "/apply-template"):
            send(connection, 200, aside(path, json.loads(body)))
        else:
            self.asked += 1
            request = json.loads(body)
            response = self.respond(path, request)
            note(event="asked", request=request, response=response)
            self.answer(connection, request, response)

    def answer(
        self, connection: socket.socket, request: dict[str, Any], response: dict[str, Any]
    ) -> None:
        """Send a response: a fault in the middle of an answer goes here."""
        if request.get("stream"):
            event = json.dumps({**response, "stop": True}, ensure_ascii=False)
            send_raw(connection, 200, f"data: {event}\n\n".encode())
        else:
            send(connection, 200, response)

    def respond(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return what follows from the request, and from whether its prompt was seen before."""
        prompt = json.dumps(request.get("prompt") or request.get("messages"))
        warm = bool(request.get("cache_prompt")) and prompt in self.cached
        self.cached.add(prompt)
        tokens = [token(prompt, request.get("seed"), place) for place in range(ANSWER_TOKENS)]
        text = "".join(entry["token"] for entry in tokens)
        cache_n = PROMPT_TOKENS - 1 if warm else 0
        timings = {
            "cache_n": cache_n,
            "prompt_n": PROMPT_TOKENS - cache_n,
            "predicted_n": len(tokens),
            "predicted_per_second": 50.0,
        }
        if path == "/completion":
            return {
                "content": text,
                "stop_type": "limit",
                "tokens": [entry["id"] for entry in tokens],
                "completion_probabilities": tokens,
                "timings": timings,
            }
        message = {"role": "assistant", "content": text}
        choice = {"finish_reason": "length", "message": message, "logprobs": {"content": tokens}}
        return {"choices": [choice], "timings": timings}


def token(prompt: str, seed: object, place: int) -> dict[str, Any]:
    """Return one token of an answer, drawn from the request by a hash."""
    drawn = hashlib.sha256(f"{prompt} {seed} {place}".encode()).digest()
    number = drawn[0] % 16
    entry = {"id": number, "token": f" w{number}", "bytes": list(b" w%d" % number)}
    best = {**entry, "logprob": -0.5 - drawn[1] / 1000}
    return {**best, "top_logprobs": [best, {"id": 99, "token": " x", "bytes": [], "logprob": -3.0}]}


def send(connection: socket.socket, status: int, value: object) -> None:
    """Send JSON."""
    send_raw(connection, status, json.dumps(value).encode())


def send_raw(connection: socket.socket, status: int, body: bytes) -> None:
    """Send a body."""
    head = f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    connection.sendall(head.encode() + body)
