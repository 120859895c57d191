"""`receipts plan`: show what a run would ask, without running it."""

from __future__ import annotations

import click

from generator.cli.console import say, say_json
from generator.cli.targets import Project, with_json, with_pins, with_targets


@click.command("plan")
@with_targets
@with_pins
@with_json
@click.pass_obj
def command(
    project: Project,
    *,
    targets: tuple[str, ...],
    model: str | None,
    engine: str | None,
    every: bool,
    as_json: bool,
) -> None:
    """Show the boots and asks of a run, and each plan's digest."""
    from generator.declaration import Override
    from generator.estimate import estimate_s, size_of
    from generator.experiments import plan_experiment

    plans = [
        plan_experiment(declaration.experiments[name])
        for declaration, names in project.select(
            targets, Override(model, engine), every_variant=every
        )
        for name in names
    ]
    if as_json:
        say_json(
            [
                {**plan.as_json(), "sha256": plan.sha256, "estimate_s": round(estimate_s(plan))}
                for plan in plans
            ]
        )
        return
    for plan in plans:
        name = f"{plan.article}/{plan.experiment} ({plan.kind})"
        say(f"{name}: {plan.asks} asks, plan {plan.sha256[:12]}")
        for boot in plan.boots:
            say(f"  boot {boot.name}: {boot.engine}, {boot.model}, -ub {boot.server.n_ubatch}")
            for ask in boot.asks:
                say(f"    ask {ask.name}: {ask.endpoint}, {ask.cache}")
    say(f"{size_of(plans)} with a small model on two cores.")
