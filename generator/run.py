"""Running a plan: boots and asks, one at a time, every outcome journalled; it knows no kinds."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from generator import host
from generator.client import Client
from generator.engines.base import RunningServer
from generator.engines.effective import scrub_props
from generator.engines.table import command_line
from generator.errors import EngineError
from generator.journal import Journal
from generator.named_files import for_receipt
from generator.outcome import Answered, Failed
from generator.plan import Ask, Boot, DrawnSeed, EngineSeed, FixedSeed, Plan
from generator.prompts import PromptReader
from generator.receipt import Answered as AnsweredRecord
from generator.receipt import AskRecord, BootRecord, LifeRecord, MismatchRecord, PromptRecord
from generator.receipt import Failed as FailedRecord
from generator.reported import mismatches
from generator.settings import RANDOM_SEEDS

Launch = Callable[[Boot], AbstractContextManager[RunningServer]]
AskLimit = Callable[[Boot, Ask], float]
NOT_ASKED = "not asked: "


class Watcher(Protocol):
    """Somebody who is told how a run goes."""

    def booting(self, plan: Plan, boot: Boot) -> None:
        """A server is being started."""

    def asked(self, plan: Plan, boot: Boot, record: AskRecord, *, resumed: bool) -> None:
        """An ask has its outcome; *resumed* if it was answered in an earlier part of the run."""


def utc_now() -> str:
    """Return the time as receipts write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def run_plan(
    plan: Plan, launch: Launch, journal: Journal, watcher: Watcher, ask_limit: AskLimit
) -> None:
    """Run every boot that the journal does not know as ended.

    Args:
        plan: The boots and asks.
        launch: Starts a server for a boot.
        journal: Where outcomes are kept; afterwards it holds every boot.
        watcher: Told of each step.
        ask_limit: Tells how long an ask may take, in seconds.

    Raises:
        EngineError: A server did not start. What was answered stays in the journal.
    """
    for boot in plan.boots:
        state = journal.boots.get(boot.name)
        if state is not None and (state.ended or boot.divisible):
            for record in state.asks.values():
                watcher.asked(plan, boot, record, resumed=True)
        if state is None or not state.ended:
            _Life(plan, boot, journal, watcher, ask_limit).live(launch)


@dataclass(frozen=True)
class _Asked:
    """The server that is being asked, and what is known of it."""

    client: Client
    server: RunningServer
    prompts: PromptReader
    record: BootRecord


class _Life:
    """One life of one boot's server."""

    def __init__(
        self, plan: Plan, boot: Boot, journal: Journal, watcher: Watcher, ask_limit: AskLimit
    ) -> None:
        self.plan, self.boot = plan, boot
        self.journal, self.watcher = journal, watcher
        self.ask_limit = ask_limit

    def live(self, launch: Launch) -> None:
        """Start the server, ask what is still open, and end the boot."""
        known = self.journal.boots.get(self.boot.name)
        goes_on = known is not None and self.boot.divisible
        answered = set(known.asks) if known is not None and goes_on else set()
        self.watcher.booting(self.plan, self.boot)
        boot, untold = self._derived()
        load_before, started = host.load(), utc_now()
        with ExitStack() as held:
            server = self._launched(held, launch, boot)
            client = held.enter_context(Client(server))
            prompts = PromptReader(client, server.props.get("chat_template"))
            life = LifeRecord(
                started=started,
                ready_s=round(server.ready_s, 6),
                load_before=load_before,
                load_after=None,
                peak_memory_bytes=None,
            )
            record = _boot_record(boot, server, life)
            self.journal.life(record, goes_on=goes_on)
            for group in boot.groups:
                asks = [ask for ask in group if ask.name not in answered]
                if asks:
                    self._ask(asks, _Asked(client, server, prompts, record), untold)
            self.journal.ended(boot.name, host.load(), server.peak_memory_bytes())

    def _launched(self, held: ExitStack, launch: Launch, boot: Boot) -> RunningServer:
        try:
            return held.enter_context(launch(boot))
        except EngineError as error:
            raise EngineError(
                f"{self.plan.experiment}, boot {boot.name}: {error.what}",
                f"{error.remedy} What was answered is kept: the same command goes on from there.",
                error.details,
            ) from error

    def _derived(self) -> tuple[Boot, str | None]:
        """Return the boot with its derived settings, and why one of them cannot be told."""
        values: dict[str, int] = {}
        for derived in self.boot.derived:
            source = self.journal.boots[derived.boot].asks[derived.ask]
            evaluated = prompt_evaluated(source)
            if evaluated is None:
                untold = f"{derived.setting} depends on {derived.boot}/{derived.ask}, which failed"
                return self.boot, untold
            values[derived.setting] = max(1, evaluated + derived.offset)
        return replace(self.boot, server=self.boot.server.model_copy(update=values)), None

    def _ask(self, asks: Sequence[Ask], asked: _Asked, untold: str | None) -> None:
        """Send *asks* at once and note what became of each, in the plan's order."""
        server = asked.server
        requests = [{**ask.body, **self._seed(ask)} for ask in asks]
        texts = [
            asked.prompts.text(ask, request)
            if untold is None and server.death() is None
            else Failed("died", "the server is gone", None, None, 0.0)
            for ask, request in zip(asks, requests, strict=True)
        ]

        def outcome(ask: Ask, request: dict[str, Any]) -> tuple[str, Answered | Failed]:
            started, death = utc_now(), server.death()
            if untold is not None:
                return started, Failed("underived", f"{NOT_ASKED}{untold}", None, None, 0.0)
            if death is not None:
                return started, Failed("died", f"{NOT_ASKED}the server {death}", None, None, 0.0)
            limit_s = self.ask_limit(self.boot, ask)
            return started, asked.client.ask(ask.endpoint, request, limit_s)

        if len(asks) == 1:
            outcomes = [outcome(asks[0], requests[0])]
        else:
            with ThreadPoolExecutor(max_workers=len(asks)) as pool:
                try:
                    outcomes = list(pool.map(outcome, asks, requests))
                except BaseException:
                    server.stop()  # or the pool would wait for every answer
                    raise
        for ask, request, text, (started, result) in zip(
            asks, requests, texts, outcomes, strict=True
        ):
            given = self._given(asked.prompts, ask, request, text, result)
            record = ask_record(ask, request, started, result, given)
            found = mismatches(
                asked.record, record, given if isinstance(given, PromptRecord) else None
            )
            record = record.model_copy(update={"mismatches": found})
            self.journal.asked(self.boot.name, record)
            self.watcher.asked(self.plan, self.boot, record, resumed=False)
        if any(isinstance(result, Failed) and result.kind == "timeout" for _, result in outcomes):
            # It may hang for good, and every further ask would wait for as long.
            server.stop()

    def _given(
        self,
        prompts: PromptReader,
        ask: Ask,
        request: Mapping[str, Any],
        text: str | Failed,
        outcome: Answered | Failed,
    ) -> PromptRecord | str:
        """Return the prompt that an ask was given, noted once, or why it is unknown."""
        if isinstance(outcome, Failed):
            return "the ask failed"
        given = prompts.given(ask, request, text)
        if isinstance(given, PromptRecord) and given.sha256 not in self.journal.prompts:
            self.journal.prompt(given)
        return given

    def _seed(self, ask: Ask) -> dict[str, int]:
        match ask.seed:
            case FixedSeed(value):
                return {"seed": value}
            case EngineSeed():
                return {}
            case DrawnSeed():
                drawn = self.journal.seeds.get((self.boot.name, ask.name))
                if drawn is None:
                    drawn = draw_seed()
                    self.journal.drawn(self.boot.name, ask.name, drawn)
                return {"seed": drawn}


