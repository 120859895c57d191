"""Draws each figure once a session: drawing is pure, slow, and tested elsewhere."""

from __future__ import annotations

from functools import cache

import pytest

from generator import charts, figures
from generator.article import drawings


@cache
def _drawn(figure: figures.Figure, words: figures.Wording, name: str) -> str:
    return charts.svg(figure, words, name=name)


@pytest.fixture(autouse=True)
def _draw_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawings, "svg", lambda figure, words, *, name: _drawn(figure, words, name))
