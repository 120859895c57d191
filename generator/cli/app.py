"""The commands by name, and what all of them share."""

from __future__ import annotations

from pathlib import Path

import click

from generator import __version__
from generator.cli import (
    audit,
    bug_report,
    build,
    check,
    doctor,
    fetch,
    hunt,
    listing,
    models,
    pins,
    plan,
    render,
    run,
    serve,
)
from generator.cli.targets import Project

HELP = """Publish articles about local LLMs whose every number traces to a raw measurement.

\b
Measure and build:   receipts run && receipts build
See what would run:  receipts plan
Distrust a page:     receipts audit
"""
EPILOG = """\b
A target is an article (why-outputs-differ) or one of its experiments
(why-outputs-differ/five-runs); without one, everything is meant.

\b
Exit codes: 0 all well · 1 a fault of this program · 2 wrong usage ·
3 faulty input · 4 a pinned file could not be had · 5 the engine ·
6 failed asks, or a run that could not begin · 7 the audit failed ·
8 pages could not be made · 130 interrupted · 141 nobody reads the output
"""


@click.group(
    help=HELP,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="The project's folder; the current one by default.",
)
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
@click.version_option(__version__, prog_name="receipts")
@click.pass_context
def app(context: click.Context, root: Path, debug: bool) -> None:  # noqa: ARG001
    """Keep what all commands share."""
    context.obj = Project(root.resolve())


MODULES = (
    *(check, plan, run, render, build, audit, fetch, models, pins, doctor, listing, serve),
    *(bug_report, hunt),
)
for module in MODULES:
    app.add_command(module.command)
