"""`receipts list`: the articles, their experiments, and what has been measured."""

from __future__ import annotations

from typing import Any

import click

from generator.cli.console import say, say_json
from generator.cli.targets import Project, with_json, with_targets


@click.command("list")
@with_targets
@with_json
@click.pass_obj
def command(project: Project, targets: tuple[str, ...], as_json: bool) -> None:
    """List articles, experiments and how each claim comes out.

    Shows for each experiment on which day it was measured, if it was, and what was changed since.
    """
    from generator.evidence import gather, read_receipts

    rows: list[dict[str, Any]] = []
    for declaration, names in project.select(targets):
        evidence = gather(declaration, read_receipts(project.root, declaration))
        receipts = evidence.receipts
        rows.append(
            {
                "article": declaration.article,
                "title": declaration.head.title.model_dump(),
                "experiments": [
                    {
                        "name": name,
                        "kind": declaration.experiments[name].spec.kind,
                        "measured_on": receipts[name].measured_on if name in receipts else None,
                        "stale": [str(change) for change in evidence.stale.get(name, ())],
                    }
                    for name in names
                ],
                "claims": {n: j.outcome for n, j in evidence.claims.items()},
            }
        )
    if as_json:
        say_json(rows)
        return
    for row in rows:
        say(f"{row['article']}")
        for experiment in row["experiments"]:
            day = experiment["measured_on"] or "not measured"
            stale = " (stale)" if experiment["stale"] else ""
            say(f"  {experiment['name']:<24} {experiment['kind']:<10} {day}{stale}")
            for change in experiment["stale"]:
                say(f"    {change}")
        for name, outcome in row["claims"].items():
            say(f"  claim {name:<18} {outcome}")
