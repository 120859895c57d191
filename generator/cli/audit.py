"""`receipts audit`: distrust everything that is committed, offline."""

from __future__ import annotations

import click

from generator.cli.console import good, say, say_json
from generator.cli.targets import Project, with_json, with_targets
from generator.errors import AuditError


@click.command("audit")
@with_targets
@click.option(
    "--site",
    is_flag=True,
    help="Build the site anew too, and compare public/ with it byte for byte.",
)
@with_json
@click.pass_obj
def command(project: Project, targets: tuple[str, ...], site: bool, as_json: bool) -> None:
    """Check receipts and pages offline, without engine or model.

    Checks each receipt's schema and digest, its declaration and plan, recomputes every analysis
    and claim, renders every page again in memory and compares it byte for byte.
    """
    from generator.audit import audit

    report = audit(project.root, project.templates, project.articles(targets))
    if site:
        from generator.audit.site import check_site

        check_site(report, project.root, project.root / "public")
    findings, checked = report.findings, report.checked
    if as_json:
        say_json({"checked": checked, "findings": [finding.__dict__ for finding in findings]})
    if findings:
        raise AuditError(
            f"{len(findings)} of {checked} checks failed.",
            report.remedy,
            [str(finding) for finding in findings],
        )
    if not as_json:
        say(
            good(f"{checked} checks passed: pages follow from receipts, receipts from their plans.")
        )
        say("What an audit cannot see offline is listed in docs/audit.md.")
