"""Tests of what a kind's template can draw, and of what readers can download."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

import pytest
from markupsafe import Markup

from generator.article.drawings import Drawings
from generator.article.faults import WrongCallError
from generator.figures import Bar, Bars, Grid

GRID = Grid(("ask", "group"), (("cold", "A"), ('a "b"', "<B>")))
DRAWINGS = Drawings(
    "runs", {"grid": GRID, "bars": Bars((Bar("1", 2, marked=False),), "run", "n")}, "CSV"
)
WORDS = dict.fromkeys(("title", "description", "axis", "row", "mark"), "{}")


@pytest.mark.parametrize("name", ["grid", "bars"])
def test_what_is_downloaded_is_the_data(name: str) -> None:
    found = re.search(
        rf'href="data:text/csv;base64,([^"]+)" download="runs-{name}.csv">CSV<',
        DRAWINGS.download(name),
    )
    assert found is not None
    assert base64.b64decode(found[1]).decode() == DRAWINGS.data[name].csv()


def test_a_chart_comes_with_its_data() -> None:
    drawn = DRAWINGS.figure("bars", **WORDS)
    assert "<svg" in drawn
    assert DRAWINGS.download("bars") in drawn


def test_a_table_is_not_drawn() -> None:
    with pytest.raises(WrongCallError, match="'grid' is drawn, and is a table") as caught:
        DRAWINGS.figure("grid", **WORDS)
    assert "{{ download('grid') }}" in caught.value.remedy


@pytest.mark.parametrize("call", [DRAWINGS.figure, DRAWINGS.download])
def test_a_figure_that_the_kind_does_not_make(call: Callable[..., Markup]) -> None:
    with pytest.raises(WrongCallError, match="there is no figure 'bar'") as caught:
        call("bar")
    assert caught.value.remedy == "did you mean `bars`?"
