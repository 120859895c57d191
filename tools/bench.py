"""Print our share of the wall time beside the engine's, everything taken in one run."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from generator import outcome
from generator.audit import audit
from generator.bench import Bench
from generator.client import Client
from generator.evidence import articles, declare
from generator.experiments import plan_experiment
from generator.journal import Journal
from generator.measure import measure, open_ledger
from generator.models.progress import NoProgress
from generator.models.store import Store
from generator.pins import load_pins
from generator.plan import Ask, Boot, FixedSeed, Plan
from generator.publish import pages
from generator.receipt import Answered, AskRecord, Receipt, read, receipt_path
from generator.run import run_plan, utc_now
from generator.settings import ServerSettings

ASKS = 200
STARTS = 7
ROUNDS = 3
# GCC's own default, and ours
SPIN_COUNTS = (300_000, ServerSettings().gomp_spincount)
ROOT = Path(__file__).resolve().parent.parent
PROMPT = ROOT / "receipts" / "prompts" / "feynman.txt"


class Silent:
    """A watcher that says nothing."""

    def booting(self, plan: Plan, boot: Boot) -> None:
        """Say nothing."""

    def asked(self, plan: Plan, boot: Boot, record: AskRecord, *, resumed: bool) -> None:
        """Say nothing."""


def engine_seconds(receipt: Receipt) -> float:
    """Return what the engine itself accounts for: starting, reading prompts, generating."""
    total = sum(life.ready_s for boot in receipt.boots for life in boot.lives)
    for _, ask in receipt.asks():
        if isinstance(ask.outcome, Answered):
            timings = ask.outcome.response["timings"]
            total += (timings["prompt_ms"] + timings["predicted_ms"]) / 1000
    return total


def one_by_one() -> str:
    """Return the first article whose asks are never sent together: the engine's times add up."""
    return next(
        article
        for article in articles(ROOT)
        if not any(
            ask.together
            for resolved in declare(ROOT, article).experiments.values()
            for boot in plan_experiment(resolved).boots
            for ask in boot.asks
        )
    )


def bench_run(article: str) -> None:
    """Measure *article* in a copy of the project and compare wall time with the engine's."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        shutil.copytree(
            ROOT / "receipts", root / "receipts", ignore=shutil.ignore_patterns("*.json")
        )
        bench = Bench(root, load_pins(root), Store.of_user(), NoProgress())
        declaration = declare(root, article)
        # the first pins alone: another engine may have to be built
        chosen = [one for name, one in declaration.experiments.items() if "@" not in name]
        for resolved in chosen:
            bench.prepare(plan_experiment(resolved))
        began = time.perf_counter()
        receipts = [
            measure(bench, declaration, resolved, Silent(), open_ledger(root, article))
            for resolved in chosen
        ]
        wall = time.perf_counter() - began
    engine = sum(engine_seconds(receipt) for receipt in receipts)
    print(
        f"run {article}: wall {wall:.2f} s, engine {engine:.2f} s "
        f"({100 * engine / wall:.1f} %), ours {wall - engine:.2f} s"
    )


class _Instant(BaseHTTPRequestHandler):
    """Answers at once with a response of ordinary size."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    body = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@dataclass
class _Server:
    base_url: str
    api_key: str = "none"
    ready_s: float = 0.0
    effective: Any = None
    mismatches: tuple[Any, ...] = ()
    props: Any = None

    def __post_init__(self) -> None:
        self.effective, self.props = {}, {}

    def death(self) -> str | None:
        return None

    def peak_memory_bytes(self) -> int | None:
        return None


