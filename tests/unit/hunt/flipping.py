"""A stand-in for engines whose answers depend on cache and settings as a test wants it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from generator.hunt.sides import Side, read_sides
from generator.hunt.trials import Trials
from generator.hunt.wish import resolve
from generator.plan import Boot
from tests.factory import TokenLike, completion_response
from tests.unit.launching import FakeEngine

Say = Callable[[str, str, Boot], list[TokenLike]]
"""Gives the tokens of an answer, by the prompt, `cold` or `warm`, and the boot."""
ENGINE, MODEL = "tiny-engine", "tiny-q4_1"
COLD_WARM = ("cache=cold", "cache=warm")


def flips_when_warm(prompt: str, cache: str, _boot: Boot) -> list[TokenLike]:
    """Answer otherwise when warm, if the prompt says so."""
    if "flip" in prompt and cache == "warm":
        return [" a", " c"]
    return [" a", (" b", -0.6 if "drift" in prompt and cache == "warm" else -0.5, -0.7)]


@dataclass
class Machine:
    """Launches servers that keep the last prompt in a cache, as llama-server does.

    Attributes:
        say: Gives the answers.
        boots: Every boot that was launched, in order.
        asked: Every request, with what it found: `cold` or `warm`.
        echo: What every response reports of its settings.
    """

    say: Say = flips_when_warm
    boots: list[Boot] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    echo: dict[str, Any] = field(default_factory=dict)

    def launch(self, boot: Boot) -> AbstractContextManager[Any]:
        """Start a server with an empty cache."""
        self.boots.append(boot)
        cached: list[str] = []

        def reply(_count: int, request: dict[str, Any]) -> dict[str, Any] | int | None:
            prompt = request["prompt"]
            if "refuse" in prompt:
                return 400
            if "die" in prompt:
                return None
            warm = request["cache_prompt"] and cached == [prompt]
            cached[:] = [prompt]
            self.asked.append((prompt, "warm" if warm else "cold"))
            length = len(prompt.split())
            tokens, limit = self.say(prompt, "warm" if warm else "cold", boot), request["n_predict"]
            response = completion_response(
                tokens[:limit],
                stop="limit" if len(tokens) >= limit else "eos",
                cache_n=length - 1 if warm else 0,
                prompt_n=1 if warm else length,
            )
            return {**response, "generation_settings": self.echo}

        return FakeEngine(reply, tokens=lambda text: len(text.split())).launch(boot)


def sides_of(left: str, right: str, common: str = "") -> tuple[Side, Side]:
    """Return two sides."""
    return read_sides(left, right, common, ENGINE)


def trials_of(machine: Machine, left: str, right: str, common: str = "") -> Trials:
    """Return what tries prompts on *machine*."""
    sides = sides_of(left, right, common)
    return Trials(resolve("found", sides, MODEL, 8), sides, machine.launch, lambda *_: 60.0)
