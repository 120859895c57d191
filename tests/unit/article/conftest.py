"""Draws each figure once a session: drawing is pure, slow, and tested elsewhere."""

from __future__ import annotations

from functools import cache

import pytest

from generator import figures
from generator.article import functions


@cache
def _drawn(bars: figures.Bars, words: figures.Wording, name: str) -> str:
    return figures.svg(bars, words, name=name)


@pytest.fixture(autouse=True)
def _draw_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "svg", lambda bars, words, *, name: _drawn(bars, words, name))
