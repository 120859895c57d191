"""How a hunt is told: a line for every trial, and one for its end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from generator.cli.console import note
from generator.hunt.search import Ended, Hunted, Stage
from generator.hunt.sides import Side
from generator.hunt.trial import Trial

ENDS: Mapping[Ended, str] = {
    "limit": ", up to the limit",
    "time": " until the time was up",
    "pool": ", all there are",
    "found": "",
}
STAGES: Mapping[Stage, str] = {
    "search": "",
    "fresh": "on fresh servers: ",
    "shorten": "shortened: ",
}


class Told:
    """Tells of every trial on a line.

    Args:
        limit: The most prompts of the pool that are tried.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def tried(self, stage: Stage, number: int, trial: Trial, *, known: bool) -> None:
        """A prompt was tried."""
        count = f"[{number}/{self._limit}] " if stage == "search" else ""
        took = "known from before" if known else f"{trial.seconds:.1f} s"
        note(f"{count}{STAGES[stage]}{outcome(trial)} ({took})")


def outcome(trial: Trial) -> str:
    """Say what became of a prompt."""
    if trial.verdict == "uncompared":
        return f"not compared: {trial.message}"
    length = f"{trial.prompt_tokens} prompt tokens"
    match trial.verdict:
        case "flip":
            left, right = (json.dumps(text) for text in (trial.left, trial.right))
            return f"{length}: FLIP at token {trial.token}: {left} → {right}"
        case "drift":
            return f"{length}: the same tokens, other probabilities"
        case "same":
            return f"{length}: the same to the last bit"


def as_data(hunted: Hunted, article: str, written: Sequence[str]) -> dict[str, Any]:
    """Return how a hunt ended, for a machine.

    Args:
        hunted: How it ended.
        article: What the declaration of a find is called.
        written: The files that were written, by path from the project's root.
    """
    tally, trial = hunted.tally, hunted.trial
    return {
        "ended": hunted.ended,
        "tried": tally.prompts,
        "verdicts": dict(sorted(tally.verdicts.items())),
        "unconfirmed": tally.unconfirmed,
        "prompt": hunted.prompt,
        "trial": None if trial is None else trial.model_dump(mode="json"),
        "article": article if written else None,
        "files": list(written),
    }


def nothing(hunted: Hunted, sides: tuple[Side, Side]) -> str:
    """Say that nothing was found, and in how much."""
    tally, verdicts = hunted.tally, hunted.tally.verdicts
    lengths = f" of {min(tally.lengths)} to {max(tally.lengths)} tokens" if tally.lengths else ""
    parts = [
        f"{verdicts['same']} gave the same to the last bit",
        f"{verdicts['drift']} the same tokens with other probabilities",
    ]
    if tally.unconfirmed:
        parts.append(f"{tally.unconfirmed} flipped, but not on fresh servers")
    if verdicts["uncompared"]:
        parts.append(f"{verdicts['uncompared']} could not be compared")
    left, right = (side.words for side in sides)
    return (
        f"Nothing found between {left} and {right}: {tally.prompts} prompts{lengths} were tried"
        f"{ENDS[hunted.ended]}; {', '.join(parts)}."
    )
