"""Times of a receipt that run backwards: somebody set the clock back while it was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from generator.receipt import Receipt

# A clock that is kept right is moved by milliseconds, which is nothing to speak of.
SLACK_S = 1.0


@dataclass(frozen=True)
class SetBack:
    """Where the times first run backwards, and by how many seconds."""

    where: str
    seconds: float


def set_back(receipt: Receipt) -> SetBack | None:
    """Return where a receipt's times first run backwards, or None if they never do.

    Durations are measured by another clock, which nobody can set.
    """
    latest = datetime.fromisoformat(receipt.started)
    for where, time in _times(receipt):
        now = datetime.fromisoformat(time)
        back_s = (latest - now).total_seconds()
        if back_s > SLACK_S:
            return SetBack(where, back_s)
        latest = max(latest, now)
    return None


def _times(receipt: Receipt) -> Iterator[tuple[str, str]]:
    """Yield every time but the first, in the order in which they were taken."""
    for boot in receipt.boots:
        yield f"the start of boot {boot.name}", boot.lives[0].started
        for ask in boot.asks:
            yield f"boot {boot.name}, ask {ask.name}", ask.started
    yield "the end", receipt.finished
