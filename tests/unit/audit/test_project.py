"""What an audit says of a project as a whole, and that its advice fits what it found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from generator.audit import Finding, audit
from generator.audit.findings import Report
from generator.audit.site import check_site
from generator.errors import Fault
from generator.measure import write_sums
from generator.publish import render_articles
from generator.site import build
from tests.project import ROOT, templates_of


def found(project: Path) -> list[Finding]:
    return audit(project, templates_of(project), ["small"]).findings


def report(project: Path) -> Report:
    return audit(project, templates_of(project), ["small"])


@pytest.mark.parametrize(
    "file",
    [
        "receipts/gone/x.json",
        "receipts/gone/SHA256SUMS",
        "receipts/small/extra.json",
        "receipts/small/runs@other.json",
        "receipts/pins/others.yaml",
        "receipts/prompts/unused.txt",
        "receipts/chat-templates/unused.jinja",
        "site/en/articles/ghost.md",
        "site/zh/articles/ghost.md",
        "site/zh/articles/picture.svg",
    ],
)
def test_what_nothing_declares_is_not_published(project: Path, file: str) -> None:
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    write_sums(project, "small")
    assert (file, "nothing is published undeclared") in {(f.file, f.check) for f in found(project)}


@pytest.mark.parametrize("file", ["receipts/small/notes.txt", "receipts/small/.journal/x.json"])
def test_what_is_not_published_needs_no_declaration(project: Path, file: str) -> None:
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    assert found(project) == []


def test_files_that_a_declaration_names_are_declared(project: Path) -> None:
    prompt = project / "receipts/prompts/long.txt"
    prompt.parent.mkdir()
    prompt.write_text("The sky is")
    declaration = project / "receipts/small.yaml"
    text = declaration.read_text()
    assert "prompt: The sky is" in text
    declaration.write_text(
        text.replace("prompt: The sky is", "prompt: {file: prompts/long.txt}", 1)
    )
    assert "receipts/prompts/long.txt" not in {f.file for f in found(project)}


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("site/en/index.md", "# Home {#top}\n\n99 % faster\n", 3),
        ("site/zh/check.md", "快了 99 倍\n", 1),
        ("site/zh/more/deep.md", "快了 99 倍\n", 1),
        ("site/overrides/main.html", "<p class='x1'>\n99 % faster</p>\n", 2),
        ("mkdocs.yml", "site_name: x\nsite_description: 99 % faster\n", 2),
        ("mkdocs.yml", "copyright: 99 % faster\n", 1),
        ("mkdocs.en.yml", "extra:\n  labels:\n    measured: 99 times\n", 3),
        ("mkdocs.en.yml", "theme:\n  palette:\n    - toggle: {name: 99}\n      x: 1\n", 3),
        ("mkdocs.yml", "extra: {a: [x, 99.5]}\n", 1),
    ],
)
def test_a_number_written_by_hand_is_named(project: Path, file: str, text: str, line: int) -> None:
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    named = {(f.file, f.pointer) for f in found(project) if "bare number '99" in f.found}
    assert named == {(file, f"line {line}")}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("site/en/index.md", "1. one\n2. two, as RFC 6901 has it\n\n[x](https://a.b/99) `99`\n"),
        ("site/overrides/main.html", "{# 99 #}<p id='a-99'>{{ x[99] }}</p><!-- 99 -->\n"),
        ("mkdocs.yml", "extra: {link: 'https://a.b/99'}\nplugins: [{toc: {toc_depth: 3}}]\n"),
    ],
)
def test_numbers_that_are_no_measurement(project: Path, file: str, text: str) -> None:
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert found(project) == []


def test_a_configuration_that_is_no_yaml_is_named(project: Path) -> None:
    (project / "mkdocs.yml").write_text("a: 1\nb: [\n")
    assert [(f.file, f.pointer) for f in found(project)] == [("mkdocs.yml", "line 3")]


def test_our_own_pages_are_clean() -> None:
    assert [f for f in audit(ROOT, templates_of(ROOT), []).findings if "/" in f.file] == []


def put_into_templates(project: Path, text: str) -> None:
    for lang in ("zh", "en"):
        path = project / f"templates/articles/small/{lang}.md.j2"
        path.write_text(path.read_text() + text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nOnly 1 of 3 replays repeated.\n", "the bare number '1'"),
        ("\n<<<<<<< HEAD\n", "a merge conflict was left here"),
        ("\n{% if false %}{{ claim('sane') }}{% endif %}\n", "no claim 'sane' is declared"),
    ],
)
def test_a_template_with_a_fault_is_a_finding_though_rendered_again(
    project: Path, text: str, said: str
) -> None:
    if "<<<" not in text:
        put_into_templates(project, text)
        render_articles(project, templates_of(project), ["small"])
    else:
        put_into_templates(project, text)
    named = [f for f in found(project) if f.file == "templates/articles/small/en.md.j2"]
    assert any(said in finding.found for finding in named)


def test_each_article_that_cannot_be_read_leaves_the_others_checked(project: Path) -> None:
    shutil.copy(project / "receipts/small.yaml", project / "receipts/other.yaml")
    (project / "receipts/other.yaml").write_text("title: 1\n")
    assert audit(project, templates_of(project), ["small"]).findings == []
    both = audit(project, templates_of(project), ["small", "other"])
    assert {f.file for f in both.findings} == {"receipts/other.yaml"}


def crlf(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    "file", ["receipts/small/runs.json", "site/en/articles/small.md", "site/zh/articles/index.md"]
)
def test_line_ends_that_git_changed_are_called_so(project: Path, file: str) -> None:
    crlf(project / file)
    done = report(project)
    assert ('"CR LF"') in {f.found for f in done.findings if f.file == file}
    assert "core.autocrlf" in done.remedy


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        ("receipts/small.yaml", "Mend the declaration (receipts check)."),
        ("receipts/pins/models.yaml", "Mend the declaration (receipts check)."),
        (
            "receipts/small/runs.json",
            "Restore the receipts (git checkout -- receipts), or measure again (make receipts).",
        ),
        ("site/en/articles/small.md", "Render the pages again (receipts render)."),
        ("site/en/index.md", "Mend what is named by its line."),
        ("templates/articles/small/en.md.j2", "Mend what is named by its line."),
        ("mkdocs.yml", "Mend what is named by its line."),
        ("public/index.html", "Build the site again (make site)."),
    ],
)
def test_advice_fits_the_file(file: str, remedy: str) -> None:
    done = Report()
    done.faults([Fault(file, 1, 1, "$", "this", "that")], "is sound")
    assert done.remedy == remedy


def test_advice_names_each_kind_once_and_in_order() -> None:
    done = Report()
    for file in ("site/en/articles/a.md", "receipts/a.yaml", "site/zh/articles/a.md"):
        done.faults([Fault(file, 1, 1, "$", "this", "that")], "is sound")
    assert done.remedy == (
        "Mend the declaration (receipts check); render the pages again (receipts render)."
    )


@pytest.fixture(scope="module")
def site(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with a site that was built from it."""
    root = Path(shutil.copytree(measured, tmp_path_factory.mktemp("site") / "project"))
    for name in ("mkdocs.yml", "mkdocs.en.yml"):
        shutil.copy(ROOT / name, root / name)
    (root / "generator").mkdir()
    shutil.copy(ROOT / "generator/site_hook.py", root / "generator/site_hook.py")
    shutil.copytree(ROOT / "site/overrides", root / "site/overrides")
    for lang in ("zh", "en"):
        for page in ("index.md", "check.md"):
            shutil.copy(ROOT / "site" / lang / page, root / "site" / lang / page)
    build(root)
    return root


