"""Faults of templates: where one is wrong, in which file and line, and what to do about it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jinja2 import TemplateError, TemplateNotFound, TemplateRuntimeError, TemplateSyntaxError

from generator.errors import Fault, InputError

TEMPLATES = "templates/"
"""What every template's file is called, below the project or the package."""
_LIBRARIES = frozenset({"jinja2", "markupsafe"})


class WrongCallError(TemplateRuntimeError):
    """A template calls for something that is not there, or that cannot be shown so.

    Args:
        problem: What was found.
        remedy: What to write instead.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


@contextmanager
def placed_faults(fault: Fault) -> Iterator[None]:
    """Turn an error of a template into a fault of its file, at its line.

    Args:
        fault: Where it is if nothing tells better, and the remedy if nothing tells a better one.

    Raises:
        InputError: With the fault.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, TemplateError) and not _of_template(error):
            raise
        raise InputError([_placed(error, fault)]) from error


def template_file(name: str) -> Fault:
    """Return where a fault of the template *name* is if nothing tells better."""
    return Fault(TEMPLATES + name, 1, 1, "$", "", "Mend the template")


def _placed(error: Exception, fault: Fault) -> Fault:
    file, line, column = fault.file, fault.line, fault.column
    places = [(name, at) for name, at in _frames(error) if name.startswith(TEMPLATES)]
    if isinstance(error, TemplateSyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    if places:
        (file, line), column = places[-1], 1
    match error:
        case TemplateNotFound():
            problem = f"there is no template {TEMPLATES}{error.name}"
        case TemplateError():
            problem = str(error.message)
        case _:
            problem = f"{type(error).__name__}: {error}"
    remedy = error.remedy if isinstance(error, WrongCallError) else fault.remedy
    return Fault(file, line, column, fault.path, problem, remedy)


def _frames(error: Exception) -> list[tuple[str, int]]:
    """Return files and lines; Jinja puts templates into tracebacks as if they were Python."""
    frames = traceback.extract_tb(error.__traceback__)
    return [(frame.filename, frame.lineno or 1) for frame in frames]


def _of_template(error: Exception) -> bool:
    """Whether an error of Python's was raised by a template's own doing and not by ours."""
    file = _frames(error)[-1][0]
    return file.startswith((TEMPLATES, "<template>")) or not _LIBRARIES.isdisjoint(Path(file).parts)
