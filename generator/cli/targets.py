"""Targets: which articles and experiments a command is about."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from generator.errors import Fault, InputError

if TYPE_CHECKING:
    from generator.declaration import Declaration, Override


@dataclass(frozen=True)
class Project:
    """The project that the commands work on."""

    root: Path

    @property
    def templates(self) -> list[Path]:
        """Where templates are looked for; the project's own win over those shipped with us."""
        package = Path(__file__).parent.parent
        shipped = [package / "_templates", package.parent / "templates"]
        return [f for f in (self.root / "templates", *shipped) if f.is_dir()]

    def articles(self, targets: Sequence[str]) -> list[str]:
        """Return the articles that *targets* name, in order, all of them if there is none."""
        from generator.evidence import articles

        known = articles(self.root)
        wanted = list(dict.fromkeys(target.partition("/")[0] for target in targets)) or known
        for name in wanted:
            if name not in known:
                raise _unknown("article", name, known)
        return wanted

    def select(
        self, targets: Sequence[str], override: Override | None = None
    ) -> list[tuple[Declaration, list[str]]]:
        """Return each wanted declaration with the names of its wanted experiments."""
        from generator.declaration import Override
        from generator.evidence import declare

        chosen: list[tuple[Declaration, list[str]]] = []
        faults: list[Fault] = []
        for article in self.articles(targets):
            try:
                declaration = declare(self.root, article, override or Override())
            except InputError as error:
                faults += error.faults
                continue
            names = [t.partition("/")[2] for t in targets if t.partition("/")[0] == article]
            known = list(declaration.experiments)
            for name in names:
                if name and name not in known:
                    raise _unknown("experiment", name, known)
            chosen.append((declaration, known if not names or "" in names else names))
        if faults:
            raise InputError(faults)
        return chosen


def _unknown(what: str, name: str, known: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(name, known, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"one of: {', '.join(known)}"
    return InputError([Fault("command line", 1, 1, "$", f"there is no {what} {name!r}", remedy)])


def with_targets(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its `TARGET…` argument."""
    return click.argument("targets", nargs=-1, metavar="[TARGET]...")(function)


with_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
