"""Progress which can be looked at."""

from __future__ import annotations


class Heard:
    """Progress, kept."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.bytes = 0
        self.total = 0
        self.ended = 0

    def start(self, label: str, total_bytes: int, already: int = 0) -> None:
        self.labels.append(label)
        self.total += total_bytes
        self.bytes += already

    def start_steps(self, label: str, total: int) -> None:
        self.labels.append(label)
        self.total += total

    def advance(self, count: int) -> None:
        self.bytes += count

    def done(self) -> None:
        self.ended += 1
