"""`receipts run`: measure, and write the receipts."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from generator.cli.console import good, note, say
from generator.cli.targets import Project, with_pins, with_targets

if TYPE_CHECKING:
    from generator.receipt import Receipt


SECONDS = click.FloatRange(min=0, min_open=True)


@click.command("run")
@with_targets
@with_pins
@click.option(
    "--llama-server",
    envvar="LLAMA_SERVER",
    metavar="PATH",
    help="This llama-server of yours in place of the first declared engine.",
)
@click.option(
    "--repin",
    is_flag=True,
    help="Pin engines of type path anew where they have changed, showing how.",
)
@click.option(
    "--start-limit",
    type=SECONDS,
    envvar="RECEIPTS_START_LIMIT",
    metavar="SECONDS",
    help="How long a server may take to be ready; by default according to the model's size.",
)
@click.option(
    "--ask-limit",
    type=SECONDS,
    envvar="RECEIPTS_ASK_LIMIT",
    metavar="SECONDS",
    help="How long an answer may take; by default according to its tokens and the model's size.",
)
@click.option(
    "--build",
    "with_site",
    is_flag=True,
    help="Build the site when the first article is measured, and again at the end.",
)
@click.pass_obj
def command(
    project: Project,
    *,
    targets: tuple[str, ...],
    model: str | None,
    engine: str | None,
    every: bool,
    llama_server: str | None,
    repin: bool,
    start_limit: float | None,
    ask_limit: float | None,
    with_site: bool,
) -> None:
    """Measure, and write one receipt for each experiment.

    Fetches and verifies what is pinned, starts servers, and asks what `receipts plan` shows.
    A run that is cut off goes on where it stopped when the same command is given again. The
    receipt of an earlier run stays until the new one is whole.

    Without targets, the first set is measured; --all adds the experiments that are declared for the
    second one. An experiment that declares several models or engines is measured with all of them,
    unless one is named; a pin that it does not declare takes the first one's place.
    """
    from generator.bench import Bench
    from generator.cli.failures import failed_asks
    from generator.cli.local import first_engine, with_own
    from generator.cli.progress import Reporter
    from generator.cli.run_warnings import warn_after, warn_before, warn_of
    from generator.declaration import Override
    from generator.estimate import size_of
    from generator.experiments import plan_experiment
    from generator.limits import Limits
    from generator.lock import locked
    from generator.measure import measure, open_ledger, write_sums
    from generator.models.store import Store
    from generator.pins import load_pins
    from generator.publish import write_matrices
    from generator.upgrade import wishes

    wanted = Override(model, first_engine(engine, llama_server))
    chosen = project.select(targets, wanted, every_variant=every)
    pins = load_pins(project.root)
    plans = [plan_experiment(d.experiments[name]) for d, names in chosen for name in names]
    asks = sum(plan.asks for plan in plans)
    receipts: list[Receipt] = []
    note(f"{size_of(plans)} with a small model on two cores, once everything is here.")
    with Reporter(asks) as reporter, ExitStack() as locks:
        for declaration, _ in chosen:
            locks.enter_context(locked(project.root, declaration.article))
        limits = Limits(start_limit, ask_limit)
        store = Store.of_user()
        used = {boot.engine for plan in plans for boot in plan.boots} if repin else set()
        pins = with_own(pins, llama_server, used, wishes.Bench(project.root, store, reporter))
        bench = Bench(project.root, pins, store, reporter, limits)
        for plan in plans:
            bench.prepare(plan)
        busy = warn_before(plans, bench.host)
        ledgers = [open_ledger(project.root, declaration.article) for declaration, _ in chosen]
        for (declaration, names), ledger in zip(chosen, ledgers, strict=True):
            for name in names:
                resolved = declaration.experiments[name]
                receipts.append(measure(bench, declaration, resolved, reporter, ledger))
                write_sums(project.root, declaration.article)
                warn_of(receipts[-1])
            write_matrices(project.root, declaration)
            if with_site and declaration is chosen[0][0] and len(chosen) > 1:
                _build_early(project, declaration.article)
        for ledger in ledgers:
            ledger.remove()
    if not busy:
        warn_after(receipts)
    failed = failed_asks(receipts, asks)
    if with_site:
        _build(project, project.articles(()))
    if failed is not None:
        raise failed
    say(good(f"Measured {asks} asks; receipts are in receipts/."))


def _build_early(project: Project, article: str) -> None:
    """Build the site as soon as its first article can be read; what is wrong with it can wait."""
    from generator.errors import ReceiptsError

    try:
        _build(project, [article])
    except ReceiptsError as error:
        note(f"warning: the site is not built yet: {error.what}")


def _build(project: Project, articles: list[str]) -> None:
    """Render *articles* and build the site, and say where it is."""
    from generator.publish import render_articles
    from generator.site import build

    render_articles(project.root, project.templates, articles)
    report = build(project.root)
    note(f"{', '.join(articles)}: {report.pages} pages in public/. Look at them: receipts serve")
