"""Trying a prompt on both sides: on servers that are kept for many prompts, or on fresh ones."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from generator.answers import Answer, read_answer
from generator.canonical import digest
from generator.client import Client
from generator.declaration import Experiment, Resolved
from generator.engines.base import RunningServer
from generator.errors import EngineError
from generator.experiments.kind import ask_of
from generator.hunt.sides import Side, differing
from generator.hunt.trial import Trial, compared
from generator.outcome import Failed
from generator.plan import Ask, Boot, Cache
from generator.prompts import PromptReader
from generator.reported import mismatches
from generator.run import AskLimit, Launch, ask_record, utc_now

MOST_FAILURES = 3


class UncomparedError(Exception):
    """One side gave no answer that could be compared.

    Args:
        message: Why.
        refused: Whether the server refused this prompt and may well take others.
    """

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


@dataclass(frozen=True)
class _Serve:
    """A server that is being asked."""

    server: RunningServer
    client: Client
    boot: Boot

    @property
    def model(self) -> str:
        """The name of its model."""
        return self.boot.model

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it was started with."""
        return self.boot.server.model_dump(mode="json")

    @property
    def props(self) -> Mapping[str, Any]:
        """Its `/props`."""
        return self.server.props


@dataclass
class Trials:
    """Tries prompts on both sides of a hunt.

    Attributes:
        resolved: What is asked, but for the prompt and for what the sides set.
        sides: The two sides.
        launch: Starts a server.
        ask_limit: Tells how long an ask may take, in seconds.
    """

    resolved: Resolved[Experiment]
    sides: tuple[Side, Side]
    launch: Launch
    ask_limit: AskLimit
    _kept: dict[str, _Serve] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _failures: int = 0

    def __enter__(self) -> Self:
        """Return itself; a server is started when it is first needed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop every server."""
        self._drop()

    def tried(self, prompt: str, *, fresh: bool) -> Trial:
        """Try a prompt.

        Args:
            prompt: The prompt.
            fresh: Whether each server is started for it, as an experiment does. If not, those that
                answered other prompts are asked: cold is then an ask that may not use the cache.
                Either way the servers' own counts tell whether it was as it should be.

        Raises:
            EngineError: A server does not start, or several prompts in a row had no answer.
        """
        began = time.perf_counter()
        if fresh:
            self._drop()
        try:
            left, right = self._answers(prompt, fresh=fresh)
        except UncomparedError as error:
            self._note(error)
            return Trial(verdict="uncompared", message=str(error), seconds=_since(began))
        finally:
            if fresh:
                self._drop()
        self._failures = 0
        return compared(left, right, _since(began))

    def _note(self, error: UncomparedError) -> None:
        """Start servers anew after a failure, and give up after several in a row."""
        if error.refused:
            return
        self._drop()
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            raise EngineError(
                f"{self._failures} prompts in a row could not be compared: {error}",
                "Try these settings with one short prompt first.",
            ) from error

    def _answers(self, prompt: str, *, fresh: bool) -> tuple[Answer, Answer]:
        """Ask each server once, or twice if a side is warm on it; both sides may share one."""
        found: dict[tuple[str, str], Answer] = {}
        for side in self.sides:
            caches = {other.cache for other in self.sides if _key(other) == _key(side)}
            if (_key(side), side.cache) in found:
                continue
            serve = self._serve(side)
            cold = self._ask(side, serve, prompt, "cold")
            if not fresh:
                cold = replace(cold, body={**cold.body, "cache_prompt": False})
            if "cold" not in caches:
                cold = replace(cold, body={**cold.body, "n_predict": 1})
            found[_key(side), "cold"] = self._answer(serve, cold)
            if "warm" in caches:
                warm = self._ask(side, serve, prompt, "warm")
                found[_key(side), "warm"] = self._answer(serve, warm)
        left, right = (found[_key(side), side.cache] for side in self.sides)
        return left, right

    def _ask(self, side: Side, serve: _Serve, prompt: str, cache: Cache) -> Ask:
        asked = replace(self.resolved, engine=serve.boot.engine, server=side.server)
        return ask_of(asked, cache, cache, prompt=prompt)

    def _answer(self, serve: _Serve, ask: Ask) -> Answer:
        limit = self.ask_limit(serve.boot, ask)
        request = {**ask.body, "seed": self.resolved.sampling.seed}
        prompts = PromptReader(serve.client, serve.server.props.get("chat_template"))
        text, started = prompts.text(ask, request), utc_now()
        outcome = serve.client.ask(ask.endpoint, request, limit)
        if isinstance(outcome, Failed):
            refused = outcome.kind == "http_status"
            raise UncomparedError(f"{outcome.kind}: {outcome.message}", refused=refused)
        given = prompts.given(ask, request, text)
        if isinstance(given, str):
            raise UncomparedError(f"the prompt is unknown: {given}")
        record = ask_record(ask, request, started, outcome, given)
        for odd in mismatches(serve, record, given):
            told = f"{odd.name} was asked as {odd.declared!r} and is reported as {odd.effective!r}"
            raise UncomparedError(told)
        answer = read_answer(serve.boot.name, record)
        if answer is None or not answer.ids:
            raise UncomparedError("the response holds no tokens")
        if not answer.valid:
            counts = f"{answer.cache_n} tokens cached, {answer.prompt_n} evaluated"
            single = answer.cache_n + answer.prompt_n == 1  # which leaves nothing to be cached
            raise UncomparedError(f"an ask was not {ask.cache}: {counts}", refused=single)
        return answer

    def _serve(self, side: Side) -> _Serve:
        """Return a side's server, started if need be."""
        key = _key(side)
        if key not in self._kept:
            boot = Boot(
                f"hunt {len(self._kept)}", side.engine, self.resolved.model, side.server, ()
            )
            server = self._stack.enter_context(self.launch(boot))
            self._kept[key] = _Serve(server, self._stack.enter_context(Client(server)), boot)
            _refuse_others(server, self.sides)
        return self._kept[key]

    def _drop(self) -> None:
        self._kept.clear()
        self._stack.close()


def _key(side: Side) -> str:
    """Return what two sides must share to be asked of one server."""
    return digest([side.engine, side.server.model_dump(mode="json")])


def _refuse_others(server: RunningServer, sides: tuple[Side, Side]) -> None:
    """Refuse a server that does not take a setting in which the sides differ."""
    changed = differing(*sides)
    for odd in server.mismatches:
        if odd.name in changed:
            raise EngineError(
                f"The engine was given {odd.name}={odd.declared} and uses {odd.effective}.",
                "Compare settings that it takes.",
            )


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 6)
