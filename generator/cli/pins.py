"""`receipts pins`: the pins, and what a newer version of one would change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from generator.cli.console import good, say, say_json
from generator.cli.targets import Project, with_json
from generator.errors import InputError, near_miss

if TYPE_CHECKING:
    from generator.pin_types import EnginePin, ModelPin
    from generator.upgrade.wishes import Wish


@click.group("pins", short_help="List the pins, renew one, or pin a llama-server of yours.")
def command() -> None:
    """Look at the pinned engines and models, renew a pin, and pin a llama-server of your own."""


@command.command("list", short_help="Show each pin, and whether what it names is here.")
@with_json
@click.pass_obj
def list_pins(project: Project, as_json: bool) -> None:
    """Show each pin: type, version, size, and whether what it names is here."""
    from generator.models.store import Store
    from generator.pins import load_pins
    from generator.upgrade.overview import overview

    rows = overview(load_pins(project.root), Store.of_user(), project.root)
    if as_json:
        say_json([row.__dict__ for row in rows])
        return
    for row in rows:
        size = f"{row.bytes / 1e6:,.1f} MB" if row.bytes is not None else "?"
        say(f"{row.what} {row.name}: {row.type}, {row.version}, {size}, {row.here}")


@command.command("update", short_help="Show what a newer version would change, and write it.")
@click.argument("name")
@click.option("--version", help="This version of its package, or this build, as in b6543.")
@click.option("--url", help="What lies at this address.")
@click.option("--as", "called", metavar="NAME", help="Write it as a pin of this name.")
@click.option("--yes", is_flag=True, help="Write it, once it was shown.")
@click.pass_obj
def update(
    project: Project,
    *,
    name: str,
    version: str | None,
    url: str | None,
    called: str | None,
    yes: bool,
) -> None:
    """Fetch what pin NAME would be renewed to, digest it, and show what changes.

    Without an option that is the newest version, or what lies at its path or address now. Nothing
    is written without --yes. A name with llama.cpp's build number in it stays with the old build,
    and the new one is pinned beside it.
    """
    from generator.cli.progress import Reporter
    from generator.models.store import Store
    from generator.pin_changes import changes
    from generator.pins import load_pins
    from generator.upgrade.renew import new_name, renewed
    from generator.upgrade.wishes import Bench
    from generator.upgrade.writing import write_changes, write_new

    pins = load_pins(project.root)
    pin = _named(name, {**pins.models, **pins.engines})
    with Reporter() as reporter:
        bench = Bench(project.root, Store.of_user(), reporter)
        new = renewed(pin, _wish(version, url), bench)
    new = new.model_copy(update={"name": called or new_name(pin, new)})
    found = changes(pin, new)
    if not found:
        say(f"{name} is as it is pinned; nothing changes.")
        return
    say(f"{name}:" if new.name == name else f"{name}, as {new.name}:")
    for change in found:
        say(f"  {change}")
    if not yes:
        say("Nothing was written: give the same command with --yes.")
        return
    if new.name == name:
        write_changes(project.root, pin, new)
        say(good(f"{name} is pinned anew."))
        return
    if new.name in {**pins.models, **pins.engines}:
        raise _taken(new.name)
    write_new(project.root, new)
    say(good(f"{new.name} is pinned. {name} stays, since receipts may name it."))
    for file in _naming(project, name):
        say(f"  {file} names {name}; name {new.name} there, and measure again.")


@command.command("add", short_help="Pin a llama-server that you have.")
@click.argument("path")
@click.option("--name", default="my-llama-server", show_default=True, help="The pin's name.")
@click.option("--title", default="my llama-server", show_default=True, help="Shown to readers.")
@click.pass_obj
def add(project: Project, path: str, name: str, title: str) -> None:
    """Pin the llama-server at PATH, or of that name on your PATH, with its libraries.

    It is used where it is. When you build it anew, `receipts run --repin` pins it anew.
    """
    from generator.cli.local import located
    from generator.engines.path import pin_what_is_there
    from generator.models.store import Store
    from generator.pins import load_pins
    from generator.upgrade.writing import write_new

    pins = load_pins(project.root)
    if name in {**pins.models, **pins.engines}:
        raise _taken(name)
    place = located(path)
    inside = place.is_relative_to(project.root)
    shown = place.relative_to(project.root).as_posix() if inside else str(place)
    pin = pin_what_is_there(name, title, shown, Store.of_user(), project.root)
    write_new(project.root, pin)
    say(f"{name}: {pin.version}, sha256 {pin.sha256}, {len(pin.libraries)} libraries")
    say(good(f"{name} is pinned in receipts/pins/engines.yaml; declare it as `engine: {name}`."))


def _wish(version: str | None, url: str | None) -> Wish:
    from generator.upgrade.wishes import Newest, ToAddress, ToVersion

    match version, url:
        case None, None:
            return Newest()
        case str(), None:
            return ToVersion(version)
        case None, str():
            return ToAddress(url)
        case _:
            raise click.UsageError("give --version or --url, not both")


def _named(name: str, pins: Mapping[str, EnginePin | ModelPin]) -> EnginePin | ModelPin:
    from generator.upgrade.wishes import unfit

    if name not in pins:
        raise unfit(name, "there is no such pin", near_miss(name, pins))
    return pins[name]


def _taken(name: str) -> InputError:
    from generator.upgrade.wishes import unfit

    return unfit(
        name, "it is pinned already", "choose another name, or renew it: receipts pins update"
    )


def _naming(project: Project, name: str) -> list[str]:
    from generator.declaration import declaration_paths

    paths = declaration_paths(project.root)
    return [p.relative_to(project.root).as_posix() for p in paths if name in p.read_text("utf-8")]
