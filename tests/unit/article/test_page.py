"""Tests of pages: golden Markdown, the same bytes again, and what a template may not do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from generator.article import LANGUAGES, Language, render_index, render_page
from generator.article.functions import Functions
from generator.article.page import reading_minutes
from generator.errors import InputError, SiteError
from generator.evidence import declare, gather, read_evidence
from generator.publish import pages, reanalyse_article, render_articles
from generator.receipt import read, receipt_path, render
from tests.project import templates_of

PROGRAM = """
import sys
from pathlib import Path
from generator.article import render_page
from generator.evidence import read_evidence
from tests.project import templates_of
root = Path(sys.argv[1])
page = render_page(templates_of(root), read_evidence(root, "small"), "zh")
sys.stdout.buffer.write(page.encode())
"""
ANCHOR = '{{ show("replays") }}'


def rendered(project: Path, lang: Language = "en") -> str:
    return render_page(templates_of(project), read_evidence(project, "small"), lang)


def put(project: Path, source: str) -> None:
    """Put *source* into both templates of the article."""
    for lang in LANGUAGES:
        path = project / f"templates/articles/small/{lang}.md.j2"
        text = path.read_text()
        assert ANCHOR in text
        path.write_text(text.replace(ANCHOR, f"{source}\n\n{ANCHOR}"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_page_is_as_it_was(
    measured: Path, lang: Language, golden: Callable[[str, str], None]
) -> None:
    golden(f"small.{lang}.md", rendered(measured, lang))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_index_is_as_it_was(
    measured: Path, lang: Language, golden: Callable[[str, str], None]
) -> None:
    evidence = read_evidence(measured, "small")
    golden(f"index.{lang}.md", render_index(templates_of(measured), [evidence], lang))


def test_another_process_renders_the_same_bytes(measured: Path) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", PROGRAM, str(measured)]
    again = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert again.stdout.decode() == rendered(measured, "zh")


def test_page_that_has_not_changed_is_left_alone(project: Path) -> None:
    page = project / "site/en/articles/small.md"
    before = page.stat().st_mtime_ns
    written = render_articles(project, templates_of(project), ["small"])
    assert page in written
    assert page.stat().st_mtime_ns == before
    page.write_text("old")
    render_articles(project, templates_of(project), ["small"])
    assert page.read_text() == rendered(project)


def test_pages_are_articles_and_lists_in_both_languages(measured: Path) -> None:
    found = pages(measured, templates_of(measured), ["small"])
    assert {path.relative_to(measured).as_posix() for path in found} == {
        f"site/{lang}/articles/{name}.md" for lang in LANGUAGES for name in ("small", "index")
    }


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('{{ fact("runs", "/analysis/nothing") }}', "runs.json has no /analysis/nothing"),
        ('{{ fact("runs", "/analysis/runs") }}', "no single value"),
        ('{{ fact("run", "/analysis/asked") }}', "did you mean `runs`?"),
        ('{{ show("replay") }}', "did you mean `replays`?"),
        ('{{ request("zzz") }}', "no experiment 'zzz' is declared"),
        ('{{ receipt_link("zzz") }}', "no experiment 'zzz' is declared"),
        ('{{ claim("sane") }}', "no claim 'sane' is declared"),
        ('{{ judged["sane"].holds }}', "'dict object' has no attribute 'sane'"),
        ("{{ nothing }}", "'nothing' is undefined"),
        ("{% if %}", "Expected an expression"),
        ("{{ 1 + 'a' }}", "TypeError: unsupported operand"),
        ("{{ 'a' | round }}", "TypeError: "),
        ("{{ fact() }}", "TypeError: "),
        ('{{ partial("nothing") }}', "there is no template templates/partials/nothing.md.j2"),
        ('{% include "../x.md.j2" %}', "there is no template templates/../x.md.j2"),
    ],
)
def test_templates_that_speak_of_nothing(project: Path, source: str, said: str) -> None:
    put(project, source)
    with pytest.raises(InputError) as raised:
        rendered(project)
    (fault,) = raised.value.faults
    assert (fault.file, fault.line) == ("templates/articles/small/en.md.j2", 7)
    assert said in str(fault)


def test_a_fault_of_ours_is_none_of_a_template(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Functions, "receipt_href", lambda *_: 1 + "a")  # type: ignore[operator]
    with pytest.raises(TypeError):
        rendered(project)


def test_analysis_of_another_program_names_the_remedy(project: Path) -> None:
    path = receipt_path(project, "small", "runs")
    path.write_text(path.read_text().replace('"outlier"', '"outlyer"'))
    with pytest.raises(SiteError) as raised:
        rendered(project)
    assert "/analysis/outlyer" in str(raised.value)
    assert "--reanalyse" in raised.value.remedy
    assert reanalyse_article(project, "small") == ["receipts/small/runs.json"]
    assert rendered(project) == (project / "site/en/articles/small.md").read_text()


def test_reanalysing_what_is_fresh_changes_nothing(project: Path) -> None:
    assert reanalyse_article(project, "small") == []


def test_index_is_told_of_the_newest_first(measured: Path, tmp_path: Path) -> None:
    (tmp_path / "index.md.j2").write_text("{% for e in articles %}{{ e.article }} {% endfor %}")
    old = read_evidence(measured, "small")
    receipts = {
        name: receipt.model_copy(update={"measured_on": "2030-01-01"})
        for name, receipt in old.receipts.items()
    }
    declaration = declare(measured, "small")
    other = replace(declaration, article="another")
    folders = [tmp_path, *templates_of(measured)]
    page = render_index(folders, [old, gather(other, receipts)], "en")
    assert page == "another small\n"


@pytest.mark.parametrize(
    ("body", "minutes"),
    [
        ("", 1),
        ("word " * 690, 3),
        ("字" * 800, 2),
        ("```\n" + "word " * 690 + "\n```", 1),
        ("<table>" + "word " * 690 + "</table>", 1),
    ],
)
def test_reading_minutes(body: str, minutes: int) -> None:
    assert reading_minutes(body) == minutes


def test_own_templates_win_over_shipped_ones(project: Path) -> None:
    path = project / "templates/partials/unmeasured.md.j2"
    path.parent.mkdir()
    path.write_text("our own words")
    assert "our own words" in rendered(project)


def test_render_is_the_inverse_of_read(measured: Path) -> None:
    path = receipt_path(measured, "small", "widths")
    assert render(read(path, name="x")) == path.read_text()
