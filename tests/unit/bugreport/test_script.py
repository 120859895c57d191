"""What the script of a report does, with bash, curl and jq, against a stand-in for llama-server."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from generator.bugreport.flips import named_flip, plainest_flip
from generator.bugreport.report import bug_report
from generator.engines.ready import free_port
from generator.pin_types import UrlSource
from generator.receipt import Answered, FileRecord, Receipt, read
from tests.factory import MODEL, TokenLike, chat_response, completion_response, make_ask
from tests.project import ROOT, SHIPPED
from tests.unit.bugreport import stub_server
from tests.unit.bugreport.flipping import (
    REQUEST,
    asked,
    boot_of,
    cold_and_warm,
    model_pin,
    receipt_of,
)

BASH = shutil.which("bash") or "bash"
BYTES = b"GGUF and more"
ONE, TWO = [" a", " b", " c"], [" a", " b", " d"]


@dataclass(frozen=True)
class Bench:
    """A folder with a model's file and a program that is llama-server to the script."""

    folder: Path

    @property
    def model(self) -> Path:
        return self.folder / "the model.gguf"

    def answers(self, **by_width: Sequence[Mapping[str, Any] | None]) -> None:
        """Set what servers answer, by their `--ubatch-size`, as in `w512=[…]`."""
        widths = {width.removeprefix("w"): list(given) for width, given in by_width.items()}
        (self.folder / "answers.json").write_text(json.dumps(widths))

    def recorded(self, receipt: Receipt) -> None:
        """Let servers answer as they did in *receipt*."""
        given: dict[str, list[dict[str, Any]]] = {}
        for boot in receipt.boots:
            for ask in boot.asks:
                assert isinstance(ask.outcome, Answered)
                width = f"w{boot.settings['n_ubatch']}"
                given.setdefault(width, []).append(ask.outcome.response)
        self.answers(**given)

    def begun(self, script: str, **environment: str) -> subprocess.Popen[str]:
        """Start a script in a process group of its own."""
        (self.folder / "repro.sh").write_text(script)
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        return subprocess.Popen(
            [BASH, "repro.sh"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={
                "PATH": os.environ["PATH"],
                "TMPDIR": str(temporary),
                "LLAMA_SERVER": str(self.folder / "llama-server"),
                "MODEL": str(self.model),
                "PORT": str(free_port()),
                **environment,
            },
        )

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script and see that it leaves nothing behind."""
        with self.begun(script, **environment) as process:
            out, err = process.communicate(timeout=60)
        self.left_nothing()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def left_nothing(self) -> None:
        """See that no file and no server is left."""
        assert list((self.folder / "tmp").iterdir()) == []
        assert not any(psutil.pid_exists(start["pid"]) for start in self.starts())

    def heard(self) -> list[dict[str, Any]]:
        path = self.folder / "heard.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def starts(self) -> list[dict[str, Any]]:
        return [thing for thing in self.heard() if "pid" in thing]

    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(thing["body"]) for thing in self.heard() if "body" in thing]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    program = tmp_path / "llama-server"
    command = shlex.join([sys.executable, "-I", stub_server.__file__, str(tmp_path)])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    made = Bench(tmp_path)
    made.model.write_bytes(BYTES)
    return made


def known(receipt: Receipt) -> Receipt:
    """Return *receipt* as if measured with the bench's model."""
    sha256 = hashlib.sha256(BYTES).hexdigest()
    model = receipt.models[MODEL].model_copy(update={"sha256": sha256})
    return receipt.model_copy(update={"models": {MODEL: model}})


def script_of(receipt: Receipt, *named: str) -> str:
    receipt = known(receipt)
    flip = named_flip(receipt, "x", *named) if named else plainest_flip(receipt, "x")
    return bug_report([SHIPPED], receipt, "f" * 64, flip, None).script


def answered(*tokens: TokenLike) -> dict[str, Any]:
    return completion_response(tokens)


@pytest.mark.parametrize(
    "name",
    [
        "who-moved-the-token/suspects",
        "why-outputs-differ/last-token",
        "known-measurements/eight-slots",
        "known-measurements/regenerate",
    ],
)
def test_shellcheck_finds_nothing_in_the_script_of_a_real_receipt(name: str) -> None:
    receipt = read(ROOT / "receipts" / f"{name}.json", name=name)
    flip = plainest_flip(receipt, "f" * 64)
    script = bug_report([SHIPPED], receipt, "f" * 64, flip, None).script
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run(
        [shellcheck, "-"],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_one_server_is_asked_twice_and_the_flip_shown(bench: Bench) -> None:
    receipt = cold_and_warm()
    bench.recorded(receipt)
    done = bench.run(script_of(receipt))
    assert (done.returncode, done.stdout) == (0, 'FLIP at token 1: " two" → " three"\n')
    assert done.stderr.splitlines() == [
        'llama-server is ready: build "unknown", measured was b3',
        "Asking request-1 (left)",
        "Asking request-1 (right)",
        'The receipt has: FLIP at token 1: " two" → " three"',
    ]
    assert len(bench.starts()) == 1
    assert bench.requests() == [REQUEST, REQUEST]
    arguments = bench.starts()[0]["arguments"]
    assert arguments[:4] == ["--model", str(bench.model), "--threads", "2"]


def test_everything_before_is_asked_in_order(bench: Bench) -> None:
    before = {**REQUEST, "prompt": "Before"}
    receipt = receipt_of(
        boot_of(
            asked("0", ONE, request=before), asked("1", ONE), asked("2", ONE, request=before),
            asked("3", TWO), asked("4", ONE),
        )
    )  # fmt: skip
    bench.recorded(receipt)
    done = bench.run(script_of(receipt, "main/3", "main/1"))
    assert (done.returncode, done.stdout) == (0, 'FLIP at token 2: " d" → " c"\n')
    assert bench.requests() == [before, REQUEST, before, REQUEST]


def test_two_servers_are_started_one_after_the_other(bench: Bench) -> None:
    receipt = receipt_of(
        boot_of(asked("1", ONE), name="x"), boot_of(asked("1", TWO), name="y", n_ubatch=64)
    )
    bench.recorded(receipt)
    done = bench.run(script_of(receipt))
    assert (done.returncode, done.stdout) == (0, 'FLIP at token 2: " c" → " d"\n')
    assert [start["arguments"][13] for start in bench.starts()] == ["512", "64"]
    assert ["pid" in thing for thing in bench.heard()] == [True, False, True, False]


@pytest.mark.parametrize(
    ("right", "shown"),
    [
        (TWO, 'FLIP at token 2: " c" → " d"'),
        (ONE[:1], 'FLIP at token 1: " b" → null'),
        ([*ONE, "\u202e你\x1b"], 'FLIP at token 3: null → "\\u202e\\u4f60\\u001b"'),
    ],
)
def test_what_is_seen_is_shown_whatever_the_receipt_has(
    bench: Bench, right: list[str], shown: str
) -> None:
    bench.answers(w512=[answered(*ONE), answered(*right)])
    done = bench.run(script_of(cold_and_warm()))
    assert (done.returncode, done.stdout) == (0, f"{shown}\n")
    assert 'The receipt has: FLIP at token 1: " two"' in done.stderr


def test_no_flip_has_a_code_of_its_own(bench: Bench) -> None:
    bench.answers(w512=[answered(*ONE), answered(*ONE)])
    done = bench.run(script_of(cold_and_warm()))
    assert (done.returncode, done.stdout) == (1, "no flip\n")


def test_asks_of_a_chat_are_read_too(bench: Bench) -> None:
    asks = [
        make_ask(chat_response(tokens=tokens), name=str(number)).model_copy(
            update={"request": dict(REQUEST)}
        )
        for number, tokens in enumerate([ONE, TWO])
    ]
    receipt = receipt_of(boot_of(*asks))
    bench.recorded(receipt)
    done = bench.run(script_of(receipt))
    assert (done.returncode, done.stdout) == (0, 'FLIP at token 2: " c" → " d"\n')
    assert {thing["path"] for thing in bench.heard() if "path" in thing} == {"/v1/chat/completions"}


def test_asks_that_were_sent_at_once_are_sent_at_once(bench: Bench) -> None:
    asks = [asked("1", ONE, together="all"), asked("2", ONE, together="all")]
    receipt = receipt_of(boot_of(*asks, threads=8), boot_of(asked("1", TWO), name="y", n_ubatch=64))
    bench.recorded(receipt)
    done = bench.run(script_of(receipt, "main/1", "y/1"))
    assert (done.returncode, done.stdout) == (0, 'FLIP at token 2: " c" → " d"\n')
    assert len(bench.requests()) == 3


@pytest.mark.parametrize("named", [("main/1", "y/1"), ("y/1", "main/2"), ("main/1", "main/2")])
def test_which_of_equal_requests_sent_at_once_flips_does_not_matter(
    bench: Bench, named: tuple[str, str]
) -> None:
    asks = [asked("1", ONE, together="all"), asked("2", TWO, together="all")]
    other = {"main/1": TWO, "main/2": ONE}[next(name for name in named if name != "y/1")]
    receipt = receipt_of(
        boot_of(*asks, threads=8), boot_of(asked("1", other), name="y", n_ubatch=64)
    )
    bench.recorded(receipt)
    done = bench.run(script_of(receipt, *named))
    assert (done.returncode, done.stdout[:16]) == (0, "FLIP at token 2:")


def test_requests_arrive_as_they_were_sent(bench: Bench, tmp_path: Path) -> None:
    prompt = "'; touch pwned; '\nREQUEST\n$(touch pwned) `touch pwned` \\ \" 你好 \ud800 \u2028\x00"
    request = {**REQUEST, "prompt": prompt, "big": 2**63 + 1, "small": 1e-300}
    receipt = receipt_of(
        boot_of(asked("1", ONE, request=request), asked("2", TWO, request=request), name="$(ls)")
    )
    bench.recorded(receipt)
    done = bench.run(script_of(receipt))
    assert done.returncode == 0, done.stderr
    assert bench.requests() == [request, request]
    assert not list(tmp_path.rglob("pwned"))


def test_settings_of_the_environment_do_not_reach_the_server(bench: Bench) -> None:
    receipt = cold_and_warm()
    bench.recorded(receipt)
    done = bench.run(script_of(receipt), LLAMA_ARG_THREADS="7", OMP_NUM_THREADS="7")
    assert done.returncode == 0
    assert bench.starts()[0]["environment"] == []


def test_another_file_than_the_one_measured_is_refused(bench: Bench) -> None:
    bench.model.write_bytes(b"GGUF and less")
    done = bench.run(script_of(cold_and_warm()))
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not the file measured" in done.stderr
    assert bench.heard() == []


def test_a_chat_template_is_checked_too(bench: Bench) -> None:
    receipt = receipt_of(
        boot_of(asked("1", ONE), asked("2", TWO), chat_template="think"),
        chat_templates={
            "think": FileRecord(
                name="think.jinja", bytes=3, sha256=hashlib.sha256(b"{{}").hexdigest()
            )
        },
    )
    bench.recorded(receipt)
    script = script_of(receipt)
    done = bench.run(script)
    assert done.returncode == 2
    assert "There is no file think.jinja. It is the chat template" in done.stderr
    (bench.folder / "mine.jinja").write_text("{{}")
    assert bench.run(script, TEMPLATE="mine.jinja").returncode == 0
    assert bench.starts()[0]["arguments"][-6:-4] == ["--chat-template-file", "mine.jinja"]


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"MODEL": "nowhere.gguf"}, "There is no file nowhere.gguf. Set MODEL to where it is."),
        ({"LLAMA_SERVER": "no-such-program"}, "There is no program no-such-program."),
        ({"PATH": "/no-such-folder"}, "There is no program curl."),
    ],
)
def test_what_is_missing_is_named(bench: Bench, environment: dict[str, str], told: str) -> None:
    done = bench.run(script_of(cold_and_warm()), **environment)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{told}\n")


