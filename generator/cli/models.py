"""`receipts models`: the pinned models and what the store has of them."""

from __future__ import annotations

from dataclasses import asdict

import click

from generator.cli.console import good, say, say_json
from generator.cli.targets import Project, with_json
from generator.errors import FetchError


@click.group("models")
def command() -> None:
    """Look at the pinned models, and at the store that keeps them.

    The store is the folder that RECEIPTS_CACHE names, or one in your cache folder. All projects of
    yours share it.
    """


@command.command("list", short_help="Show each pinned model, and whether it is here.")
@with_json
@click.pass_obj
def list_models(project: Project, as_json: bool) -> None:
    """Show each pinned model: size, license, origin, and whether it is here."""
    from generator.models.inventory import survey
    from generator.models.store import Store
    from generator.pins import load_pins

    store = Store.of_user()
    rows = [(p, survey(p, store, project.root)) for p in load_pins(project.root).models.values()]
    if as_json:
        fields = {"name", "title", "license", "quantization"}
        say_json(
            [
                {
                    **pin.model_dump(mode="json", include=fields),
                    "bytes": pin.total_bytes,
                    "here": all(file.state == "here" for file in files),
                    "files": [asdict(file) for file in files],
                }
                for pin, files in rows
            ]
        )
        return
    for pin, files in rows:
        say(f"{pin.name}: {pin.title}, {pin.total_bytes / 1e6:,.1f} MB, {pin.license}")
        for file in files:
            come = f" ({file.have_bytes / 1e6:,.1f} MB)" if file.state == "partial" else ""
            say(f"  {file.state + come:<8} {file.file}, from {', '.join(file.origin)}")


@command.command("verify", short_help="Read again what is here, and compare it with its pin.")
@click.pass_obj
def verify(project: Project) -> None:
    """Read every pinned model and engine that is here again, and compare it with its pin.

    What was remembered of them is not believed. What is not here is said and is no fault.
    """
    from generator.cli.progress import Reporter
    from generator.models.recheck import Absent, Changed, Good, recheck
    from generator.models.store import Store
    from generator.pins import load_pins

    changed, fine = [], 0
    pins, store = load_pins(project.root), Store.of_user()
    with Reporter() as reporter:
        for found in recheck(pins, store, project.root, reporter):
            match found:
                case Absent(name):
                    say(f"absent   {name}")
                case Good(name, size):
                    fine += 1
                    say(f"good     {name} ({size:,} bytes)")
                case Changed(name, error):
                    changed.append(error)
                    say(f"CHANGED  {name}")
    if changed:
        raise FetchError(
            f"{len(changed)} of {len(changed) + fine} are not what was pinned.",
            changed[0].remedy,
            [line for error in changed for line in (error.what, *error.details)],
        )
    say(good(f"{fine} are here, and every byte is as it was pinned."))


@command.command("prune", short_help="Remove from the store what nobody needs.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.pass_obj
def prune(project: Project, dry_run: bool) -> None:
    """Remove from the store what no pin of this project names, and what killed processes left.

    Other projects that share the store fetch again what only they name. A download that was cut
    off stays for a week, so that it can be resumed; what a process is working on always stays.
    """
    from generator.models.prune import leftovers, remove
    from generator.models.store import Store
    from generator.pins import load_pins

    store, freed = Store.of_user(), 0
    for left in leftovers(store, load_pins(project.root)):
        if dry_run or remove(store, left):
            freed += left.bytes
            path = left.path.relative_to(store.root)
            say(f"{left.bytes:>15,} bytes  {path}: {left.why}")
    say(good(f"{freed:,} bytes {'would be freed' if dry_run else 'freed'} in {store.root}."))


@command.command("where", short_help="Print the path of the store or of a model.")
@click.argument("name", required=False)
@click.pass_obj
def where(project: Project, name: str | None) -> None:
    """Print the folder of the store, or the path of one pinned model."""
    from generator.models.inventory import place_of
    from generator.models.store import Store
    from generator.pins import load_pins

    store = Store.of_user()
    if name is None:
        say(str(store.root))
        return
    place = place_of(load_pins(project.root).model(name), store, project.root)
    if place is None:
        raise FetchError(f"{name} is not here.", f"receipts fetch --model {name}")
    say(str(place))
