"""Tests of figures: the same bytes everywhere, colours and fonts left to the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.charts import _ticks, specification, svg
from generator.figures import Bar, Bars, Wording

BARS = Bars(
    (Bar("1", 884, marked=True), Bar("2", 12, marked=False), Bar("3", 1234567, marked=False)),
    label="run",
    measure="characters",
)
WORDS = Wording("Thinking", "How long it thought", "characters", "Run {}", "no answer")
HOSTILE = '<script>x</script> & "q" \' ]]> class="k" id="clip9" url(#clip0) #111111 font-family="f"'
PROGRAM = """
from tests.unit.test_figures import BARS, WORDS, svg
print(svg(BARS, WORDS, name="one"), end="")
"""


def parsed(drawing: str) -> ET.Element:
    """Read a drawing of ours."""
    return ET.fromstring(drawing)  # noqa: S314 - made a moment ago, and not by a stranger


@pytest.fixture(scope="module")
def drawn() -> str:
    return svg(BARS, WORDS, name="one")


def test_specification_is_as_it_was(golden: Callable[[str, str], None]) -> None:
    text = json.dumps(specification(BARS, WORDS), indent=1, sort_keys=True, ensure_ascii=False)
    golden("figure-specification.json", text + "\n")


def test_drawing_is_as_it_was(drawn: str, golden: Callable[[str, str], None]) -> None:
    golden("figure.svg", drawn + "\n")


def test_bytes_depend_on_neither_process_nor_installed_fonts(drawn: str, tmp_path: Path) -> None:
    config = tmp_path / "fonts.conf"
    config.write_text(f"<fontconfig><cachedir>{tmp_path}</cachedir></fontconfig>")
    environment = {**os.environ, "FONTCONFIG_FILE": str(config), "HOME": str(tmp_path)}
    again = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
    )
    assert again.stdout.decode() == drawn


def test_drawing_a_second_time_in_one_process_gives_the_same_bytes(drawn: str) -> None:
    assert svg(BARS, WORDS, name="one") == drawn


def test_ids_are_unique_on_a_page_with_two_figures(drawn: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', drawn + svg(BARS, WORDS, name="two"))
    assert len(ids) == len(set(ids))
    assert {name.partition("-")[0] for name in ids} == {"one", "two"}


def test_every_reference_has_its_target(drawn: str) -> None:
    assert set(re.findall(r"url\(#([^)]+)\)", drawn)) <= set(re.findall(r'id="([^"]+)"', drawn))


def test_colours_are_the_page_s(drawn: str) -> None:
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawn))
    assert colours >= {"var(--fig-ink)", "var(--fig-bar)", "var(--fig-accent)", "var(--fig-grid)"}
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


def test_values_are_written_in_full(drawn: str) -> None:
    assert ">1234567<" in drawn
    assert ">884 no answer<" in drawn


def test_axis_of_small_counts_repeats_no_label() -> None:
    small = svg(Bars((Bar("1", 1, marked=False),), "run", "n"), WORDS, name="one")
    labels = re.findall(r"<text[^>]*>(\d+)</text>", small)
    assert sorted(labels) == ["0", "1", "1"]  # two ticks, and the bar's own value


@pytest.mark.parametrize("top", [1, 2, 3, 7, 10, 99, 100, 986, 12345, 1e7])
def test_axis_has_few_ticks_each_of_them_whole(top: float) -> None:
    ticks = _ticks(top)
    assert ticks[0] == 0
    assert top / 2 < ticks[-1] <= top
    assert 2 <= len(ticks) <= 8


def test_no_bars_are_still_a_figure() -> None:
    assert parsed(svg(Bars((), "run", "n"), WORDS, name="one")).attrib["viewBox"]


def test_csv_quotes_what_needs_it() -> None:
    bars = Bars((Bar('a,"b"', 1.5, marked=True), Bar("c", 2000000, marked=False)), "run", "n")
    assert bars.csv() == 'run,n,marked\n"a,""b""",1.5,1\nc,2000000,0\n'
