"""Tests of progress where there is no terminal: plain lines on stderr, nothing on stdout."""

from __future__ import annotations

import pytest

from generator.cli.progress import Pace, Reporter
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
        reporter.start("another", 3 << 20, 2 << 20)
        reporter.start("something of unknown size", 0)
    assert capsys.readouterr().err.splitlines() == [
        "a-model: 3.0 MiB",
        "another: 3.0 MiB, 2.0 MiB are there",
        "something of unknown size",
    ]


def test_long_fetches_tell_rate_and_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 101.0, 104.0, 105.0])
    with Reporter() as reporter:
        monkeypatch.setattr("time.monotonic", lambda: next(clock))
        reporter.start("a-model", 50 << 20, 20 << 20)
        reporter.advance(2 << 20)
        reporter.advance(6 << 20)
        reporter.advance(1 << 20)
    assert capsys.readouterr().err.splitlines()[1:] == [
        "a-model: 28.0 of 50.0 MiB, 2.0 MiB/s, about 11 s left"
    ]


def test_builds_tell_each_tenth_of_their_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, *(101.0 + second for second in range(40))])
    with Reporter() as reporter:
        monkeypatch.setattr("time.monotonic", lambda: next(clock))
        reporter.start_steps("an-engine: compiling", 40)
        for _ in range(40):
            reporter.advance(1)
        reporter.done()
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "an-engine: compiling: 40 steps",
        "an-engine: compiling: 4 of 40 steps, about 36 s left",
    ]
    assert lines[-1] == "an-engine: compiling: 40 of 40 steps"
    assert len(lines) == 11


def test_pace_of_what_begins_anew_counts_from_there() -> None:
    pace = Pace(30 << 20, 20 << 20, now=0)
    pace.advance(-20 << 20, now=10)
    assert (pace.told(10), pace.left(10)) == ("0.0 of 30.0 MiB", "")
    pace.advance(10 << 20, now=15)
    assert pace.told(15) + pace.left(15) == "10.0 of 30.0 MiB, 2.0 MiB/s, about 10 s left"
    pace.advance(20 << 20, now=25)
    assert pace.told(25) + pace.left(25) == "30.0 of 30.0 MiB, 2.0 MiB/s"
    unknown = Pace(0, 0, now=0)
    unknown.advance(4 << 20, now=2)
    assert unknown.told(2) + unknown.left(2) == "4.0 MiB, 2.0 MiB/s"


def test_the_time_left_of_a_run_is_that_of_the_asks_that_are_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 104.0, 112.0, 115.0])
    with Reporter(asks=4) as reporter:
        monkeypatch.setattr("time.monotonic", lambda: next(clock))
        reporter.booting(PLAN, BOOT)
        for name in "1234":
            reporter.asked(PLAN, BOOT, make_ask(completion_response(), name=name), resumed=False)
    ends = [line.rpartition(" · ")[2] for line in capsys.readouterr().err.splitlines()]
    assert ends[:3] == ["about 12 s left", "about 12 s left", "about 5 s left"]
    assert ends[3].endswith("tok/s")
