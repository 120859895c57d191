"""Checks of receipts: schema, place, declaration, and the analysis recomputed."""

from __future__ import annotations

import os
import re
from pathlib import Path

from generator.audit.derived import check_derived
from generator.audit.findings import Finding, Report, shorten
from generator.audit.pinned import check_pins
from generator.audit.planned import check_plan
from generator.audit.prompts import check_prompts
from generator.declaration import Declaration
from generator.errors import AuditError
from generator.experiments import plan_experiment
from generator.pins import Pins
from generator.plan import Plan
from generator.publish import analyse
from generator.receipt import Receipt, read, receipt_path, render
from generator.staleness import as_run, changes


def check_receipts(
    report: Report, root: Path, declaration: Declaration, pins: Pins
) -> dict[str, Receipt] | None:
    """Check every receipt of an article.

    Returns:
        The receipts by experiment, or None if one cannot be read at all.
    """
    receipts: dict[str, Receipt] = {}
    unreadable = False
    for name in declaration.experiments:
        path = receipt_path(root, declaration.article, name)
        if not os.path.lexists(path):
            continue
        file = path.relative_to(root).as_posix()
        receipt = _read(report, path, file)
        if receipt is None:
            unreadable = True
            continue
        same = path.read_bytes() == render(receipt).encode()
        report.expect(file, "", "written as we write it", expected=True, found=same)
        if check_receipt(
            report, root, file, declaration=declaration, pins=pins, name=name, receipt=receipt
        ):
            receipts[name] = receipt
        else:
            unreadable = True
    return None if unreadable else receipts


def check_receipt(
    report: Report,
    root: Path,
    file: str,
    *,
    declaration: Declaration,
    pins: Pins,
    name: str,
    receipt: Receipt,
) -> bool:
    """Check all that a receipt says, against its declaration, the pins and itself.

    Args:
        report: Where findings go.
        root: The project's root.
        file: How the receipt's file is called in findings.
        declaration: The declaration.
        pins: The pins.
        name: The experiment's name, with the pins of its variant.
        receipt: The receipt.

    Returns:
        Whether it is the receipt that belongs there; if not, nothing else was checked.
    """
    if not _check_place(report, file, declaration, name, receipt):
        return False
    plan = _check_declared(report, file, declaration, receipt)
    check_plan(report, file, plan, receipt)
    check_pins(report, root, file, pins, receipt)
    check_prompts(report, file, receipt)
    check_derived(report, file, receipt)
    _check_analysis(report, file, receipt)
    return True


def _read(report: Report, path: Path, file: str) -> Receipt | None:
    try:
        return read(path, name=file)
    except AuditError as error:
        report.checked += 1
        for line in error.details or (error.what,):
            place = re.match(rf"{re.escape(file)}:? (/[^\s:]*)", line)
            pointer = place[1] if place else ""
            report.findings.append(Finding(file, pointer, "schema", "a receipt", shorten(line)))
        return None


def _check_place(
    report: Report, file: str, declaration: Declaration, name: str, receipt: Receipt
) -> bool:
    """Check that a receipt is the one that belongs where it lies; the rest depends on it."""
    expected = {
        "article": declaration.article,
        "experiment": name,
        "kind": declaration.experiments[name].spec.kind,
    }
    passed = [
        report.expect(
            file, f"/{key}", "lies in its place", expected=value, found=getattr(receipt, key)
        )
        for key, value in expected.items()
    ]
    return all(passed)  # every one was looked at


def _check_analysis(report: Report, file: str, receipt: Receipt) -> None:
    report.expect(
        file,
        "/measured_on",
        "the day on which the run began",
        expected=receipt.started[:10],
        found=receipt.measured_on,
    )
    try:
        fresh: object = analyse(receipt).analysis
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # a response that was tampered with may have any shape
        report.expect(
            file,
            "/boots",
            "the raw responses can be analysed",
            expected=True,
            found=f"{type(error).__name__}: {error}",
        )
        return
    report.expect_json(
        file,
        "/analysis",
        "analysis recomputed from the raw responses",
        expected=fresh,
        found=receipt.analysis,
    )


def _check_declared(report: Report, file: str, declaration: Declaration, receipt: Receipt) -> Plan:
    """Check that nothing which a measurement fixes was changed since; wording may have been."""
    report.checked += 1
    for change in changes(declaration, receipt.experiment, receipt):
        pointer = "/plan_sha256" if change.kind == "setting" else f"/claims/{change.name}"
        check = f"measured as {declaration.file} declares it now: {change}"
        report.expect(file, pointer, check, expected=change.now, found=change.was)
    resolved = as_run(declaration.experiments[receipt.experiment], receipt)
    report.expect_json(
        file,
        "/declaration/experiment",
        f"the experiment as {declaration.file} declares it",
        expected=resolved.as_json(),
        found=receipt.declaration.experiment,
    )
    plan = plan_experiment(resolved)
    report.expect(
        file,
        "/plan_sha256",
        f"the plan that {declaration.file} expands to",
        expected=plan.sha256,
        found=receipt.plan_sha256,
    )
    return plan
