"""Tests of progress where there is no terminal: plain lines on stderr, nothing on stdout."""

from __future__ import annotations

import pytest

from generator.cli.progress import Reporter
from generator.plan import Boot, Plan
from generator.settings import ServerSettings
from tests.factory import completion_response, make_ask

BOOT = Boot("main", "an-engine", "a-model", ServerSettings(), ())
PLAN = Plan("some-article", "some-experiment", "repeat", (BOOT,))


def test_asks_are_counted_and_failures_named(capsys: pytest.CaptureFixture[str]) -> None:
    with Reporter(asks=3) as reporter:
        reporter.booting(PLAN, BOOT)
        answered = make_ask(completion_response(tokens_per_second=12.34))
        reporter.asked(PLAN, BOOT, answered, resumed=False)
        reporter.asked(PLAN, BOOT, make_ask(None, name="2", failure="reset"), resumed=False)
        reporter.asked(PLAN, BOOT, make_ask(completion_response(), name="3"), resumed=True)
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert lines[0].startswith("[1/3] some-experiment · main · ask 1 · 12.3 tok/s · about ")
    assert "ask 2 · FAILED (reset): " in lines[1]
    assert lines[2] == "[3/3] some-experiment · main · ask 3 · already answered"


def test_fetches_are_announced_with_their_size(capsys: pytest.CaptureFixture[str]) -> None:
    with Reporter() as reporter:
        reporter.start("a-model", 3 << 20)
        reporter.advance(1 << 20)
        reporter.done()
        reporter.start("something of unknown size", 0)
    assert capsys.readouterr().err == "a-model: 3.0 MiB\nsomething of unknown size\n"
