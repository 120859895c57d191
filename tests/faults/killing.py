"""Killing runs: the driver's other end, and what a killed run has left, read by other means."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generator.receipt import read
from tests.faults.stage import CODE, Stage, until

KILLED_AGAIN = 0.25
Key = tuple[str, str, str]


class Driver:
    """The process that forks runs of a stage's project (see `driver`)."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=CODE,
            env=stage.environment,
        )

    def run(self, **order: Any) -> dict[str, Any]:
        """Let one run be made, and return how it ended once nothing of it lives."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        arguments = ["--root", str(self.stage.root), "run"]
        log = self.stage.folder / "said"
        line = json.dumps({"arguments": arguments, "log": str(log), **order})
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        end: dict[str, Any] = json.loads(self.process.stdout.readline())
        until(lambda: self.stage.processes(besides=self.process.pid) == [])
        assert end["code"] in (0, -signal.SIGKILL), log.read_text(encoding="utf-8")
        return end

    def close(self) -> None:
        """End the driver."""
        self.process.communicate()


@dataclass
class Left:
    """What a killed run has left on disk.

    Attributes:
        kept: The records of asks that need not be asked again, by experiment, boot and ask.
        noted: How many outcomes are on disk, by experiment, those that are set aside included.
        lives: How many servers came to be ready, those set aside included.
        ended: How many boots are over.
        whole: Whether the run was done but for its last words.
    """

    kept: dict[Key, Any] = field(default_factory=dict)
    noted: Counter[str] = field(default_factory=Counter)
    lives: int = 0
    ended: int = 0
    whole: bool = False


def left(stage: Stage) -> Left:
    """Read what is there."""
    folder = stage.root / ".work/broken"
    receipts = stage.receipts()
    finished = {entry["experiment"] for entry in _events(folder / "ledger.jsonl")}
    journals = {path.stem: _events(path) for path in folder.glob("*.jsonl")}
    found = Left(whole=not folder.is_dir() or not any(folder.iterdir()))
    found.whole = found.whole and len(receipts) == 2
    for name in finished:
        found.kept |= {(name, *key): ask for key, ask in asks(receipts[name]["boots"]).items()}
        found.noted[name] += len(_all_asks(receipts[name]))
        boots = receipts[name]["boots"]
        found.ended += len(boots)
        found.lives += sum(len(b["lives"]) for b in boots + receipts[name]["interrupted"])
    for name in journals.keys() - finished - {"ledger"}:
        _read_journal(found, name, journals[name])
    return found


def _read_journal(found: Left, name: str, events: list[dict[str, Any]]) -> None:
    lives: dict[str, dict[Key, Any]] = {}
    for event in events:
        match event["event"]:
            case "life":
                boot = event["record"]["name"]
                found.lives += 1
                lives[boot] = lives.get(boot, {}) if event["goes_on"] else {}
            case "asked":
                boot, record = event["boot"], event["record"]
                lives[boot][name, boot, record["name"]] = record
                found.noted[name] += 1
            case "ended":
                found.ended += 1
                found.kept |= lives.pop(event["boot"])
    for life in lives.values():  # not over: kept if no ask depends on an earlier one
        if all(record["cache"] == "cold" for record in life.values()) and name != "widths":
            found.kept |= life


def _events(path: Path) -> list[dict[str, Any]]:
    """Return the whole events of a journal, and leave it as it is."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_bytes().rpartition(b"\n")[0].splitlines()]


def asks(boots: list[Any]) -> dict[tuple[str, str], Any]:
    """Return the records of asks by boot and ask."""
    return {(boot["name"], ask["name"]): ask for boot in boots for ask in boot["asks"]}


def _all_asks(receipt: Any) -> list[Any]:
    return [ask for boot in receipt["boots"] + receipt["interrupted"] for ask in boot["asks"]]


# What an answer is, apart from how long it took.
ANSWER = ("content", "tokens", "stop_type", "completion_probabilities")


