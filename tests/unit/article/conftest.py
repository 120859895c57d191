"""Draws each figure once a session: drawing is pure, slow, and tested elsewhere."""

from __future__ import annotations

from functools import cache

import pytest
from markupsafe import Markup

from generator import charts, figures
from generator.article import drawings
from generator.article.functions import Functions


@cache
def _drawn(figure: figures.Figure, words: figures.Wording, name: str) -> str:
    return charts.svg(figure, words, name=name)


@pytest.fixture
def shown_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show no more of an experiment than its name: what a kind says depends on no claim."""
    monkeypatch.setattr(Functions, "show", lambda _self, name: Markup("({})").format(name))


@pytest.fixture(autouse=True)
def _draw_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawings, "svg", lambda figure, words, *, name: _drawn(figure, words, name))
