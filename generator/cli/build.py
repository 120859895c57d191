"""`receipts build`: render and build the site."""

from __future__ import annotations

import click

from generator.cli.console import good, note, say
from generator.cli.targets import Project, with_stale


@click.command("build")
@with_stale
@click.pass_obj
def command(project: Project, stale: bool) -> None:
    """Render all articles and build the site into public/."""
    from generator.publish import render_articles, unmeasured
    from generator.site import build

    names = project.articles(())
    render_articles(project.root, project.templates, names, stale=stale)
    for name in unmeasured(project.root, names):
        note(f"not measured: {name}")
    note("Building the site in both languages …")
    report = build(project.root)
    say(
        good(f"{report.pages} pages, {report.size / 1e6:.1f} MB, in {report.seconds:.1f} s: ")
        + "public/index.html (zh), public/en/index.html (en). Look at them: receipts serve"
    )
