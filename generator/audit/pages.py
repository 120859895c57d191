"""Checks of pages: rendered again in memory and compared, every fact's link resolved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from jsonpointer import JsonPointerException, resolve_pointer

from generator.article import LANGUAGES, page_path, render_page
from generator.article.lint import lint_article
from generator.audit.findings import CRLF, NOTHING, Report
from generator.errors import InputError, SiteError
from generator.evidence import Evidence
from generator.matrix import SUFFIX, matrix_path, render_matrix

_FACT = re.compile(r'class="fact" href="[./]*receipts/([^/"]+)/([^/"]+)\.json#([^"]*)"')


def check_pages(
    report: Report,
    root: Path,
    templates: Sequence[Path],
    evidence: Evidence,
) -> None:
    """Check an article's templates, its pages in both languages, and its matrices."""
    report.faults(lint_article(templates, evidence), "the templates have no faults")
    _check_matrices(report, root, evidence)
    for lang in LANGUAGES:
        path = page_path(root, evidence.declaration.article, lang)
        file = path.relative_to(root).as_posix()
        if not report.expect(file, "", "the page exists", expected=True, found=path.is_file()):
            continue
        committed = text_of(path)
        try:
            check_text(report, file, render_page(templates, evidence, lang), committed)
        except (InputError, SiteError) as error:
            report.expect(file, "", "can be rendered", expected="a page", found=str(error))
        _check_facts(report, file, committed, evidence)


def text_of(path: Path) -> str:
    """Read a page byte for byte: line ends as they are, and what is no UTF-8 as such."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def check_text(report: Report, file: str, expected: str, found: str) -> None:
    """Compare a page byte for byte; name the first line that differs."""
    if expected != found and expected == found.replace("\r\n", "\n"):
        report.expect(file, "", "line ends are as written", expected="LF", found=CRLF)
        return
    lines = zip_longest(expected.split("\n"), found.split("\n"), fillvalue=NOTHING)
    for number, (should, does) in enumerate(lines, start=1):
        if should != does:
            column = _column(should, does)
            report.expect(
                file,
                f"line {number}, column {column + 1}",
                "rendered again from the receipts",
                expected=_around(should, column),
                found=_around(does, column),
            )
            return
    report.checked += 1


def _column(left: object, right: object) -> int:
    pairs = enumerate(zip(str(left), str(right), strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(str(left)), len(str(right))))


def _around(line: object, column: int) -> object:
    return line[max(0, column - 30) : column + 30] if isinstance(line, str) else line


def _check_matrices(report: Report, root: Path, evidence: Evidence) -> None:
    for experiment, matrix in evidence.matrices.items():
        path = matrix_path(root, evidence.declaration.article, experiment)
        file = path.relative_to(root).as_posix()
        text = text_of(path) if path.is_file() else ""
        check_text(report, file, render_matrix(matrix), text)


def _check_facts(report: Report, file: str, page: str, evidence: Evidence) -> None:
    data = {name: receipt.model_dump(mode="json") for name, receipt in evidence.receipts.items()}
    for name, matrix in evidence.matrices.items():
        data[name + SUFFIX] = matrix.model_dump(mode="json")
    for number, line in enumerate(page.split("\n"), start=1):
        for _, experiment, pointer in _FACT.findall(line):
            try:
                resolve_pointer(data[experiment], pointer)
                found: object = "something"
            except (KeyError, JsonPointerException):
                found = NOTHING
            report.expect(
                file,
                f"line {number}",
                f"the fact {experiment}.json#{pointer} resolves",
                expected="something",
                found=found,
            )
