"""The user's own llama-server in a run: one that no pin names, and pins of one that was rebuilt."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from generator.cli.console import note

if TYPE_CHECKING:
    from generator.pins import Pins
    from generator.upgrade.wishes import Bench


def located(given: str) -> Path:
    """Return where a program is that was given by its path or, without a slash, by its name."""
    found = None if "/" in given else shutil.which(given)
    return Path(found or given).expanduser().absolute()


def first_engine(engine: str | None, llama_server: str | None) -> str | None:
    """Return the pin that takes the place of the first declared engine, if one does.

    Args:
        engine: A pin that was asked for.
        llama_server: A program that was.
    """
    from generator.pin_types import LOCAL_ENGINE

    if llama_server and engine:
        raise click.UsageError("give --engine or LLAMA_SERVER (--llama-server), not both")
    return LOCAL_ENGINE if llama_server else engine


def with_own(pins: Pins, llama_server: str | None, renew: set[str], bench: Bench) -> Pins:
    """Add the user's own llama-server to the pins, and renew those pins that may be.

    Args:
        pins: The pins as they are in their files.
        llama_server: A program that no pin names.
        renew: Engines to pin anew if they lie at a path and have changed.
        bench: Where to work.

    Raises:
        FetchError: One is not there.
        EngineError: One cannot be run, or is no llama-server.
        InputError: The pins' file cannot be edited.
    """
    if llama_server:
        pins = _with_local(pins, llama_server, bench)
    return _repinned(pins, renew, bench)


def _with_local(pins: Pins, given: str, bench: Bench) -> Pins:
    from generator.engines.path import pin_what_is_there
    from generator.pin_types import LOCAL_ENGINE

    path = str(located(given))
    pin = pin_what_is_there(LOCAL_ENGINE, "local llama-server", path, bench.store, bench.root)
    note(f"{LOCAL_ENGINE}: {pin.version}, sha256 {pin.sha256}, {len(pin.libraries)} libraries")
    note(f"No pin names it, and the audit will say so; to publish: receipts pins add {given}")
    return replace(pins, engines={**pins.engines, LOCAL_ENGINE: pin})


def _repinned(pins: Pins, used: set[str], bench: Bench) -> Pins:
    from generator.engines.path import pin_what_is_there
    from generator.pin_changes import changes
    from generator.pin_types import LOCAL_ENGINE, PathEngine
    from generator.upgrade.writing import write_changes

    engines = dict(pins.engines)
    for name in sorted(used - {LOCAL_ENGINE}):
        old = pins.engine(name)
        if isinstance(old, PathEngine):
            new = pin_what_is_there(name, old.title, old.path, bench.store, bench.root)
            found = changes(old, new)
            for change in found:
                note(f"{name}: {change}")
            if found:
                write_changes(bench.root, old, new)
            note(f"{name}: {'pinned anew' if found else 'as it is pinned'}")
            engines[name] = new
    return replace(pins, engines=engines)
