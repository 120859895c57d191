"""The chat templates that a declaration names: found, readable, and what makes their text vary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from generator.chat_template import Impure, Refusal, impure, syntax_error
from generator.declaration import Declaration
from generator.errors import Fault

TEMPLATES = Path("receipts", "chat-templates")


def chat_template_path(root: Path, name: str) -> Path:
    """Return where the chat template *name* lies below *root*."""
    return root / TEMPLATES / f"{name}.jinja"


def template_faults(root: Path, declaration: Declaration) -> list[Fault]:
    """Return what is wrong with the chat templates that a declaration's experiments name."""
    found = (
        template_fault(root, declaration.file, experiment, name)
        for experiment, name in _named(declaration)
    )
    return sorted({fault for fault in found if fault is not None})


def template_fault(root: Path, declared_in: str, experiment: str, name: str) -> Fault | None:
    """Return what is wrong with a chat template, or None.

    Args:
        root: The project's root.
        declared_in: The declaration's file, relative to it.
        experiment: The experiment that names the template.
        name: The template's name.
    """
    path = chat_template_path(root, name)
    if path.parent != root / TEMPLATES or not path.is_file():
        where = f"$.experiments.{experiment}.server.chat_template"
        problem = f"there is no {template_file(name)}"
        return Fault(declared_in, 1, 1, where, problem, "add the file or correct the name")
    try:
        wrong = syntax_error(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        wrong = 1, f"it is not UTF-8 (byte {error.start})"
    if wrong is None:
        return None
    line, message = wrong
    problem = f"this chat template is not Jinja: {message}"
    remedy = "write it in Jinja; a template in Go's syntax, as Ollama has them, is another"
    return Fault(template_file(name), line, 1, "$", problem, remedy)


def refused_by_engine(name: str, refused: Refusal) -> Fault:
    """Return the fault of a chat template that an engine cannot use."""
    problem = f"the engine cannot use this chat template: {refused.message}"
    remedy = "use only what llama.cpp's Jinja knows"
    return Fault(template_file(name), refused.line, refused.column, "$", problem, remedy)


def template_file(name: str) -> str:
    """Return the file of the chat template *name*, relative to the project's root."""
    return (TEMPLATES / f"{name}.jinja").as_posix()


def template_warnings(root: Path, declaration: Declaration) -> list[str]:
    """Return a line for each declared chat template that gives another prompt each time."""
    lines = []
    for _, name in _named(declaration):
        path = chat_template_path(root, name)
        if path.is_file():
            source = path.read_bytes().decode("utf-8", "replace")
            lines += [warning(template_file(name), call) for call in impure(source)]
    return list(dict.fromkeys(lines))


def warning(template: str, call: Impure) -> str:
    """Say what a call in a chat template does to the asks.

    Args:
        template: The template's file, or whose template it is.
        call: The call.
    """
    what = "reads the clock" if call.kind == "clock" else "draws at random"
    return (
        f"{template}:{call.line}: `{call.name}` {what}: equal messages may become different"
        " prompts, and answers to different prompts are not compared"
    )


def _named(declaration: Declaration) -> Iterator[tuple[str, str]]:
    for experiment in declaration.experiments.values():
        if experiment.server.chat_template is not None:
            yield experiment.experiment, experiment.server.chat_template
