"""The offline audit: everything committed is checked against what it follows from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from generator.audit.findings import Finding, Report
from generator.audit.pages import check_pages
from generator.audit.receipts import check_receipts
from generator.audit.sums import check_sums
from generator.errors import InputError
from generator.evidence import declare
from generator.pins import load_pins

__all__ = ["Finding", "Report", "audit_article"]


def audit_article(root: Path, templates: Sequence[Path], article: str) -> Report:
    """Audit one article; needs neither engine nor model nor network, and writes nothing.

    Args:
        root: The project's root.
        templates: Folders of templates, searched in order.
        article: The article's name.

    Returns:
        What was checked and every finding; a file too broken to be read is a finding too.
    """
    report = Report()
    try:
        declaration = declare(root, article)
        pins = load_pins(root)
    except InputError as error:
        report.faults(error)
        return report
    check_sums(report, root, declaration)
    receipts = check_receipts(report, root, declaration, pins)
    if receipts is not None:
        check_pages(report, root, templates, declaration, receipts)
    return report
