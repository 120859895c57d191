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
    receipt's file. Of all pairs of equal asks in it whose tokens differ, the pair between which the
    fewest settings differ is reported, of several the one that parts at the earliest token, unless
    --left and --right name two asks. A report that is there already is not overwritten.
    """
    from generator.bugreport.flips import named_flip, plainest_flip
    from generator.bugreport.report import bug_report
    from generator.files import write_anew
    from generator.pins import MODELS_FILE, load_pins
    from generator.receipt import read

    if (left is None) != (right is None):
        raise click.UsageError("Give both --left and --right, or neither.")
    record = read(receipt, name=str(receipt))
    flip = (
        named_flip(record, str(receipt), left, right)
        if left is not None and right is not None
        else plainest_flip(record, str(receipt))
    )
    wanted = record.models[flip.left.boot.model].sha256
    known = load_pins(project.root).models if (project.root / MODELS_FILE).is_file() else {}
    pins = [pin for pin in known.values() if pin.sha256 == wanted]
    pin = next((pin for pin in pins if pin.source.type != "path"), None)  # a path helps nobody
    digest = hashlib.sha256(receipt.read_bytes()).hexdigest()
    written = bug_report(project.templates, record, digest, flip, pin)
    folder = output or project.root / FOLDER / record.article / record.experiment
    texts = {folder / "report.md": written.report, folder / "repro.sh": written.script}
    write_anew(texts, "Name another folder, --output, or remove it.")
    say(f"{flip.left.name} and {flip.right.name} part at token {flip.divergence.token}:")
    for path in texts:
        say(f"{path}")
