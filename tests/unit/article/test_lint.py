"""Tests of the lint of templates: bare numbers, headings, bold, and one skeleton."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.article.lint import lint_article, skeleton
from generator.article.numbers import bare_numbers
from generator.article.page import template_environment
from generator.errors import Fault
from generator.evidence import gather, read_evidence
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
    return lint_article(templates_of(project), read_evidence(project, "small"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))


def page(project: Path, lang: str) -> Path:
    return project / f"templates/articles/small/{lang}.md.j2"


def test_sound_articles_have_no_faults(project: Path) -> None:
    assert lint(project) == []
    for declaration in (ROOT / "receipts").glob("*.yaml"):
        assert lint_article([SHIPPED], read_evidence(ROOT, declaration.stem)) == []


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
    assert skeleton(template_environment([SHIPPED]).parse(source), source) == [
        (1, "h1 #top"),
        (3, "bullet_list"),
        (3, "list_item"),
        (5, "claim('x',)"),
        (7, "table"),
        (7, "tr"),
        (9, "tr"),
    ]


def test_skeletons_that_differ_are_placed_in_both_languages(project: Path) -> None:
    edit(page(project, "zh"), '{{ show("replays") }}', '\n\n## 甲 {#a}\n{{ show("replays") }}')
    faults = lint(project)
    assert [(f.file, f.line) for f in faults] == [("templates/articles/small/en.md.j2", 7)]
    assert "stands where zh.md.j2:9 has 'h2 #a'" in faults[0].problem


WRONG = [
    ('{{ claim("sane") }}', "no claim 'sane' is declared", "did you mean `same`?"),
    ('{{ judged["sane"].holds }}', "no claim 'sane' is declared", "did you mean `same`?"),
    ('{{ show("replay") }}', "no experiment 'replay' is declared", "did you mean `replays`?"),
    ('{{ request("replay") }}', "no experiment 'replay' is declared", "did you mean `replays`?"),
    (
        '{{ receipt_link("replay") }}',
        "no experiment 'replay' is declared",
        "did you mean `replays`?",
    ),
    (
        '{{ fact("runs", "/analysis/asekd") }}',
        "runs.json has no /analysis/asekd: there is no 'asekd' in /analysis",
        "did you mean `asked`?",
    ),
    (
        '{{ facts("runs", "/boot/0/asks") | join }}',
        "runs.json has no /boot/0/asks: there is no 'boot' in the receipt",
        "did you mean `boots`?",
    ),
    (
        '{{ fact("runs", "/boots/7/name") }}',
        "runs.json has no /boots/7/name: there is no '7' in /boots",
        "it is a list of 1, counted from 0",
    ),
    (
        '{{ fact("runs", "/kind/of") }}',
        "runs.json has no /kind/of: there is no 'of' in /kind",
        "it is a single value: point to it",
    ),
    (
        '{{ fact("runs", "/boots") }}',
        "runs.json /boots is no single value",
        "Point to a number, a text, a yes or a no inside it",
    ),
    ('{{ fact("runs", "kind") }}', "'kind' is no JSON pointer", "Location must start with /"),
]


@pytest.mark.parametrize(("source", "problem", "remedy"), WRONG)
@pytest.mark.parametrize("branch", ["{}", "{{% if false %}}\n{}\n{{% endif %}}"])
def test_what_is_not_there_is_named_in_every_branch(
    project: Path, source: str, problem: str, remedy: str, branch: str
) -> None:
    for lang in ("zh", "en"):
        edit(
            page(project, lang),
            '{{ show("replays") }}',
            branch.format(source) + '\n{{ show("replays") }}',
        )
    line = 7 + branch.count("\n") // 2
    assert sorted((f.file, f.line, f.problem, f.remedy) for f in lint(project)) == [
        (f"templates/articles/small/{lang}.md.j2", line, problem, remedy) for lang in ("en", "zh")
    ]


def test_what_is_not_measured_yet_is_no_fault(project: Path) -> None:
    edit(
        page(project, "en"),
        '{{ show("replays") }}',
        '{{ show("replays") }}{{ facts("runs", "/x") }}',
    )
    evidence = read_evidence(project, "small")
    assert lint_article(templates_of(project), evidence) != []
    assert lint_article(templates_of(project), gather(evidence.declaration, {})) == []


def test_facts_of_a_stale_receipt_are_not_looked_up(project: Path) -> None:
    edit(
        page(project, "en"),
        '{{ show("replays") }}',
        '{{ show("replays") }}{{ facts("runs", "/x") }}',
    )
    edit(project / "receipts/small.yaml", "runs: 4", "runs: 5")
    assert list(read_evidence(project, "small").stale) == ["runs"]
    assert lint(project) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('{{ fact("ru" ~ "ns", "/x") }}', "runs.json has no /x: there is no 'x' in the receipt"),
        ("{{ nothing }}", "'nothing' is undefined"),
        ("{{ 1 + 'a' }}", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
        ("{{ fact() }}", "TypeError: Functions.fact() missing 2 required positional arguments"),
        ('{{ partial("nothing") }}', "there is no template templates/partials/nothing.md.j2"),
        ('{{ word("nothing") }}', "no such label"),
    ],
)
def test_what_only_shows_when_it_is_rendered(project: Path, source: str, problem: str) -> None:
    for lang in ("zh", "en"):
        edit(page(project, lang), '{{ show("replays") }}', source + '{{ show("replays") }}')
    faults = lint(project)
    assert {f.problem.startswith(problem) for f in faults} == {True}
    if problem != "no such label":
        assert [(f.file, f.line) for f in sorted(faults)] == [
            (f"templates/articles/small/{lang}.md.j2", 7) for lang in ("en", "zh")
        ]


@pytest.mark.parametrize("key", ["holds", "fails"])
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{{ fact('runs', '/analysis/asekd') }}", "runs.json has no /analysis/asekd"),
        ("{{ nothing(", "unexpected 'end of template'"),
    ],
)
def test_a_sentence_is_looked_up_where_it_stands(
    project: Path, key: str, source: str, problem: str
) -> None:
    path = project / "receipts/small.yaml"
    if key == "holds":
        edit(path, "They repeat.", f'"{source}"')
    else:
        edit(path, "}} repeat.", f"}}}} repeat. {source}")
    faults = lint(project)
    assert {(f.file, f.path) for f in faults} == {
        ("receipts/small.yaml", f"$.claims.same.{key}.en")
    }
    line = next(n for n, s in enumerate(path.read_text().split("\n"), 1) if source in s)
    assert {f.line for f in faults} == {line}
    assert all(f.problem.startswith(problem) for f in faults)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"\xe9", "the byte 0xe9 is not UTF-8"),
        (
            b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n",
            "a merge conflict was left here: <<<<<<<",
        ),
        (b"a\r\n<<<<<<< HEAD\r\nb\r\n", "a merge conflict was left here: <<<<<<<"),
        (b"a\n>>>>>>> other\n", "a merge conflict was left here: >>>>>>>"),
        (b"a \0 b", "a NUL character"),
        (b"a \xe2\x80\x8b b", "the unseen character U+200B"),
    ],
)
def test_a_template_that_is_no_clean_text(project: Path, raw: bytes, problem: str) -> None:
    for lang in ("zh", "en"):
        path = page(project, lang)
        path.write_bytes(raw + path.read_bytes())
    faults = lint(project)
    assert {f.file for f in faults} == {f"templates/articles/small/{x}.md.j2" for x in ("zh", "en")}
    assert problem in {f.problem for f in faults}


def test_tabs_and_line_ends_of_any_kind_are_clean(project: Path) -> None:
    for lang in ("zh", "en"):
        path = page(project, lang)
        path.write_bytes(b"\t<!-- -->\r\n" + path.read_bytes())
    assert lint(project) == []


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
