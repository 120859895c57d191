"""`receipts hunt`: search for a prompt whose answer changes between two settings."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import click

from generator.cli.console import good, say, say_json
from generator.cli.targets import Project, with_json

NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
FOLDER = Path(".work", "hunts")


def _named(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    if name is not None and (name == "index" or not re.fullmatch(NAME, name)):
        allowed = "lower-case letters and digits, with - between words, and not index"
        raise click.BadParameter(f"{name!r} is no article's name: {allowed}.")
    return name


@click.command("hunt")
@click.option("--model", required=True, help="The pinned model that is asked.")
@click.option("--engine", help="The pinned engine that answers; the first one by default.")
@click.option(
    "--between",
    nargs=2,
    required=True,
    metavar="LEFT RIGHT",
    help="The two sides, each NAME=VALUE or several of them, such as cache=cold cache=warm.",
)
@click.option("--settings", default="", metavar="NAME=VALUE…", help="Server settings of both.")
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file with a prompt a line (.jsonl: JSON lines), in place of made-up ones.",
)
@click.option("--seed", default=1, show_default=True, help="What made-up prompts are drawn by.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=66,
    show_default=True,
    help="The most prompts of the pool that are tried.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=15.0,
    show_default=True,
    help="After how long no further prompt is tried.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="How many tokens of each answer are compared.",
)
@click.option(
    "--name",
    callback=_named,
    help="What the declaration is called; hunt- and a digest by default.",
)
@with_json
@click.pass_obj
def command(
    project: Project,
    *,
    model: str,
    engine: str | None,
    between: tuple[str, str],
    settings: str,
    prompts: Path | None,
    seed: int,
    limit: int,
    minutes: float,
    max_tokens: int,
    name: str | None,
    as_json: bool,
) -> None:
    """Search for a prompt that flips between two settings.

    That is one whose tokens differ, at temperature 0 and with one seed. Short prompts are tried
    before long ones. The first that flips, on fresh servers too, is shortened and written down as a
    declaration. What was tried is kept: the same command goes on where it was cut off, and finds
    the same.
    """
    from generator.bench import Bench
    from generator.canonical import digest
    from generator.cli.hunting import Told, as_data, nothing, outcome
    from generator.cli.progress import Reporter
    from generator.hunt.declare import refuse_taken, write_find
    from generator.hunt.prompts import generated, read_prompts
    from generator.hunt.records import Records
    from generator.hunt.search import Hunt
    from generator.hunt.sides import read_sides
    from generator.hunt.trials import Trials
    from generator.hunt.wish import key_of, plan_of, resolve
    from generator.lock import locked
    from generator.models.store import Store
    from generator.pins import load_pins

    pins = load_pins(project.root)
    sides = read_sides(*between, settings, engine or next(iter(pins.engines)))
    for side in sides:
        pins.engine(side.engine)
    pins.model(model)
    if name is not None:
        refuse_taken(project.root, name)
    pool = read_prompts(prompts) if prompts else None
    resolved = resolve(name or "hunt", sides, model, max_tokens)
    with Reporter() as reporter:
        bench = Bench(project.root, pins, Store.of_user(), reporter)
        bench.prepare(plan_of(resolved, sides))
    key = key_of(bench, resolved, sides, seed if pool is None else pool)
    resolved = replace(resolved, article=name or f"hunt-{digest(key)[:8]}")
    began = time.monotonic()
    with (
        locked(project.root, resolved.article),
        Trials(resolved, sides, bench.launch, bench.ask_limit) as trials,
    ):
        records = Records(project.root / FOLDER / f"{digest(key)[:16]}.jsonl", key, trials)
        hunt = Hunt(
            tried=records.tried,
            watcher=Told(limit),
            out_of_time=lambda: time.monotonic() - began > 60 * minutes,
            limit=limit,
        )
        hunted = hunt.run(generated(seed) if pool is None else pool)
    written: list[str] = []
    if hunted.prompt is not None:
        paths = write_find(project.root, project.templates, resolved, sides, hunted.prompt)
        written = [path.relative_to(project.root).as_posix() for path in paths]
    if as_json:
        say_json(as_data(hunted, resolved.article, written))
    elif hunted.trial is None:
        say(nothing(hunted, sides))
    else:
        say(good(f"Found: {outcome(hunted.trial)}, on fresh servers."))
        for path in written:
            say(path)
        say(f"Measure it: receipts run {resolved.article}")
        say(f"Report it:  receipts bug-report receipts/{resolved.article}/found.json")