def ask_record(
    ask: Ask,
    request: dict[str, Any],
    started: str,
    outcome: Answered | Failed,
    given: PromptRecord | str,
) -> AskRecord:
    """Return an ask's record, its mismatches not yet looked for.

    Args:
        ask: The ask as planned.
        request: The request as sent.
        started: When it was sent, UTC.
        outcome: What became of it.
        given: The prompt that the model was given, or why it is unknown.
    """
    known = isinstance(given, PromptRecord)
    return AskRecord(
        name=ask.name,
        endpoint=ask.endpoint,
        cache=ask.cache,
        together=ask.together,
        seed=_seed_word(ask),
        request=request,
        prompt=given.sha256 if isinstance(given, PromptRecord) else None,
        prompt_unknown=None if known else str(given),
        started=started,
        mismatches=[],
        outcome=_outcome_record(outcome),
    )


def prompt_evaluated(ask: AskRecord) -> int | None:
    """Return how many prompt tokens the server evaluated for *ask*; None if it did not tell."""
    if not isinstance(ask.outcome, AnsweredRecord):
        return None
    timings = ask.outcome.response.get("timings")
    count = timings.get("prompt_n") if isinstance(timings, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def draw_seed() -> int:
    """Draw a fresh 32-bit seed which the engine does not take for a wish for its own dice."""
    while (seed := secrets.randbits(32)) in RANDOM_SEEDS:
        pass
    return seed


def _seed_word(ask: Ask) -> Any:
    match ask.seed:
        case FixedSeed():
            return "fixed"
        case DrawnSeed():
            return "drawn"
        case EngineSeed():
            return "engine"


def _outcome_record(outcome: Answered | Failed) -> AnsweredRecord | FailedRecord:
    match outcome:
        case Answered():
            return AnsweredRecord(
                status="answered",
                http_status=outcome.http_status,
                response=outcome.response,
                raw_bytes=outcome.raw_bytes,
                raw_sha256=outcome.raw_sha256,
                raw=outcome.raw,
                wall_s=round(outcome.wall_s, 6),
            )
        case Failed():
            return FailedRecord(
                status="failed",
                kind=outcome.kind,
                message=outcome.message,
                http_status=outcome.http_status,
                body=outcome.body,
                wall_s=round(outcome.wall_s, 6),
            )


def _boot_record(boot: Boot, server: RunningServer, life: LifeRecord) -> BootRecord:
    shown = for_receipt(boot.server)
    return BootRecord(
        name=boot.name,
        engine=boot.engine,
        model=boot.model,
        settings=shown.model_dump(mode="json"),
        effective=server.effective,
        command_line=command_line(shown, boot.model),
        props=scrub_props(server.props),
        mismatches=[
            MismatchRecord(name=m.name, declared=m.declared, effective=m.effective)
            for m in server.mismatches
        ],
        lives=[life],
        asks=[],
    )
