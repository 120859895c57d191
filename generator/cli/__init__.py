"""The command line: the only place that prints and exits."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import click

from generator.cli.app import app
from generator.cli.console import complain
from generator.errors import ReceiptsError

INTERRUPTED = 130
BROKEN_PIPE = 141
INTERNAL = 1


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt_once)
    code = invoke(argv)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _leave_pipe()
    sys.exit(code)


def invoke(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Exit codes: 0 all well; 1 a fault of this program; 2 wrong usage; 3 faulty input; 4 a pinned
    file could not be had; 5 the engine; 6 a run with failed asks, or one that could not begin;
    7 the audit failed; 8 pages could not be made; 130 interrupted; 141 nobody reads the output.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    try:
        # not app.main(), which would end the process with 1 when a pipe is closed
        with app.make_context("receipts", [a for a in arguments if a != "--debug"]) as context:
            code = app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.exceptions.Abort):
        complain("Interrupted.", "What was answered is kept; the same command goes on from there.")
        return INTERRUPTED
    except BrokenPipeError:
        return _leave_pipe()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ReceiptsError as error:
        if debug:
            raise
        complain(error.what, error.remedy, error.details)
        return error.exit_code
    except Exception as error:
        if debug:
            raise
        complain(
            f"This is a fault of receipts itself: {type(error).__name__}: {error}",
            "Run the same command with --debug and report what it prints.",
        )
        return INTERNAL
    return code if isinstance(code, int) else 0


def _interrupt_once(_number: int, _frame: FrameType | None) -> None:
    """Interrupt, and let a second Ctrl-C do nothing: ending takes a moment and must be whole."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _leave_pipe() -> int:
    """Let what is left in stdout's buffer go nowhere, as `receipts list | head -1` wants it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
