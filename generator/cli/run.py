"""`receipts run`: measure, and write the receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from generator.cli.console import good, note, say
from generator.cli.targets import Project, with_pins, with_targets
from generator.errors import RunError

if TYPE_CHECKING:
    from generator.receipt import Receipt


@click.command("run")
@with_targets
@with_pins
@click.pass_obj
def command(
    project: Project,
    targets: tuple[str, ...],
    model: str | None,
    engine: str | None,
    every: bool,
) -> None:
    """Measure, and write one receipt for each experiment.

    Fetches and verifies what is pinned, starts servers, and asks what `receipts plan` shows.
    A run that is cut off goes on where it stopped when the same command is given again. The
    receipt of an earlier run stays until the new one is whole.

    An experiment that declares several models or engines is measured with the first of each,
    unless others are named; a pin that it does not declare takes the first one's place.
    """
    from generator.cli.progress import Reporter
    from generator.declaration import Override
    from generator.measure import Bench, locked, measure, plan_experiment, write_sums
    from generator.models.store import Store
    from generator.pins import load_pins
    from generator.publish import write_matrices

    chosen = project.select(targets, Override(model, engine), every_variant=every)
    pins = load_pins(project.root)
    asks = sum(plan_experiment(d.experiments[name]).asks for d, names in chosen for name in names)
    failed = 0
    with Reporter(asks) as reporter:
        bench = Bench(project.root, pins, Store.of_user(), reporter)
        for declaration, names in chosen:
            for name in names:
                bench.prepare(plan_experiment(declaration.experiments[name]))
        for declaration, names in chosen:
            with locked(project.root, declaration.article):
                for name in names:
                    receipt = measure(bench, declaration, declaration.experiments[name], reporter)
                    write_sums(project.root, declaration.article)
                    failed += receipt.analysis.get("failed", 0)
                    _warn(name, receipt)
                write_matrices(project.root, declaration)
    if failed:
        raise RunError(
            f"{failed} of {asks} asks failed; the receipts record each one.",
            "Look at the outcomes in receipts/<article>/*.json, then run again.",
        )
    say(good(f"Measured {asks} asks; receipts are in receipts/."))


def _warn(name: str, receipt: Receipt) -> None:
    for boot in receipt.boots:
        for odd in boot.mismatches:
            note(
                f"warning: {name}, boot {boot.name}: {odd.name} was declared "
                f"{odd.declared!r} and is {odd.effective!r}"
            )
