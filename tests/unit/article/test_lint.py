"""Tests of the lint of templates: bare numbers, headings, bold, and one skeleton."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.article.lint import bare_numbers, lint_article, skeleton
from generator.errors import Fault
from generator.evidence import declare
from tests.project import ROOT, SHIPPED, templates_of


def found(source: str) -> list[str]:
    return [fault.problem.split("'")[1] for fault in bare_numbers(source, "x.md.j2")]


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("3/3 agree", ["3", "3"]),
        ("-ub 512 of old", ["512"]),
        ("6.18 tok/s", ["6.18"]),
        ("12% more", ["12"]),
        ("1,024 tokens", ["1,024"]),
        ("问了5次", ["5"]),
        ("token数为3", ["3"]),
        ("全角５", ["５"]),
        ("3 < 5 and 6 > 2", ["3", "5", "6", "2"]),
        ("`````\n```\n1\n```\n`````\n9", ["9"]),
        ("{{ fact('a', '/b/0') }} and 4", ["4"]),
    ],
)
def test_bare_numbers_are_caught(source: str, numbers: list[str]) -> None:
    assert found(source) == numbers


@pytest.mark.parametrize(
    "source",
    [
        "Q4_1 and SmolLM2-135M and Qwen3-4B",
        "`-ub 512`",
        "```bash\nseed 42\n```",
        "````\n```\n42\n```\n````",
        "[the list](../x/2.md)",
        "## Heading {#part-2}",
        "{{ show('five-2') }}",
        "{% if x > 1 %}\n{% endif %}",
        "{% if x\n > 1 %}",
        '<a href="p04.txt">a</a>',
        "{## a note of 3 words ##}",
        "no number",
    ],
)
def test_settings_names_and_addresses_are_not(source: str) -> None:
    assert found(source) == []


def test_bare_number_is_placed() -> None:
    fault = bare_numbers("one\n{{ a }} is 42\n", "x.md.j2")[0]
    assert (fault.file, fault.line, fault.column) == ("x.md.j2", 2, 12)


def lint(project: Path) -> list[Fault]:
    return lint_article(templates_of(project), declare(project, "small"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))


def page(project: Path, lang: str) -> Path:
    return project / f"templates/articles/small/{lang}.md.j2"


def test_sound_articles_have_no_faults(project: Path) -> None:
    assert lint(project) == []
    for declaration in (ROOT / "receipts").glob("*.yaml"):
        assert lint_article([SHIPPED], declare(ROOT, declaration.stem)) == []


def test_missing_template(project: Path) -> None:
    page(project, "en").unlink()
    assert [(f.file, f.problem) for f in lint(project)] == [
        ("templates/articles/small/en.md.j2", "there is no such template")
    ]


@pytest.mark.parametrize("heading", ["## 没有", "没有\n---"])
def test_heading_without_id(project: Path, heading: str) -> None:
    for lang in ("zh", "en"):
        edit(
            page(project, lang), '{{ show("replays") }}', f"{heading}\n\n{{{{ show('replays') }}}}"
        )
    faults = lint(project)
    assert {f.problem for f in faults} == {"the heading '没有' has no id"}
    assert {f.line for f in faults} == {7}


def test_comment_in_a_code_block_is_no_heading(project: Path) -> None:
    for lang in ("zh", "en"):
        edit(page(project, lang), '{{ show("replays") }}', "```bash\n# not a heading\n```")
    assert lint(project) == []


def test_bold_that_renderers_disagree_on(project: Path) -> None:
    edit(page(project, "zh"), '{{ show("replays") }}', '**结论。**所以\n{{ show("replays") }}')
    assert [(f.line, f.problem.split("'")[1]) for f in lint(project)] == [(7, "**结论。**所")]


@pytest.mark.parametrize(
    ("both", "english"),
    [
        ("## 甲 {#same}", "## A {#other}"),
        ("- a\n- b", "- a"),
        ("1. a\n2. b", "- a\n- b"),
        ("| a |\n|---|\n| b |\n| c |", "| a |\n|---|\n| b |"),
        ('{{ claim("differ") }} {{ claim("same") }}', '{{ claim("same") }} {{ claim("differ") }}'),
        ('{{ fact("runs", "/analysis/asked") }}', '{{ fact("runs", "/analysis/failed") }}'),
        ('{{ claim("same") }}\n\n## 甲 {#a}', '## A {#a}\n\n{{ claim("same") }}'),
        (
            '{% if judged["same"].holds %}\na\n{% endif %}',
            '{% if judged["differ"].holds %}\na\n{% endif %}',
        ),
        ("```bash\na\n```", "a"),
    ],
)
def test_skeletons_that_differ(project: Path, both: str, english: str) -> None:
    anchor = '{{ show("replays") }}'
    for lang in ("zh", "en"):
        edit(page(project, lang), anchor, f"{both}\n\n{anchor}")
    assert "skeleton" not in "".join(f.problem for f in lint(project))
    edit(page(project, "en"), both, english)
    assert "skeleton" in "".join(f.problem for f in lint(project))


def test_skeleton_names_headings_tables_and_calls() -> None:
    source = '# T {#top}\n\n- a\n\n{{ claim("x") }}\n\n| a |\n|---|\n| b |\n'
    assert skeleton([SHIPPED], source) == [
        "h1 #top",
        "bullet_list",
        "list_item",
        "claim('x',)",
        "table",
        "tr",
        "tr",
    ]


def test_template_that_does_not_parse(project: Path) -> None:
    edit(page(project, "zh"), '{{ show("replays") }}', "{% if %}")
    assert {(f.file, f.line) for f in lint(project)} == {("templates/articles/small/zh.md.j2", 7)}


@pytest.mark.parametrize("key", ["topic", "holds", "fails", "differs"])
def test_sentences_of_claims_are_linted_where_they_stand(project: Path, key: str) -> None:
    path = project / "receipts/small.yaml"
    old = {
        "topic": "Replays repeat",
        "holds": "They repeat.",
        "fails": "Only {{",
        "differs": "This one is made up.",
    }[key]
    edit(path, old, f"77 {old}")
    line = next(n for n, s in enumerate(path.read_text().split("\n"), 1) if f"77 {old}" in s)
    fault = lint(project)[0]
    assert (fault.file, fault.line) == ("receipts/small.yaml", line)
    assert fault.path == f"$.claims.same.{key}.en"