@contextmanager
def instant_server(response: dict[str, Any]) -> Iterator[_Server]:
    """Serve *response* to every request, at once."""
    handler = type("Handler", (_Instant,), {"body": json.dumps(response).encode()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield _Server(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()


def bench_ask(receipt: Receipt) -> None:
    """Compare our time for an ask, journal included, with a bare httpx loop."""
    _, record = next(receipt.asks())
    if not isinstance(record.outcome, Answered):
        raise TypeError("the first ask of the receipt failed: measure again")
    body = {key: value for key, value in record.request.items() if key != "seed"}
    asks = tuple(
        Ask(str(index), record.endpoint, body, FixedSeed(42), "cold") for index in range(ASKS)
    )
    plan = Plan("bench", "bench", "bench", (Boot("main", "e", "m", ServerSettings(), asks),))
    with (
        instant_server(record.outcome.response) as server,
        tempfile.TemporaryDirectory() as scratch,
        Journal(Path(scratch, "journal"), {}, utc_now()) as journal,
    ):

        @contextmanager
        def launch(_boot: Boot) -> Iterator[Any]:
            yield server

        content = json.dumps(body)
        with httpx.Client(trust_env=False) as http:
            began = time.perf_counter()
            for _ in range(ASKS):
                http.post(f"{server.base_url}/completion", content=content).json()
            bare = (time.perf_counter() - began) / ASKS
        began = time.perf_counter()
        run_plan(plan, launch, journal, Silent(), lambda _boot, _ask: 60.0)
        ours = (time.perf_counter() - began) / ASKS
    print(
        f"ask: ours {1000 * ours:.2f} ms, bare httpx {1000 * bare:.2f} ms, "
        f"difference {1000 * (ours - bare):.2f} ms (target: at most 2 ms)"
    )


def bench_start() -> None:
    """Time the start of the program."""
    times = []
    for _ in range(STARTS):
        began = time.perf_counter()
        command = [sys.executable, "-m", "generator", "--help"]
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    print(f"start: receipts --help, median of {STARTS}: {statistics.median(times):.3f} s")


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one CPU busy meanwhile."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def tokens_per_second(bench: Bench, settings: ServerSettings) -> float:
    """Ask the embedded engine for a few tokens, and return how many it writes in a second."""
    body = {"prompt": PROMPT.read_text("utf-8"), "n_predict": 8, "temperature": 0, "seed": 42}
    engine, model = next(iter(bench.engines)), next(iter(bench.models))
    asks = (Ask("0", "completion", body, FixedSeed(42), "cold"),)
    boot = Boot("main", engine, model, settings, asks)
    with bench.launch(boot) as server, Client(server) as client:
        answer = client.ask("completion", body, 120.0)
    if not isinstance(answer, outcome.Answered):
        raise SystemExit(f"not answered: {answer}")
    return float(answer.response["timings"]["predicted_per_second"])


def bench_neighbour(article: str) -> None:
    """Compare the engine's speed beside one busy neighbour with that without, by spin count."""
    bench = Bench(ROOT, load_pins(ROOT), Store.of_user(), NoProgress())
    bench.prepare(plan_experiment(next(iter(declare(ROOT, article).experiments.values()))))
    for count in SPIN_COUNTS:
        settings = ServerSettings(gomp_spincount=count)
        rounds = []
        for _ in range(ROUNDS):
            quiet = tokens_per_second(bench, settings)
            with busy_neighbour():
                rounds.append((quiet, tokens_per_second(bench, settings)))
        quiet, busy = (statistics.median(speeds) for speeds in zip(*rounds, strict=True))
        print(
            f"gomp_spincount {count:,}: {quiet:.1f} tok/s, beside a busy neighbour {busy:.1f} "
            f"({100 * busy / quiet:.0f} %)"
        )


def bench_offline(article: str) -> None:
    """Time the audit and the rendering of *article*."""
    templates = [ROOT / "templates"]
    for name, work in (
        ("audit", lambda: audit(ROOT, templates, [article])),
        ("render", lambda: pages(ROOT, templates, [article])),
    ):
        began = time.perf_counter()
        work()
        print(f"{name} {article}: {time.perf_counter() - began:.2f} s")


def main() -> None:
    """Run every part of the bench."""
    article = one_by_one()
    bench_start()
    name = next(iter(declare(ROOT, article).experiments))
    bench_ask(read(receipt_path(ROOT, article, name), name=name))
    bench_offline(article)
    bench_run(article)
    bench_neighbour(article)


if __name__ == "__main__":
    main()
