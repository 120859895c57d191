"""An answer as its invariants read it: any shape is accepted, since anything may be tampered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generator.receipt import Answered, AskRecord, BootRecord
from generator.settings import Endpoint


@dataclass(frozen=True)
class Statement:
    """Two values that must be equal: *found* at a pointer below the outcome, and what follows."""

    pointer: str
    expected: object
    found: object


@dataclass(frozen=True)
class Reply:
    """One answer, its request and the boot that gave it."""

    boot: BootRecord
    ask: AskRecord
    outcome: Answered

    @property
    def endpoint(self) -> Endpoint:
        """Which endpoint was asked."""
        return self.ask.endpoint

    @property
    def request(self) -> Mapping[str, Any]:
        """What was sent."""
        return self.ask.request

    def at(self, pointer: str) -> Any:
        """Return what stands at *pointer* in the response, or None if nothing does."""
        value: Any = self.outcome.response
        for part in pointer.split("/")[1:]:
            match value:
                case dict() if part in value:
                    value = value[part]
                case list() if part.isdigit() and int(part) < len(value):
                    value = value[int(part)]
                case _:
                    return None
        return value

    def number(self, pointer: str) -> float | None:
        """Return the number at *pointer*, or None if there is no number."""
        value = self.at(pointer)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def text(self, pointer: str) -> str | None:
        """Return the text at *pointer*, or None if there is no text."""
        value = self.at(pointer)
        return value if isinstance(value, str) else None

    def equal(self, pointer: str, expected: object) -> Iterator[Statement]:
        """State what must stand at *pointer*, if anything stands there."""
        found = self.at(pointer)
        if expected is not None and found is not None:
            yield Statement(f"/response{pointer}", expected, found)

    def true(self, pointer: str, holds: bool, expected: str) -> Statement:
        """State in words what must be true of what stands at *pointer*."""
        found = self.at(pointer)
        return Statement(f"/response{pointer}", expected, expected if holds else found)

    @property
    def places(self) -> str:
        """Where the list of token positions stands."""
        return "/choices/0/logprobs/content" if self.endpoint == "chat" else (
            "/completion_probabilities"
        )  # fmt: skip

    def positions(self) -> Iterator[tuple[str, Position]]:
        """Yield each token position with its pointer; one of another shape is left out."""
        found = self.at(self.places)
        for index, entry in enumerate(found if isinstance(found, list) else ()):
            position = _position(entry)
            if position is not None:
                yield f"{self.places}/{index}", position


@dataclass(frozen=True)
class Token:
    """A token as a response writes it."""

    id: int
    text: str
    raw: bytes
    logprob: float


@dataclass(frozen=True)
class Position:
    """The chosen token and the candidates, in the order in which they stand."""

    chosen: Token
    candidates: tuple[Token, ...]

    @property
    def listed(self) -> int | None:
        """Where the chosen token stands among the candidates."""
        ids = [candidate.id for candidate in self.candidates]
        return ids.index(self.chosen.id) if self.chosen.id in ids else None


def _position(entry: object) -> Position | None:
    try:
        return Position(_token(entry), tuple(map(_token, entry["top_logprobs"])))  # type: ignore[index]
    except (LookupError, TypeError, ValueError):
        return None


def _token(entry: Any) -> Token:
    return Token(
        int(entry["id"]), str(entry["token"]), bytes(entry["bytes"]), float(entry["logprob"])
    )
