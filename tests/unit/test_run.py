"""A run asks what was planned, once, and keeps every outcome, however often it is killed."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.errors import EngineError
from generator.journal import Journal, whole_events
from generator.plan import (
    Ask,
    Boot,
    Cache,
    Derived,
    DrawnSeed,
    EngineSeed,
    FixedSeed,
    Plan,
    Seed,
)
from generator.receipt import Answered, AskRecord, BootRecord, Failed
from generator.run import draw_seed, run_plan, utc_now
from generator.settings import RANDOM_SEEDS, ServerSettings
from tests.factory import completion_response
from tests.unit.launching import FakeEngine, KillError, Watching

BODY = {"prompt": "Hello", "n_predict": 4}
KEY = {"plan": "some plan"}
STARTED = "2026-01-02T03:04:05.000Z"
LATER = "2026-01-03T00:00:00.000Z"


def _boot(name: str, caches: list[Cache], seed: Seed | None = None) -> Boot:
    asks = tuple(
        Ask(str(number), "completion", BODY, seed or DrawnSeed(), cache)
        for number, cache in enumerate(caches, start=1)
    )
    return Boot(name, "some-engine", "some-model", ServerSettings(), asks)


def _limit(_boot: Boot, _ask: Ask) -> float:
    return 60.0


def _plan(*boots: Boot) -> Plan:
    return Plan("some-article", "some-experiment", "repeat", boots)


DIVISIBLE = _boot("cold", ["cold", "cold", "cold"])
INDIVISIBLE = _boot("warm", ["cold", "warm", "warm"])
BOTH = _plan(DIVISIBLE, INDIVISIBLE)


def _run(
    path: Path,
    plan: Plan,
    engine: FakeEngine | None = None,
    watcher: Watching | None = None,
    key: dict[str, Any] | None = None,
    *,
    started: str = STARTED,
) -> Journal:
    with Journal(path, key or KEY, started) as journal:
        run_plan(plan, (engine or FakeEngine()).launch, journal, watcher or Watching(), _limit)
    return journal


def _asks(journal: Journal, boot: str) -> list[AskRecord]:
    return journal.boots[boot].whole().asks


def _text(ask: AskRecord) -> str:
    assert isinstance(ask.outcome, Answered)
    return str(ask.outcome.response["content"])


def _seeds(boot: BootRecord) -> dict[str, Any]:
    return {ask.name: ask.request.get("seed") for ask in boot.asks}


# --- one run, not killed


def test_every_ask_is_a_request_of_its_own(tmp_path: Path) -> None:
    engine = FakeEngine()
    plan = _plan(_boot("main", ["cold"] * 5, EngineSeed()))
    asks = _asks(_run(tmp_path / "j", plan, engine), "main")
    assert engine.requests == [BODY] * 5
    assert [_text(ask) for ask in asks] == [f"answer {number}" for number in range(1, 6)]
    digests = {ask.outcome.raw_sha256 for ask in asks if isinstance(ask.outcome, Answered)}
    assert len(digests) == 5
    assert not any(ask.replayable for ask in asks)


def test_a_fixed_seed_is_sent_with_every_ask(tmp_path: Path) -> None:
    engine = FakeEngine()
    _run(tmp_path / "j", _plan(_boot("main", ["cold"] * 3, FixedSeed(7))), engine)
    assert engine.requests == [{**BODY, "seed": 7}] * 3


def test_drawn_seeds_are_sent_and_recorded(tmp_path: Path) -> None:
    engine = FakeEngine()
    asks = _asks(_run(tmp_path / "j", _plan(DIVISIBLE), engine), "cold")
    assert [ask.request for ask in asks] == engine.requests
    assert len({ask.request["seed"] for ask in asks}) == 3
    assert {ask.seed for ask in asks} == {"drawn"}


def test_no_drawn_seed_means_random_to_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    rolls = iter([2**32 - 1, 2**32 - 1, 5])
    monkeypatch.setattr("generator.run.secrets.randbits", lambda _bits: next(rolls))
    assert draw_seed() == 5
    assert 2**32 - 1 in RANDOM_SEEDS


def test_a_boot_is_recorded_with_what_it_was(tmp_path: Path) -> None:
    record = _run(tmp_path / "j", BOTH).boots["warm"].whole()
    assert record.settings == ServerSettings().model_dump(mode="json")
    assert record.props == {"total_slots": 1}
    assert record.command_line[:3] == ["llama-server", "--model", "some-model"]
    (life,) = record.lives
    assert (life.ready_s, life.peak_memory_bytes) == (0.25, 1_000_000)
    assert life.load_after is not None


def test_the_watcher_is_told_of_every_step(tmp_path: Path) -> None:
    watcher = Watching()
    _run(tmp_path / "j", BOTH, watcher=watcher)
    assert watcher.booted == ["cold", "warm"]
    assert watcher.asked_ == [(b, n, False) for b in ("cold", "warm") for n in ("1", "2", "3")]


def test_times_are_written_as_receipts_do() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", utc_now())


# --- failures are outcomes


def test_a_failed_ask_is_recorded_and_the_others_are_asked(tmp_path: Path) -> None:
    engine = FakeEngine(lambda count, _: 500 if count == 2 else completion_response())
    asks = _asks(_run(tmp_path / "j", _plan(DIVISIBLE), engine), "cold")
    failed = asks[1].outcome
    assert [type(ask.outcome) for ask in asks] == [Answered, Failed, Answered]
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.http_status, failed.body) == ("http_status", 500, "{}")
    assert len(engine.requests) == 3


def test_when_the_server_dies_the_rest_is_recorded_as_failed(tmp_path: Path) -> None:
    engine = FakeEngine(lambda count, _: completion_response() if count == 1 else None)
    journal = _run(tmp_path / "j", _plan(INDIVISIBLE), engine)
    asks = _asks(journal, "warm")
    assert len(engine.requests) == 2
    outcomes = [ask.outcome for ask in asks]
    assert isinstance(outcomes[0], Answered)
    assert [o.kind for o in outcomes[1:] if isinstance(o, Failed)] == ["died", "died"]
    assert isinstance(outcomes[2], Failed)
    assert outcomes[2].message == "not asked: the server was killed by SIGKILL"
    assert journal.boots["warm"].ended


def test_a_server_that_does_not_answer_in_time_is_stopped(tmp_path: Path) -> None:
    late = threading.Event()

    def reply(count: int, _request: dict[str, Any]) -> dict[str, Any]:
        if count > 1:
            late.wait(5)
        return completion_response()

    engine = FakeEngine(reply)
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        limits = {"1": 5.0, "2": 0.1, "3": 5.0}
        launch = engine.launch
        run_plan(_plan(DIVISIBLE), launch, journal, Watching(), lambda _, ask: limits[ask.name])
        late.set()
    asks = _asks(journal, "cold")
    outcomes = [ask.outcome for ask in asks]
    assert [o.kind for o in outcomes if isinstance(o, Failed)] == ["timeout", "died"]
    assert isinstance(outcomes[2], Failed)
    assert outcomes[2].message == "not asked: the server was stopped"
    assert asks[0].request in engine.requests
    assert asks[2].request not in engine.requests


def test_failures_are_not_asked_again_by_the_next_run(tmp_path: Path) -> None:
    _run(tmp_path / "j", _plan(DIVISIBLE), FakeEngine(lambda _count, _request: 500))
    again = FakeEngine()
    asks = _asks(_run(tmp_path / "j", _plan(DIVISIBLE), again), "cold")
    assert again.lives == []
    assert all(isinstance(ask.outcome, Failed) for ask in asks)


def test_an_engine_that_does_not_start_ends_the_run_and_keeps_the_journal(tmp_path: Path) -> None:
    def broken(boot: Boot) -> Any:
        if boot.name == "warm":
            raise EngineError("It did not start.", "Look at its log.")
        return engine.launch(boot)

    engine = FakeEngine()
    with Journal(tmp_path / "j", KEY, STARTED) as journal, pytest.raises(EngineError):
        run_plan(BOTH, broken, journal, Watching(), _limit)
    assert len(engine.requests) == 3
    watcher = Watching()
    _run(tmp_path / "j", BOTH, engine, watcher)
    assert len(engine.requests) == 6
    assert watcher.asked_[:3] == [("cold", name, True) for name in ("1", "2", "3")]


# --- killed and gone on with


def _sound(journal: Journal, seeds: dict[tuple[str, str], int]) -> None:
    """Check what must be so of any run, however often it was killed."""
    assert [ask.name for ask in _asks(journal, "cold")] == ["1", "2", "3"]
    assert [ask.name for ask in _asks(journal, "warm")] == ["1", "2", "3"]
    assert all(state.ended for state in journal.boots.values())
    whole = journal.boots["warm"].whole()
    assert len(whole.lives) == 1  # cold and warm never mix: one life has all three
    assert [ask.cache for ask in whole.asks] == ["cold", "warm", "warm"]
    assert all(life.load_after is not None for life in journal.boots["cold"].lives[-1:])
    for boot in (*journal.interrupted, *(s.whole() for s in journal.boots.values())):
        for ask in boot.asks:
            assert ask.request["seed"] == seeds.setdefault(
                (boot.name, ask.name), ask.request["seed"]
            )
    assert {boot.name for boot in journal.interrupted} <= {"warm"}


@pytest.mark.parametrize("kill_at", range(1, 9))
def test_a_run_killed_at_any_step_is_gone_on_with(tmp_path: Path, kill_at: int) -> None:
    engine, path = FakeEngine(), tmp_path / "j"
    with pytest.raises(KillError):
        _run(path, BOTH, engine, Watching(kill_at))
    before = len(engine.requests)
    journal = _run(path, BOTH, engine)
    _sound(journal, {})
    lost = sum(len(boot.asks) for boot in journal.interrupted)
    assert len(engine.requests) == 6 + lost
    # step 1 is the first boot, 2 to 4 its asks, 5 the second boot, 6 to 8 its asks
    assert lost == max(0, kill_at - 5)
    assert before == kill_at - 1 - (kill_at >= 5)


def test_a_run_may_be_killed_again_and_again(tmp_path: Path) -> None:
    engine, path, seeds = FakeEngine(), tmp_path / "j", dict[tuple[str, str], int]()
    for _ in range(3):
        with pytest.raises(KillError):
            _run(path, _plan(INDIVISIBLE, DIVISIBLE), engine, Watching(3))
    journal = _run(path, _plan(INDIVISIBLE, DIVISIBLE), engine)
    _sound(journal, seeds)
    assert [len(boot.asks) for boot in journal.interrupted] == [2, 2, 2]
    assert len(engine.requests) == 6 + 6


def _finished(tmp_path: Path, plan: Plan = BOTH) -> bytes:
    path = tmp_path / "whole"
    _run(path, plan)
    return path.read_bytes()


def test_a_journal_cut_off_at_any_byte_keeps_its_whole_events(tmp_path: Path) -> None:
    data, path = _finished(tmp_path, _plan(_boot("cold", ["cold"]))), tmp_path / "cut"
    whole = [json.loads(line) for line in data.splitlines()]
    assert [event["event"] for event in whole] == [
        *("run", "life", "drawn", "prompt", "asked", "ended")
    ]
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        assert whole_events(path) == whole[: data.count(b"\n", 0, cut)]
        assert path.read_bytes() == data[: data.rfind(b"\n", 0, cut) + 1]


def test_a_journal_cut_off_in_or_after_any_event_is_gone_on_with(tmp_path: Path) -> None:
    data, path = _finished(tmp_path), tmp_path / "cut"
    whole = [json.loads(line) for line in data.splitlines()]
    ends = [index + 1 for index, byte in enumerate(data) if byte == ord("\n")]
    for number, end in enumerate(ends, start=1):
        path.write_bytes(data[:end])
        _check_resumed(path, whole[:number])
        path.write_bytes(data[: end - 30])
        _check_resumed(path, whole[: number - 1])


def _check_resumed(path: Path, events: list[dict[str, Any]]) -> None:
    """Run on from *events* and compare what was asked with what was still open."""
    asked = [
        (event["boot"], event["record"]["name"]) for event in events if event["event"] == "asked"
    ]
    seeds = {(e["boot"], e["ask"]): e["seed"] for e in events if e["event"] == "drawn"}
    ended = {event["boot"] for event in events if event["event"] == "ended"}
    warm = [name for boot, name in asked if boot == "warm"]
    engine = FakeEngine()
    journal = _run(path, BOTH, engine, started=LATER)
    _sound(journal, seeds)
    lost = len(warm) if "warm" not in ended else 0
    again = 3 - len([boot for boot, _ in asked if boot == "cold"])
    assert len(engine.requests) == again + (0 if "warm" in ended else 3)
    assert sum(len(boot.asks) for boot in journal.interrupted) == lost
    for boot in journal.interrupted:
        assert [ask.name for ask in boot.asks] == warm
    assert journal.started == (STARTED if events else LATER)


def test_what_was_answered_before_a_kill_is_kept_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with pytest.raises(KillError):
        _run(path, _plan(DIVISIBLE), watcher=Watching(3))
    before = path.read_bytes()
    journal = _run(path, _plan(DIVISIBLE))
    assert path.read_bytes().startswith(before)
    assert len(journal.boots["cold"].lives) == 2
    watcher = Watching()
    _run(path, _plan(DIVISIBLE), watcher=watcher)
    assert watcher.asked_ == [("cold", name, True) for name in ("1", "2", "3")]
    assert watcher.booted == []


@pytest.mark.parametrize("change", ["another plan", None])
def test_the_journal_of_another_run_is_not_gone_on_with(tmp_path: Path, change: str | None) -> None:
    engine, path = FakeEngine(), tmp_path / "j"
    with pytest.raises(KillError):
        _run(path, BOTH, engine, Watching(4))
    journal = _run(path, BOTH, engine, key={"plan": change})
    assert len(engine.requests) == 3 + 6
    assert journal.interrupted == []


SPOIL: dict[str, Callable[[bytes], bytes]] = {
    "no-json": lambda line: line[:-1],
    "another-event-shape": lambda _: b'{"event":"asked","boot":"main"}',
    "unknown-boot": lambda line: line.replace(b'"boot":"cold"', b'"boot":"gone"'),
    "unknown-field": lambda line: line.replace(b'"cache":', b'"unheard_of":1,"cache":'),
    "no-object": lambda _: b"[]",
    "a-number": lambda _: b"7",
}


@pytest.mark.parametrize("fault", SPOIL)
def test_a_damaged_journal_is_begun_anew(tmp_path: Path, fault: str) -> None:
    path, engine = tmp_path / "j", FakeEngine()
    lines = _finished(tmp_path).splitlines()
    index = next(i for i, line in enumerate(lines) if b'"event":"asked"' in line)
    lines[index] = SPOIL[fault](lines[index])
    path.write_bytes(b"\n".join(lines) + b"\n")
    journal = _run(path, BOTH, engine)
    assert len(engine.requests) == 6
    _sound(journal, {})


def test_a_boot_without_an_answer_leaves_nothing_behind(tmp_path: Path) -> None:
    path, plan = tmp_path / "j", _plan(INDIVISIBLE)
    with pytest.raises(KillError):
        _run(path, plan, watcher=Watching(1))
    assert _run(path, plan).interrupted == []


def test_settings_that_differ_are_recorded(tmp_path: Path) -> None:
    plan = _plan(replace(DIVISIBLE, server=ServerSettings(n_ctx=512)))
    record = _run(tmp_path / "j", plan).boots["cold"].whole()
    assert (record.settings["n_ctx"], record.effective["n_ctx"]) == (512, 4096)


# --- asks sent together, and settings that follow from another boot


def test_asks_of_one_word_are_sent_at_once_and_noted_in_order(tmp_path: Path) -> None:
    gate = threading.Barrier(3, timeout=20)

    def reply(_count: int, request: dict[str, Any]) -> dict[str, Any]:
        gate.wait()  # only if all three are here at the same time does anybody answer
        return completion_response([str(request["prompt"])])

    asks = tuple(
        Ask(name, "completion", {"prompt": name}, FixedSeed(1), "any", "crowd") for name in "abc"
    )
    boot = Boot("main", "some-engine", "some-model", ServerSettings(), asks)
    records = _asks(_run(tmp_path / "j", _plan(boot), FakeEngine(reply)), "main")
    assert [(ask.name, _text(ask), ask.together) for ask in records] == [
        (name, name, "crowd") for name in "abc"
    ]
    assert not boot.divisible
    assert [len(group) for group in boot.groups] == [3]


def test_neighbours_of_another_word_are_not_sent_with_them() -> None:
    words = [None, "x", "x", "y", None, "x"]
    asks = tuple(
        Ask(str(i), "completion", BODY, FixedSeed(1), "any", word) for i, word in enumerate(words)
    )
    groups = Boot("main", "e", "m", ServerSettings(), asks).groups
    assert [[ask.together for ask in group] for group in groups] == [
        [None],
        ["x", "x"],
        ["y"],
        [None],
        ["x"],
    ]


@pytest.mark.parametrize(("offset", "width"), [(-1, 411), (-411, 1), (-900, 1), (3, 415)])
def test_a_derived_setting_follows_from_what_an_earlier_boot_evaluated(
    tmp_path: Path, offset: int, width: int
) -> None:
    first = _boot("first", ["cold"])
    derived = replace(
        _boot("second", ["cold"]), derived=(Derived("n_ubatch", "first", "1", offset),)
    )
    engine = FakeEngine(lambda *_: completion_response(["a"], prompt_n=412))
    journal = _run(tmp_path / "j", _plan(first, derived), engine)
    assert journal.boots["second"].whole().settings["n_ubatch"] == width
    assert journal.boots["first"].whole().settings["n_ubatch"] == 512


def test_what_cannot_be_derived_is_a_failed_ask_with_its_reason(tmp_path: Path) -> None:
    first = _boot("first", ["cold"])
    derived = replace(_boot("second", ["cold"]), derived=(Derived("n_ubatch", "first", "1", -1),))
    engine = FakeEngine(lambda *_: 500)
    journal = _run(tmp_path / "j", _plan(first, derived), engine)
    (ask,) = _asks(journal, "second")
    assert isinstance(ask.outcome, Failed)
    assert (ask.outcome.kind, len(engine.requests)) == ("underived", 1)
    assert "first/1" in ask.outcome.message


def test_one_ask_of_a_group_that_is_late_stops_the_server(tmp_path: Path) -> None:
    late = threading.Event()

    def reply(_count: int, request: dict[str, Any]) -> dict[str, Any]:
        if request["prompt"] == "b":
            late.wait(5)
        return completion_response()

    group = tuple(
        Ask(name, "completion", {"prompt": name}, FixedSeed(1), "any", "crowd") for name in "abc"
    )
    after = Ask("after", "completion", {"prompt": "d"}, FixedSeed(1), "any")
    boot = Boot("main", "some-engine", "some-model", ServerSettings(), (*group, after))
    engine = FakeEngine(reply)
    with Journal(tmp_path / "j", KEY, STARTED) as journal:
        run_plan(
            _plan(boot),
            engine.launch,
            journal,
            Watching(),
            lambda _, ask: 0.2 if ask.name == "b" else 5.0,
        )
        late.set()
    outcomes = {ask.name: ask.outcome for ask in _asks(journal, "main")}
    assert [outcomes[name].status for name in "abc"] == ["answered", "failed", "answered"]
    assert {name: o.kind for name, o in outcomes.items() if isinstance(o, Failed)} == {
        "b": "timeout",
        "after": "died",
    }
    assert len(engine.requests) == 3
