"""Tests of figures as data: what can be downloaded of them."""

from __future__ import annotations

from generator.figures import Bar, Bars, Grid, Place, Places


def test_csv_quotes_what_needs_it() -> None:
    bars = Bars((Bar('a,"b"', 1.5, marked=True), Bar("c", 2000000, marked=False)), "run", "n")
    assert bars.csv() == 'run,n,marked\n"a,""b""",1.5,1\nc,2000000,0\n'


def test_csv_leaves_empty_what_is_not_known() -> None:
    places = Places((Place(0, 2.5, None, marked=False), Place(1, 0.01, 1.5e-05, marked=True)))
    assert places.csv() == "token,gap,drift,marked\n0,2.5,,0\n1,0.01,1.5e-05,1\n"


def test_csv_of_a_table_is_its_rows() -> None:
    grid = Grid(("settings", "group"), (("n_ubatch=256 repack=false", "A1"), ("baseline", "")))
    assert grid.csv() == "settings,group\nn_ubatch=256 repack=false,A1\nbaseline,\n"
