"""Tests of drawing: the same bytes everywhere, colours and fonts left to the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from generator.charts import specification, svg
from generator.charts.style import decades, ticks
from generator.figures import Bar, Bars, Figure, Place, Places, Wording

BARS = Bars(
    (Bar("1", 884, marked=True), Bar("2", 12, marked=False), Bar("3", 1234567, marked=False)),
    label="run",
    measure="characters",
)
PLACES = Places(
    (
        Place(0, 2.4, 0.0001, marked=False),
        Place(1, 0.01, 0.004, marked=False),
        Place(2, 0.5, None, marked=False),
        Place(3, 1.7, 0.0, marked=False),
        Place(4, 0.0, 0.002, marked=False),
        Place(5, 0.012, 0.0155, marked=True),
    )
)
FIGURES: dict[str, Figure] = {"figure": BARS, "places": PLACES}
WORDS = Wording("Thinking", "How long it thought", "characters", "Run {}", "no answer")
HOSTILE = '<script>x</script> & "q" \' ]]> class="k" id="clip9" url(#clip0) #111111 font-family="f"'
PROGRAM = """
from tests.unit.test_charts import FIGURES, WORDS, svg
print("".join(svg(figure, WORDS, name="one") for figure in FIGURES.values()), end="")
"""


def parsed(drawing: str) -> ET.Element:
    """Read a drawing of ours."""
    return ET.fromstring(drawing)  # noqa: S314 - made a moment ago, and not by a stranger


@cache
def drawing(name: str) -> str:
    """Draw one of the figures, once a session."""
    return svg(FIGURES[name], WORDS, name="one")


@pytest.fixture(params=FIGURES)
def drawn(request: pytest.FixtureRequest) -> str:
    return drawing(request.param)


@pytest.mark.parametrize("name", FIGURES)
def test_specification_is_as_it_was(name: str, golden: Callable[[str, str], None]) -> None:
    made = specification(FIGURES[name], WORDS)
    text = json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False)
    golden(f"{name}-specification.json", text + "\n")


@pytest.mark.parametrize("name", FIGURES)
def test_drawing_is_as_it_was(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.svg", drawing(name) + "\n")


def test_bytes_depend_on_neither_process_nor_installed_fonts(tmp_path: Path) -> None:
    config = tmp_path / "fonts.conf"
    config.write_text(f"<fontconfig><cachedir>{tmp_path}</cachedir></fontconfig>")
    environment = {**os.environ, "FONTCONFIG_FILE": str(config), "HOME": str(tmp_path)}
    again = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
    )
    assert again.stdout.decode() == "".join(map(drawing, FIGURES))


@pytest.mark.parametrize("name", FIGURES)
def test_drawing_a_second_time_in_one_process_gives_the_same_bytes(name: str) -> None:
    assert svg(FIGURES[name], WORDS, name="one") == drawing(name)


def test_ids_are_unique_on_a_page_with_two_figures(drawn: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', drawn + svg(BARS, WORDS, name="two"))
    assert len(ids) == len(set(ids))
    assert {name.partition("-")[0] for name in ids} == {"one", "two"}


def test_every_reference_has_its_target(drawn: str) -> None:
    assert set(re.findall(r"url\(#([^)]+)\)", drawn)) <= set(re.findall(r'id="([^"]+)"', drawn))


def test_colours_are_the_page_s(drawn: str) -> None:
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawn))
    assert colours >= {"var(--fig-ink)", "var(--fig-accent)", "var(--fig-grid)"}
    assert {c for c in colours if not c.startswith("var(--fig-")} <= {"none", "transparent"}


def test_nothing_is_loaded_run_or_set_in_a_font(drawn: str) -> None:
    tags = {"svg", "title", "desc", "g", "path", "text", "line", "rect", "defs", "clipPath"}
    for element in parsed(drawn).iter():
        assert element.tag.partition("}")[2] in tags
        assert not {"font-family", "style"} & element.attrib.keys()
        assert not [key for key in element.attrib if key.startswith("on") or "href" in key]


def test_title_and_description_are_what_labels_it(drawn: str) -> None:
    root = parsed(drawn)
    assert root.attrib["role"] == "img"
    labels = root.attrib["aria-labelledby"].split()
    found = [e.text for label in labels for e in root.iter() if e.attrib.get("id") == label]
    assert found == [WORDS.title, WORDS.description]


def test_hostile_words_stay_words() -> None:
    words = Wording(HOSTILE, HOSTILE, HOSTILE, HOSTILE + " {}", HOSTILE)
    root = parsed(svg(BARS, words, name="one"))
    texts = [element.text for element in root.iter() if element.text]
    assert texts.count(HOSTILE) == 3  # title, description, axis
    assert f"{HOSTILE} 1" in texts
    assert not [e for e in root.iter() if "script" in e.tag]


def test_values_are_written_in_full() -> None:
    assert ">1234567<" in drawing("figure")
    assert ">884 no answer<" in drawing("figure")


def test_axis_of_small_counts_repeats_no_label() -> None:
    small = svg(Bars((Bar("1", 1, marked=False),), "run", "n"), WORDS, name="one")
    labels = re.findall(r"<text[^>]*>(\d+)</text>", small)
    assert sorted(labels) == ["0", "1", "1"]  # two ticks, and the bar's own value


@pytest.mark.parametrize("top", [1, 2, 3, 7, 10, 99, 100, 986, 12345, 1e7])
def test_axis_has_few_ticks_each_of_them_whole(top: float) -> None:
    found = ticks(top)
    assert found[0] == 0
    assert top / 2 < found[-1] <= top
    assert 2 <= len(found) <= 8


def test_no_bars_are_still_a_figure() -> None:
    assert parsed(svg(Bars((), "run", "n"), WORDS, name="one")).attrib["viewBox"]


def test_a_flip_is_marked_by_a_word_and_rings_and_dots_differ_without_colour() -> None:
    root = parsed(drawing("places"))
    assert [e.text for e in root.iter() if e.text == WORDS.mark] == [WORDS.mark]
    outlines = [e for e in root.iter() if e.attrib.get("d", "").count("A") >= 2]
    rings = [e for e in outlines if e.attrib.get("fill", "none") in ("none", "transparent")]
    # six places: one has no gap above zero; of the drifts one is not known and one is zero
    assert (len(rings), len(outlines) - len(rings)) == (5, 4)


@pytest.mark.parametrize("places", [(), (Place(0, 0.0, None, marked=False),)])
def test_places_with_nothing_to_draw_are_still_a_figure(places: tuple[Place, ...]) -> None:
    assert parsed(svg(Places(places), WORDS, name="one")).attrib["viewBox"]


@pytest.mark.parametrize(
    ("values", "first", "last"),
    [
        ([], 1.0, 10.0),
        ([1.0], 1.0, 10.0),
        ([0.02, 0.5], 0.01, 1.0),
        ([3e-7, 2.0], 1e-7, 10.0),
        ([1e-30, 7.0], 1e-31, 10.0),
    ],
)
def test_decades_hold_every_value_in_few_steps(
    values: list[float], first: float, last: float
) -> None:
    found = decades(values)
    assert [found[0], found[-1]] == pytest.approx([first, last])
    assert 2 <= len(found) <= 10
    assert found == sorted(found)
