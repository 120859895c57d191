"""Targets: which articles and experiments a command is about."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from generator.errors import COMMAND_LINE, Fault, InputError

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
        self,
        targets: Sequence[str],
        override: Override | None = None,
        *,
        every_variant: bool = True,
    ) -> list[tuple[Declaration, list[str]]]:
        """Return each wanted declaration with the names of its wanted variants.

        Args:
            targets: Articles, experiments and variants; an experiment means its variants.
            override: Pins to be used in place of the declared first ones.
            every_variant: Whether experiments of the second set are meant that nobody names, and
                all variants whatever *override* says. Otherwise an experiment means all its
                variants unless *override* narrows them, and an article its first set, if any.
        """
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
            named = [t.partition("/")[2] for t in targets if t.partition("/")[0] == article]
            known = list(declaration.experiments)
            for name in named:
                if name and name not in known:
                    raise _unknown("experiment", name, known)
            unasked = declaration.firsts if every_variant else declaration.first_set
            if named and not unasked:
                unasked = declaration.firsts
            wanted = unasked if not named or "" in named else named
            meant = [
                variant
                for name in wanted
                for variant in _meant(declaration, name, override, every_variant)
            ]
            chosen.append((declaration, meant))
        if faults:
            raise InputError(faults)
        return sorted(chosen, key=lambda pair: pair[0].head.order)


def _meant(
    declaration: Declaration, name: str, override: Override | None, every_variant: bool
) -> list[str]:
    """Return the variants that *name* means, which may be a variant's own name."""
    first = declaration.experiments[name]
    if first.name != first.experiment:
        return [name]
    variants = declaration.variants(name)
    if every_variant or override is None:
        return variants
    known = declaration.experiments
    return [
        variant
        for variant in variants
        if override.model in (None, known[variant].model)
        and override.engine in (None, known[variant].engine)
    ]


def _unknown(what: str, name: str, known: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(name, known, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"one of: {', '.join(known)}"
    return InputError([Fault(COMMAND_LINE, 1, 1, "$", f"there is no {what} {name!r}", remedy)])


def with_targets(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its `TARGET…` argument."""
    return click.argument("targets", nargs=-1, metavar="[TARGET]...")(function)


def with_pins(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say with which pins an experiment is meant."""
    for option in (
        click.option("--all", "every", is_flag=True, help="Everything that is declared."),
        click.option("--engine", help="This pinned engine in place of the first declared one."),
        click.option("--model", help="This pinned model in place of the first declared one."),
    ):
        function = option(function)
    return function


with_stale = click.option(
    "--stale", is_flag=True, help="Render stale receipts too, under a banner that names changes."
)
with_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")
