"""`receipts render`: make the pages' Markdown from receipts alone."""

from __future__ import annotations

import click

from generator.cli.console import good, note, say
from generator.cli.targets import Project, with_stale, with_targets


@click.command("render")
@with_targets
@click.option(
    "--reanalyse",
    is_flag=True,
    help="First recompute the analysis in each receipt, after the program has changed.",
)
@with_stale
@click.pass_obj
def command(project: Project, targets: tuple[str, ...], reanalyse: bool, stale: bool) -> None:
    """Render articles in both languages from the receipts alone.

    Needs no engine, no model and no network, and gives the same bytes on any machine. A receipt is
    stale, and refused, if another plan or another condition of a claim was declared since.
    """
    from generator.publish import reanalyse_article, render_articles, unmeasured

    names = project.articles(targets)
    if reanalyse:
        for name in names:
            for path in reanalyse_article(project.root, name):
                say(f"analysed again: {path}")
    written = render_articles(project.root, project.templates, names, stale=stale)
    for name in unmeasured(project.root, names):
        note(f"not measured: {name}")
    say(good(f"Rendered {len(written)} pages of {len(names)} articles below site/."))
