"""How long a plan will take: a guess before anything is measured, from speeds that are assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generator.plan import Ask, Plan

ASCII_PER_TOKEN = 4  # characters; of any other script, each counts as a token


@dataclass(frozen=True)
class Speeds:
    """What is assumed of a machine with a small model; a run tells better as it goes.

    Attributes:
        boot_s: From starting a server to its first ask, and ending it, in seconds.
        read: Prompt tokens evaluated in a second.
        written: Tokens generated in a second.
    """

    boot_s: float = 1.5
    read: float = 250.0
    written: float = 60.0


TWO_CORES = Speeds()


def estimate_s(plan: Plan, speeds: Speeds = TWO_CORES) -> float:
    """Guess how many seconds a plan takes, every answer being as long as it may be."""
    boots = len(plan.boots) * speeds.boot_s
    return boots + sum(_ask_s(ask, speeds) for boot in plan.boots for ask in boot.asks)


def size_of(plans: Sequence[Plan]) -> str:
    """Say how large *plans* are together, and about how long they will take."""
    asks, boots = sum(plan.asks for plan in plans), sum(len(plan.boots) for plan in plans)
    return f"{asks} asks in {boots} boots, about {sum(map(estimate_s, plans)):.0f} s"


def _ask_s(ask: Ask, speeds: Speeds) -> float:
    read = 1 if ask.cache == "warm" else tokens_in(_prompt(ask.body))
    written = ask.body.get("n_predict", ask.body.get("max_tokens", 0))
    return float(read / speeds.read + written / speeds.written)


def _prompt(body: Mapping[str, Any]) -> str:
    if "prompt" in body:
        return str(body["prompt"])
    return "".join(str(message["content"]) for message in body["messages"])


def tokens_in(text: str) -> int:
    """Guess how many tokens *text* is, without the model that would know."""
    plain = sum(character.isascii() for character in text)
    return plain // ASCII_PER_TOKEN + len(text) - plain