def site_findings(root: Path) -> list[tuple[str, str]]:
    done = Report()
    check_site(done, root, root / "public")
    assert done.checked > 20
    return [(f.file, f.check) for f in done.findings]


def test_a_site_that_was_just_built_is_as_built_anew(site: Path) -> None:
    (site / "public/CNAME").write_text("example.org\n")
    assert site_findings(site) == []


@pytest.mark.parametrize(
    "file",
    [
        "index.html",
        "receipts/small/runs.json",
        "receipts/small/SHA256SUMS",
        "en/articles/small/index.html",
        "search/search_index.json",
        "sitemap.xml.gz",
        "assets/receipts.css",
    ],
)
@pytest.mark.parametrize("change", ["altered", "removed"])
def test_a_published_file_that_is_not_ours_is_named(site: Path, file: str, change: str) -> None:
    path = site / "public" / file
    before = path.read_bytes()
    try:
        path.write_bytes(before + b" ") if change == "altered" else path.unlink()
        assert site_findings(site) == [(f"public/{file}", "as it is built anew")]
    finally:
        path.write_bytes(before)


def test_a_published_file_that_no_build_wrote_is_named(site: Path) -> None:
    ghost = site / "public/en/ghost.html"
    ghost.write_text("x")
    try:
        assert site_findings(site) == [("public/en/ghost.html", "as it is built anew")]
    finally:
        ghost.unlink()


def test_a_site_that_cannot_be_built_is_a_finding(site: Path) -> None:
    config = site / "mkdocs.yml"
    before = config.read_text()
    config.write_text(before + "plugins: [nothing]\n")
    done = Report()
    check_site(done, site, site / "public")
    config.write_text(before)
    assert [(f.check, f.expected) for f in done.findings] == [("can be built", '"a site"')]
