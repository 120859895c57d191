"""The one tree of errors: what happened, what to do about it, and the exit code it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar

COMMAND_LINE = "command line"
"""What a fault's file is called if it lies in what was typed."""


class ReceiptsError(Exception):
    """Something a user can understand and act on.

    Args:
        what: What happened, one sentence, naming the thing it happened to.
        remedy: What to do about it, one sentence.
        details: Further lines, such as the end of a log.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, remedy: str, details: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.details = tuple(details)

    def __str__(self) -> str:
        """Say what happened, the details, and the remedy, a line each."""
        return "\n".join([self.what, *(f"  {line}" for line in self.details), f"→ {self.remedy}"])


@dataclass(frozen=True, order=True)
class Fault:
    """One fault in an input file.

    Attributes:
        file: The file, relative to the project's root where it lies inside it.
        line: Line, counted from 1.
        column: Column, counted from 1.
        path: Where in the document, as in ``$.experiments.five-runs.seed``.
        problem: What was found.
        remedy: What is allowed, with a near miss where there is one.
    """

    file: str
    line: int
    column: int
    path: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        """Say it as compilers do: file, line, column first; what was typed has no lines."""
        typed = self.file == COMMAND_LINE
        where = self.file if typed else f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.path}: {self.problem} → {self.remedy}"


def near_miss(name: str, names: Iterable[str]) -> str:
    """Advise what to write in place of the unknown *name*."""
    choices = sorted(names)
    near = get_close_matches(name, choices, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"write one of: {', '.join(choices)}" if choices else "there is none to choose from"


class InputError(ReceiptsError):
    """An input file, or a command, has faults; all of them are listed at once.

    Args:
        faults: The faults.
        remedy: What to do about them, if mending the file is not it.
    """

    exit_code = 3

    def __init__(self, faults: Sequence[Fault], remedy: str | None = None) -> None:
        self.faults = tuple(sorted(set(faults)))
        count, files = len(self.faults), sorted({fault.file for fault in faults})
        mend = "Mend what is listed above and run `receipts check`."
        if files == [COMMAND_LINE]:
            mend = "Say it again with what is listed above mended."
        super().__init__(
            f"{count} fault{'' if count == 1 else 's'} in {', '.join(files)}",
            remedy or mend,
            [str(fault) for fault in self.faults],
        )


class FetchError(ReceiptsError):
    """A pinned file could not be had, or is not the one that was pinned."""

    exit_code = 4


class EngineError(ReceiptsError):
    """An engine did not start, died, or is not the one we started."""

    exit_code = 5


class RunError(ReceiptsError):
    """A run could not begin or could not be finished."""

    exit_code = 6


class AuditError(ReceiptsError):
    """A committed receipt or page is not what its evidence says."""

    exit_code = 7


class SiteError(ReceiptsError):
    """The pages could not be rendered or built."""

    exit_code = 8
