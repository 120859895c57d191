"""Flocks: which texts are sent at once, the same ones in every run of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generator.canonical import digest


@dataclass(frozen=True)
class Sent:
    """One text of a flock; *name* tells it from others and is the same wherever it is sent."""

    name: str
    text: str


def identical(name: str, text: str, asks: int) -> list[Sent]:
    """Return *asks* copies of one text."""
    return [Sent(name, text)] * asks


def openings(text: str, lengths: Sequence[int], asks: int) -> list[Sent]:
    """Return openings of a text by their lengths in characters, taken in turn."""
    cuts = [Sent(f"first-{length}", text[:length]) for length in lengths]
    return [cuts[index % len(cuts)] for index in range(asks)]


def mixed(name: str, text: str, others: Sequence[str], asks: int, flock: str) -> list[Sent]:
    """Return one needle among neighbours, which are pieces of other texts, long and short.

    Args:
        name: The needle's name.
        text: The needle.
        others: What the neighbours are cut from, in turn.
        asks: How many there are in all.
        flock: Where the pieces are cut, and where the needle stands, is drawn from this word.
    """
    sent = [
        Sent(f"near-{flock}-{index}", _piece(others[index % len(others)], f"{flock}/{index}"))
        for index in range(1, asks)
    ]
    sent.insert(_drawn(flock) % asks, Sent(name, text))
    return sent


def _piece(text: str, word: str) -> str:
    length = 1 + _drawn(f"{word}/length") % len(text)
    start = _drawn(f"{word}/start") % (len(text) - length + 1)
    return text[start : start + length]


def _drawn(word: str) -> int:
    # no generator of random numbers: those may change with the Python version, and the plan with it
    return int(digest(word), 16)
