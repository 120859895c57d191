"""The search: prompts in order, until one flips on fresh servers too, and is then made shorter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from generator.hunt.trial import Trial

Stage = Literal["search", "fresh", "shorten"]
Ended = Literal["found", "limit", "time", "pool"]
MOST_SHORTENINGS = 40


class Try(Protocol):
    """What tries a prompt."""

    def __call__(self, prompt: str, *, fresh: bool) -> tuple[Trial, bool]:
        """Return what becomes of a prompt, and whether that was known before."""


class Watcher(Protocol):
    """Somebody who is told how a hunt goes."""

    def tried(self, stage: Stage, number: int, trial: Trial, *, known: bool) -> None:
        """A prompt was tried; *number* counts from 1 within its stage, *known* is from before."""


@dataclass
class Tally:
    """What was tried of the pool.

    Attributes:
        verdicts: How often each verdict came out.
        lengths: The prompts' lengths in tokens, of those that were compared.
        unconfirmed: Flips that fresh servers did not show.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)
    unconfirmed: int = 0

    def count(self, trial: Trial) -> None:
        """Count one prompt of the pool."""
        self.verdicts[trial.verdict] += 1
        if trial.prompt_tokens is not None:
            self.lengths.append(trial.prompt_tokens)

    @property
    def prompts(self) -> int:
        """How many prompts of the pool were tried."""
        return self.verdicts.total()


@dataclass(frozen=True)
class Hunted:
    """How a hunt ended.

    Attributes:
        prompt: The prompt that flips on fresh servers, as short as it became; None if none does.
        trial: What it did there.
        first: The trial of the prompt of the pool that it was made of.
    """

    ended: Ended
    tally: Tally
    prompt: str | None = None
    trial: Trial | None = None
    first: Trial | None = None


@dataclass(frozen=True)
class Hunt:
    """A search under way.

    Attributes:
        tried: Tries a prompt, on fresh servers or on those that are there.
        watcher: Is told of every trial.
        out_of_time: Tells when to stop.
        limit: The most prompts of the pool that are tried.
    """

    tried: Try
    watcher: Watcher
    out_of_time: Callable[[], bool]
    limit: int

    def run(self, pool: Iterable[str]) -> Hunted:
        """Search *pool* in its order."""
        tally = Tally()
        for prompt in pool:
            if tally.prompts >= self.limit:
                return Hunted("limit", tally)
            if self.out_of_time():
                return Hunted("time", tally)
            trial = self._try("search", tally.prompts + 1, prompt)
            tally.count(trial)
            if trial.verdict == "flip":
                confirmed = self._try("fresh", 1, prompt)
                if confirmed.verdict == "flip":
                    return self._shortened(prompt, trial, confirmed, tally)
                tally.unconfirmed += 1
        return Hunted("pool", tally)

    def _try(self, stage: Stage, number: int, prompt: str) -> Trial:
        trial, known = self.tried(prompt, fresh=stage == "fresh")
        self.watcher.tried(stage, number, trial, known=known)
        return trial

    def _shortened(self, prompt: str, first: Trial, confirmed: Trial, tally: Tally) -> Hunted:
        """Leave out of a prompt what its flip does not need, and ask fresh servers again."""
        flipping = [prompt]
        for number, shorter in enumerate(self._halvings(flipping), start=1):
            if number > MOST_SHORTENINGS or self.out_of_time():
                break
            if self._try("shorten", number, shorter).verdict == "flip":
                flipping.append(shorter)
        for number, shorter in enumerate(reversed(flipping[1:]), start=2):
            trial = self._try("fresh", number, shorter)
            if trial.verdict == "flip":
                return Hunted("found", tally, shorter, trial, first)
        return Hunted("found", tally, prompt, confirmed, first)

    def _halvings(self, flipping: list[str]) -> Iterator[str]:
        """Propose prompts without a half, a quarter, …, one piece of the shortest known."""
        pieces = _pieces(flipping[-1])
        size = len(pieces) // 2
        while size:
            start = 0
            while start < len(pieces):
                fewer = pieces[:start] + pieces[start + size :]
                shorter = "".join(fewer).strip()
                if shorter:
                    yield shorter
                if shorter and flipping[-1] == shorter:
                    pieces = fewer
                else:
                    start += size
            size //= 2


def _pieces(prompt: str) -> list[str]:
    """Cut a prompt into lines, or into words if it is one line; joined they are the prompt."""
    lines = re.findall(r"[^\n]*\n+|[^\n]+", prompt)
    return lines if len(lines) > 1 else re.findall(r"\s*\S+", prompt)