def test_what_ends_it_early_is_never_taken_for_no_flip(bench: Bench) -> None:
    done = bench.run(script_of(cold_and_warm()), TMPDIR=str(bench.folder / "nowhere"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no folder for temporary files: set TMPDIR." in done.stderr


def test_an_interrupt_leaves_nothing_behind(bench: Bench) -> None:
    asks = [asked("1", ONE), asked("2", TWO)]
    receipt = receipt_of(boot_of(*asks, threads=8))  # which waits for company that never comes
    bench.recorded(receipt)
    with bench.begun(script_of(receipt)) as process:
        while not bench.requests():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    bench.left_nothing()


def test_a_server_that_ends_is_told_with_its_log(bench: Bench) -> None:
    receipt = receipt_of(boot_of(asked("1", ONE), asked("2", TWO), threads=9))
    done = bench.run(script_of(receipt))
    assert done.returncode == 2
    assert "this machine has no ninth thread" in done.stderr
    assert "ended before it was ready" in done.stderr


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (None, "did not answer request-1"),
        ({"content": ""}, "did not tell its tokens"),
        ("no object", "llama-server's answer to request-1 is none."),
    ],
)
def test_an_answer_that_is_none(bench: Bench, second: Any, told: str) -> None:
    bench.answers(w512=[second or answered(*ONE), second])
    done = bench.run(script_of(cold_and_warm()))
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[int]:
    """Serve a folder's files, and give the port."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
            """Say nothing."""

    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture
def files(tmp_path: Path) -> Iterator[str]:
    """Serve the model's file, and give its address."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "tiny.gguf").write_bytes(BYTES)
    with serving(served) as port:
        yield f"http://127.0.0.1:{port}"


