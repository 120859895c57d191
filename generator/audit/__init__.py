"""The offline audit: everything committed is checked against what it follows from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from generator.audit.findings import Finding, Report
from generator.audit.pages import check_pages
from generator.audit.project import check_project
from generator.audit.receipts import check_receipts
from generator.audit.sums import check_sums
from generator.errors import AuditError, InputError
from generator.evidence import Evidence, articles, declare, gather, read_evidence
from generator.pins import load_pins

__all__ = ["Finding", "Report", "audit"]


def audit(root: Path, templates: Sequence[Path], names: Sequence[str]) -> Report:
    """Audit articles and what they share; needs no engine, model or network, and writes nothing.

    Args:
        root: The project's root.
        templates: Folders of templates, searched in order.
        names: The articles.

    Returns:
        What was checked and every finding; a file too broken to be read is a finding too.
    """
    report = Report()
    read = {name: _audit_article(report, root, templates, name) for name in names}
    try:
        others = {n: read_evidence(root, n) for n in articles(root) if n not in read}
    except (AuditError, InputError):
        return report  # those articles' own audit names what is wrong with them
    found = [evidence for evidence in (read | others).values() if evidence is not None]
    if len(found) == len(read | others):
        check_project(report, root, templates, found)
    return report


def _audit_article(
    report: Report, root: Path, templates: Sequence[Path], article: str
) -> Evidence | None:
    """Audit one article; return its evidence, or None if it cannot be read."""
    try:
        declaration = declare(root, article)
        pins = load_pins(root)
    except InputError as error:
        report.faults(error.faults, "is sound")
        return None
    check_sums(report, root, declaration)
    receipts = check_receipts(report, root, declaration, pins)
    if receipts is None:
        return None
    evidence = gather(declaration, receipts)
    check_pages(report, root, templates, evidence)
    return evidence
