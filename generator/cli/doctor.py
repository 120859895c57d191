"""`receipts doctor`: what this machine lacks, each with a remedy."""

from __future__ import annotations

import os

import click

from generator.cli.console import say, say_json
from generator.cli.targets import Project, with_json
from generator.errors import RunError


@click.command("doctor")
@with_json
@click.pass_obj
def command(project: Project, as_json: bool) -> None:
    """Look at this machine, and say what to do about each lack.

    Looks at engines and the instructions that they were built for, compiler, threads, memory, disk,
    load, governor, clock, git, browser, fonts and proxies.
    """
    from generator.doctor import diagnose, needs_of
    from generator.doctor.look import look
    from generator.evidence import read_receipts
    from generator.pins import load_pins

    declarations = [declaration for declaration, _ in project.select(())]
    pins = load_pins(project.root)
    view = look(project.root, pins, declarations, os.environ)
    receipts = [r for d in declarations for r in read_receipts(project.root, d).values()]
    found = list(diagnose(needs_of(pins, declarations, receipts, view.host.arch), view))
    if as_json:
        say_json([diagnosis.__dict__ for diagnosis in found])
    else:
        for diagnosis in found:
            say(f"{diagnosis.verdict:<8} {diagnosis.name}: {diagnosis.found}")
            if diagnosis.verdict != "good":
                say(f"         → {diagnosis.remedy}")
    bad = [diagnosis.name for diagnosis in found if diagnosis.verdict == "bad"]
    if bad:
        raise RunError(f"This machine is not fit: {', '.join(bad)}.", "See the remedies above.")
