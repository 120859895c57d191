"""A diagnosis: one thing looked at, what was found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["good", "warning", "bad"]


@dataclass(frozen=True)
class Diagnosis:
    """One thing looked at.

    Attributes:
        name: What was looked at.
        verdict: `bad` if a run cannot be had or its numbers could not be trusted.
        found: What was found.
        remedy: What to do if it is not good.
    """

    name: str
    verdict: Verdict
    found: str
    remedy: str


def graded(name: str, *, well: bool, otherwise: Verdict, found: str, remedy: str) -> Diagnosis:
    """Return a diagnosis that is good or else *otherwise*."""
    return Diagnosis(name, "good" if well else otherwise, found, remedy)
