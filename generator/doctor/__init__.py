"""The doctor: what this machine lacks for measuring and building, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator

from generator.doctor import engines, machine, programs
from generator.doctor.diagnosis import Diagnosis
from generator.doctor.needs import Needs, needs_of
from generator.doctor.view import View

__all__ = ["Diagnosis", "Needs", "View", "diagnose", "needs_of"]


def diagnose(needs: Needs, view: View) -> Iterator[Diagnosis]:
    """Look at a machine with the eyes of what is to be measured on it; pure.

    Args:
        needs: What the declarations ask for.
        view: The machine.
    """
    yield from engines.diagnose(needs, view)
    yield from machine.diagnose(needs, view)
    yield from programs.diagnose(view)
