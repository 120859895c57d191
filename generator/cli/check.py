"""`receipts check`: read everything an author wrote and list every fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from generator.cli.console import good, note, say, say_json
from generator.cli.targets import Project, with_json, with_targets

if TYPE_CHECKING:
    from pathlib import Path

    from generator.declaration import Declaration, Experiment, Resolved
    from generator.errors import Fault
    from generator.evidence import Evidence
    from generator.pins import Pins


@click.command("check")
@with_targets
@with_json
@click.pass_obj
def command(project: Project, targets: tuple[str, ...], as_json: bool) -> None:
    """Check all that authors write, and list every fault.

    Each fault comes with its file and line and with what to do about it; nothing is measured.
    """
    from generator.article.lint import lint_article
    from generator.article.numbers import lint_site
    from generator.chat_template_files import template_faults, template_warnings
    from generator.errors import InputError
    from generator.pins import load_pins

    faults = lint_site(project.root)
    pins = None
    try:
        pins = load_pins(project.root)
    except InputError as error:
        faults += error.faults
    try:
        chosen = project.select(targets)
    except InputError as error:
        faults += error.faults
        chosen = []
    for declaration, _ in chosen:
        if pins is not None:
            for experiment in declaration.experiments.values():
                faults += _unpinned(pins, experiment)
        faults += template_faults(project.root, declaration)
        faults += lint_article(project.templates, _evidence(project.root, declaration))
        for line in template_warnings(project.root, declaration):
            note(f"warning: {line}")
    if as_json:
        say_json([fault.__dict__ for fault in sorted(set(faults))])
    if faults:
        raise InputError(faults)
    if not as_json:
        count = sum(len(names) for _, names in chosen)
        say(good(f"{len(chosen)} articles with {count} experiments: no faults."))


def _evidence(root: Path, declaration: Declaration) -> Evidence:
    """Return what was measured; a receipt that cannot be read leaves its article unmeasured."""
    from generator.errors import AuditError
    from generator.evidence import gather, read_receipts

    try:
        return gather(declaration, read_receipts(root, declaration))
    except AuditError as error:
        note(f"warning: what templates say of receipts is not checked: {error.what}")
        return gather(declaration, {})


def _unpinned(pins: Pins, experiment: Resolved[Experiment]) -> Iterator[Fault]:
    """Return the pins that there are not; a sweep may change them from boot to boot."""
    from generator.errors import InputError
    from generator.experiments import plan_experiment

    named = [(boot.engine, boot.model) for boot in plan_experiment(experiment).boots]
    for engine, model in dict.fromkeys([(experiment.engine, experiment.model), *named]):
        try:
            pins.engine(engine)
            pins.model(model)
        except InputError as error:
            yield from error.faults
