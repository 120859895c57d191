"""`receipts fetch`: have the pinned engines and models, verified, before measuring."""

from __future__ import annotations

import click

from generator.cli.console import good, say
from generator.cli.targets import Project, with_targets


@click.command("fetch")
@with_targets
@click.option("--model", "models", multiple=True, help="A pinned model, declared or not.")
@click.option("--engine", help="This pinned engine in place of the first declared one.")
@click.option("--all", "every", is_flag=True, help="Everything that is declared.")
@click.pass_obj
def command(
    project: Project,
    targets: tuple[str, ...],
    models: tuple[str, ...],
    engine: str | None,
    every: bool,
) -> None:
    """Fetch and verify the engines and models that are declared."""
    from generator.bench import Bench
    from generator.cli.progress import Reporter
    from generator.declaration import Override
    from generator.experiments import plan_experiment
    from generator.models.sources import expected, fetch_model
    from generator.models.store import Store
    from generator.pins import load_pins

    pins, store = load_pins(project.root), Store.of_user()
    with Reporter() as reporter:
        bench = Bench(project.root, pins, store, reporter)
        for name in models:
            fetch_model(pins.model(name), store, reporter, root=project.root)
        if not models:
            chosen = project.select(targets, Override(engine=engine), every_variant=every)
            for declaration, names in chosen:
                for name in names:
                    bench.prepare(plan_experiment(declaration.experiments[name]))
    for name, (_, record) in bench.engines.items():
        say(f"{name}: {record.version}, {len(record.files)} files verified")
    for pin in [pins.model(name) for name in (*bench.models, *models)]:
        for file in pin.files:
            say(f"{expected(pin, file).label}: {file.bytes:,} bytes, sha256 {file.sha256}")
    say(good("Everything that was asked for is here and verified."))