def content(stage: Stage) -> dict[str, Any]:
    """Return the receipts without what may differ between two runs.

    That is: times, lives, what was set aside, drawn seeds and what comes of them.
    """
    receipts = stage.receipts()
    for name, receipt in receipts.items():
        read(stage.root / f"receipts/broken/{name}.json", name=name)
        for word in ("started", "finished", "measured_on", "interrupted"):
            del receipt[word]
        for boot in receipt["boots"]:
            assert boot.pop("lives")[-1]["load_after"] is not None
            for ask in boot["asks"]:
                outcome = ask.pop("outcome")
                assert outcome["status"] == "answered"
                del ask["started"]
                if ask["seed"] == "fixed":
                    ask["answer"] = {word: outcome["response"][word] for word in ANSWER}
                else:
                    del ask["request"]["seed"]
                    receipt["analysis"] = None
    return receipts


def clean(stage: Stage) -> None:
    """Make the stage as it was before its first run."""
    for folder in (stage.root / ".work", stage.root / "receipts/broken"):
        shutil.rmtree(folder, ignore_errors=True)
    for file in (stage.folder / "cache/digests.json", stage.folder / "events.jsonl"):
        file.unlink(missing_ok=True)


@dataclass
class Trials:
    """What was tried and what became of it.

    Attributes:
        steps: How many steps a whole run has.
        whole_s: How long a whole run takes, in seconds.
        points: How many runs were killed; one that was over before its point counts for nothing.
        where: How many kills fell before the run had a server, inside a boot, after one (and before
            the next had its server), and after all was done.
        aside: How many answers were set aside with their boot, and asked again by design.
        under_way: How many asks had no outcome on disk when their run was killed.
    """

    steps: int
    whole_s: float
    points: int = 0
    where: Counter[str] = field(default_factory=Counter)
    aside: int = 0
    under_way: int = 0

    @property
    def kills(self) -> int:
        """How often a run was killed, and gone on with."""
        return self.where.total()

    def point(self, dice: random.Random, *, by_step: bool) -> dict[str, Any]:
        """Draw a point to kill a run at."""
        if by_step:
            return {"kill_at": dice.randint(1, self.steps)}
        return {"delay_s": dice.uniform(0, self.whole_s)}


def first_run(driver: Driver) -> Trials:
    """Make a whole run, and measure it."""
    count = driver.stage.folder / "count"
    end = driver.run(count=str(count))
    assert end["code"] == 0
    return Trials(int(count.read_text(encoding="utf-8")), end["wall_s"])


def trial(driver: Driver, dice: random.Random, trials: Trials, *, by_step: bool) -> bool:
    """Kill a run at a point, sometimes twice, and go on until it is done; check what is kept.

    Returns:
        Whether there was anything to go on with: a run that was killed after all was done is whole,
        and the same command then measures anew.
    """
    stage = driver.stage
    order = trials.point(dice, by_step=by_step)
    before, kills = Left(), 0
    while driver.run(**order)["code"] != 0:
        now = left(stage)
        trials.points += not kills
        trials.where[_where(now, now.lives - before.lives, now.ended - before.ended)] += 1
        if now.whole:
            driver.run()
            return False
        assert now.kept.items() >= before.kept.items()
        before, kills = now, kills + 1
        order = trials.point(dice, by_step=True) if dice.random() < KILLED_AGAIN else {}
    receipts = stage.receipts()
    for (name, boot, ask), record in before.kept.items():
        assert asks(receipts[name]["boots"])[boot, ask] == record
    trials.aside += sum(len(asks(receipt["interrupted"])) for receipt in receipts.values())
    requests = stage.events("asked")
    under_way = len(requests) - sum(len(_all_asks(receipt)) for receipt in receipts.values())
    assert not requests or 0 <= under_way <= kills
    trials.under_way += under_way if requests else 0
    return True


def _where(now: Left, ready: int, ended: int) -> str:
    """Tell where a run was killed, by how many servers it had and how many boots it had ended."""
    if now.whole:
        return "after all was done"
    if not ready:
        return "before a server was ready"
    return "inside a boot" if ready > ended else "after a boot"
