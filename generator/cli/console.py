"""What the command line writes: results to stdout, progress and complaints to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console


def say(text: str = "") -> None:
    """Print a line of a result."""
    click.echo(text)


def say_json(value: Any) -> None:
    """Print a result for a machine."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """Print a line of progress to stderr; what cannot be seen in it is shown escaped.

    Lines quote files and servers, which may hold terminal sequences.
    """
    click.echo(_visible(text), err=True)


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def colour() -> bool:
    """Whether colours are wanted on stderr."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")


def complain(what: str, remedy: str, details: Sequence[str] = ()) -> None:
    """Print what went wrong, its details and its remedy to stderr."""
    for line in details:
        note(f"  {line}")
    shown = _visible(what)
    click.echo(click.style(shown, fg="red", bold=True) if colour() else shown, err=True)
    note(f"→ {remedy}")


def good(text: str) -> str:
    """Return *text* in green where colours are wanted on stdout."""
    wanted = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return click.style(text, fg="green") if wanted else text


def stderr_console() -> Console:
    """Return rich's console for progress on stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def show_progress() -> bool:
    """Whether moving progress makes sense: stderr is a terminal."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