def test_a_port_that_is_taken_is_told(bench: Bench, files: str) -> None:
    port = files.rpartition(":")[2]
    done = bench.run(script_of(cold_and_warm()), PORT=port)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Something listens on port {port} already" in done.stderr


def test_a_free_port_is_found_if_none_is_named(bench: Bench) -> None:
    receipt = cold_and_warm()
    bench.recorded(receipt)
    with ExitStack() as stack:
        with suppress(OSError):  # whoever has it already will do as well
            stack.enter_context(serving(bench.folder, 8089))
        done = bench.run(script_of(receipt), PORT="")
    assert done.returncode == 0, done.stderr
    arguments = bench.starts()[0]["arguments"]
    assert 8089 < int(arguments[arguments.index("--port") + 1]) < 8189


def test_a_model_at_an_address_is_fetched_from_the_first_that_has_it(
    bench: Bench, files: str
) -> None:
    receipt = known(cold_and_warm())
    urls = (f"{files}/nothing.gguf", f"{files}/tiny.gguf")
    pin = model_pin(
        UrlSource(type="url", urls=urls), sha256=receipt.models[MODEL].sha256, bytes=len(BYTES)
    )
    flip = plainest_flip(receipt, "x")
    script = bug_report([SHIPPED], receipt, "f" * 64, flip, pin).script
    bench.recorded(receipt)
    done = bench.run(script, MODEL="fetched.gguf")
    assert done.returncode == 0, done.stderr
    assert (bench.folder / "fetched.gguf").read_bytes() == BYTES
    assert not (bench.folder / "fetched.gguf.part").exists()
