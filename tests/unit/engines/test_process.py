"""The process that is a server: whether it is about to end, and what is told of its end."""

from __future__ import annotations

import sys

import pytest

from generator.engines.process import ROW_WIDTH, TAIL_ROWS, ServerProcess, describe
from generator.errors import EngineError


def process(code: str, **environment: str) -> ServerProcess:
    command = [sys.executable, "-c", code]
    return ServerProcess(command, b"order\n", environment=environment)


def test_an_end_is_waited_for() -> None:
    ending = process("input(); import os, time; os.close(1); os.close(2); time.sleep(0.1)")
    try:
        assert ending.ends_within(20.0)
        assert ending.ends_within(0.0)
        assert ending.death() == "ended by itself with exit code 0"
    finally:
        ending.stop()


def test_a_process_that_goes_on_is_not_waited_for_longer() -> None:
    going_on = process("input(); import time; time.sleep(60)")
    try:
        assert not going_on.ends_within(0.05)
        assert going_on.death() is None
    finally:
        going_on.stop()
    assert going_on.ends_within(0.0)


def said(code: str, **environment: str) -> list[str]:
    speaking = process(f"input(); {code}", **environment)
    try:
        assert speaking.ends_within(20.0)
        return speaking.log_tail()
    finally:
        speaking.stop()


@pytest.mark.parametrize("width", [1, ROW_WIDTH, ROW_WIDTH + 1, 500])
def test_the_end_of_a_log_fits_on_a_screen(width: int) -> None:
    lines = said(f"[print(str(n).rjust({width}, '.')) for n in range(100)]")
    assert 0 < sum(-(-len(line) // ROW_WIDTH) for line in lines) <= TAIL_ROWS
    assert len(lines) == TAIL_ROWS // min(3, -(-width // ROW_WIDTH))
    assert width > 3 * ROW_WIDTH or lines[-1].endswith("99")


def test_the_environment_is_what_was_given_and_nothing_of_the_users_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "GGML_SEED", "LLAMA_ARG_THREADS"):
        monkeypatch.setenv(name, "99")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    named = [
        "LC_ALL",
        "GOMP_SPINCOUNT",
        "OMP_WAIT_POLICY",
        "GGML_SEED",
        "LLAMA_ARG_THREADS",
        "PATH",
    ]
    code = f"import os; print([os.environ.get(name) for name in {named}])"
    assert said(code, GOMP_SPINCOUNT="7") == ["['C.UTF-8', '7', None, None, None, '/usr/bin:/bin']"]


def test_what_cannot_be_seen_is_not_in_the_end_of_a_log() -> None:
    assert said(r"print('a\x1b[2Jb\u202ec')") == ["a [2Jb c"]


@pytest.mark.parametrize(
    ("code", "log", "words"),
    [
        (-6, "x.c:1: GGML_ASSERT(n > 0) failed\n", "internal error: GGML_ASSERT(n > 0) failed"),
        (-6, "terminate called after throwing 'std::x'\n", "terminate called after throwing"),
        (-6, "std::bad_alloc", "internal error: there was not enough memory"),
        (-11, "", "died of SIGSEGV: it read memory that is not its own"),
        (-63, "", "died of signal 63"),
        (3, "0.1 E srv  x: no such thing\n", "ended by itself with exit code 3: no such thing"),
    ],
)
def test_an_end_is_told_in_words(code: int, log: str, words: str) -> None:
    assert words in describe(code, log)


def test_a_process_that_cannot_be_killed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    going_on = process("input(); import time; time.sleep(60)")
    with monkeypatch.context() as patch:
        patch.setattr("generator.engines.process.os.killpg", lambda *_: None)
        patch.setattr("generator.engines.process.STOP_TIMEOUT_S", 0.05)
        with pytest.raises(EngineError, match=f"process {going_on.pid} was killed and does not"):
            going_on.stop()
    going_on.stop()
    assert going_on.death() == "was stopped"
