"""Checks of a project as a whole: nothing undeclared is published, no number is written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from generator.article import LANGUAGES, page_path, render_index
from generator.article.numbers import lint_site
from generator.audit.findings import Report
from generator.audit.pages import check_text, text_of
from generator.chat_template_files import chat_template_path
from generator.declaration import Declaration
from generator.errors import InputError
from generator.evidence import Evidence
from generator.matrix import matrix_path
from generator.pins import ENGINES_FILE, MODELS_FILE
from generator.published import published
from generator.receipt import receipt_path


def check_project(
    report: Report, root: Path, templates: Sequence[Path], all_evidence: Sequence[Evidence]
) -> None:
    """Check what belongs to no single article.

    Args:
        report: Where findings go.
        root: The project's root.
        templates: Folders of templates, searched in order.
        all_evidence: Every article's declaration and receipts.
    """
    report.faults(lint_site(root), "what is written by hand holds no measured number")
    declarations = [evidence.declaration for evidence in all_evidence]
    known = {path for declaration in declarations for path in _declared(root, declaration)}
    known |= {root / ENGINES_FILE, root / MODELS_FILE}
    names = ["index", *(declaration.article for declaration in declarations)]
    known |= {page_path(root, name, lang) for name in names for lang in LANGUAGES}
    pages = [path for lang in LANGUAGES for path in page_path(root, "x", lang).parent.glob("*")]
    for path in sorted([*published(root), *pages]):
        file = path.relative_to(root).as_posix()
        report.expect(
            file, "", "nothing is published undeclared", expected=True, found=path in known
        )
    for lang in LANGUAGES:
        path = page_path(root, "index", lang)
        file = path.relative_to(root).as_posix()
        try:
            text = render_index(templates, all_evidence, lang)
        except InputError as error:
            report.faults(error.faults, "can be rendered")
            continue
        check_text(report, file, text, text_of(path) if path.is_file() else "")


def _declared(root: Path, declaration: Declaration) -> Iterator[Path]:
    """Yield every file that a declaration stands for or names."""
    receipts, article = root / "receipts", declaration.article
    yield root / declaration.file
    yield receipts / article / "SHA256SUMS"
    for name in declaration.experiments:
        yield receipt_path(root, article, name)
    for name in declaration.firsts:
        yield matrix_path(root, article, name)
    for text in _texts(declaration.document.data):
        yield receipts / text.strip()
        yield root / text.strip()
        yield chat_template_path(root, text)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
        case str():
            yield value
