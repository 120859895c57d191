"""`receipts serve`: look at the built site on loopback."""

from __future__ import annotations

import click

from generator.cli.console import say
from generator.cli.targets import Project


@click.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.pass_obj
def command(project: Project, port: int) -> None:
    """Serve public/ on this machine until Ctrl-C."""
    from generator.site import serve

    say(f"http://127.0.0.1:{port}/ (zh) and http://127.0.0.1:{port}/en/ (en); Ctrl-C ends it.")
    serve(project.root, port)
