"""How a fetch tells of its progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears of one piece of work after another."""

    def start(self, label: str, total_bytes: int, already: int = 0) -> None:
        """Begin a piece of work.

        Args:
            label: What it is.
            total_bytes: Its size; 0 means that it is not known.
            already: How many of the bytes were there before, and took no time now.
        """

    def start_steps(self, label: str, total: int) -> None:
        """Begin a piece of work that is counted in steps, such as files to compile.

        Args:
            label: What it is.
            total: How many steps there are.
        """

    def advance(self, count: int) -> None:
        """Note *count* further bytes or steps; negative where a fetch had to start anew."""

    def done(self) -> None:
        """End the piece of work, finished or failed."""


class NoProgress:
    """Hears and does nothing."""

    def start(self, label: str, total_bytes: int, already: int = 0) -> None:
        """Begin nothing."""

    def start_steps(self, label: str, total: int) -> None:
        """Begin nothing."""

    def advance(self, count: int) -> None:
        """Note nothing."""

    def done(self) -> None:
        """End nothing."""
