"""`receipts bug-report`: a flip of a receipt as a report, and a script that shows it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click

from generator.cli.console import say
from generator.cli.targets import Project

FOLDER = Path(".work", "bug-reports")


@click.command("bug-report")
@click.argument("receipt", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--left", metavar="BOOT/ASK", help="The ask that the other is compared with.")
@click.option("--right", metavar="BOOT/ASK", help="The ask that is compared with it.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to; below .work/bug-reports/ by default.",
)
@click.pass_obj
def command(
    project: Project, receipt: Path, left: str | None, right: str | None, output: Path | None
) -> None:
    """Write a report of a flip, and a script that shows it.

    The script needs bash, llama-server, curl and jq, and nothing of this program. RECEIPT is a
    receipt's file. Of all pairs of equal asks in it whose tokens differ, the pair that parts at the
    earliest token is reported, unless --left and --right name two asks.
    """
    from generator.bugreport.flips import earliest_flip, named_flip
    from generator.bugreport.report import bug_report
    from generator.pins import MODELS_FILE, load_pins
    from generator.receipt import read, write_atomically

    if (left is None) != (right is None):
        raise click.UsageError("Give both --left and --right, or neither.")
    record = read(receipt, name=str(receipt))
    flip = (
        named_flip(record, str(receipt), left, right)
        if left is not None and right is not None
        else earliest_flip(record, str(receipt))
    )
    wanted = record.models[flip.left.boot.model].sha256
    known = load_pins(project.root).models if (project.root / MODELS_FILE).is_file() else {}
    pin = next((pin for pin in known.values() if pin.sha256 == wanted), None)
    digest = hashlib.sha256(receipt.read_bytes()).hexdigest()
    written = bug_report(project.templates, record, digest, flip, pin)
    folder = output or project.root / FOLDER / record.article / record.experiment
    write_atomically(folder / "report.md", written.report)
    write_atomically(folder / "repro.sh", written.script)
    say(f"{flip.left.name} and {flip.right.name} part at token {flip.divergence.token}:")
    say(f"{folder / 'report.md'}")
    say(f"{folder / 'repro.sh'}")
