"""A chat template's calls that give another prompt each time: its clock and its dice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

CLOCK = ("strftime_now", "now", "today", "utcnow", "time", "date", "datetime", "date_string")
DICE = ("random", "shuffle", "randint", "uuid", "uuid4")


@dataclass(frozen=True)
class Impure:
    """A call or a filter whose value is not the same each time.

    Attributes:
        kind: Whether it reads the `clock` or draws at `random`.
        name: What is called.
        line: The line in the template, from 1.
    """

    kind: Literal["clock", "random"]
    name: str
    line: int


class _Generation(Extension):
    """Accepts the tag `generation`, which marks what an assistant wrote; it prints its body."""

    tags = {"generation"}  # noqa: RUF012 - the name and type are Jinja's

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return the body as it stands."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


_ENVIRONMENT = Environment(  # noqa: S701 - it is parsed only, never rendered
    extensions=["jinja2.ext.loopcontrols", _Generation], trim_blocks=True, lstrip_blocks=True
)


def syntax_error(source: str) -> tuple[int, str] | None:
    """Return the line and the message of what is wrong with a template, or None.

    Args:
        source: The template's text, in Jinja as llama.cpp and the model hubs read it.
    """
    try:
        _ENVIRONMENT.parse(source)
    except TemplateSyntaxError as error:
        return error.lineno, error.message or "not a Jinja template"
    return None


def impure(source: str) -> list[Impure]:
    """Return every call in a template whose value may differ from one rendering to the next.

    A variable that the template sets itself is not such a call, whatever it is called, and neither
    is one that is only read: the server passes none of these names.

    Args:
        source: The template's text; one that cannot be parsed has no calls.
    """
    try:
        tree = _ENVIRONMENT.parse(source)
    except TemplateSyntaxError:
        return []
    return sorted(set(_calls(tree)), key=lambda call: (call.line, call.name))


def _calls(tree: nodes.Template) -> Iterator[Impure]:
    defined = {macro.name for macro in tree.find_all(nodes.Macro)}
    for call in tree.find_all(nodes.Call):
        name = _called(call.node)
        if name not in defined:
            yield from _known(name, call.lineno)
    for filtered in tree.find_all(nodes.Filter):
        if filtered.name in DICE:
            yield from _known(filtered.name, filtered.lineno)


def _called(node: nodes.Node) -> str:
    """Return the name that is called: `f` of `f(…)`, `g` of `f.g(…)`."""
    match node:
        case nodes.Name():
            return node.name
        case nodes.Getattr():
            return node.attr
        case nodes.Getitem(arg=nodes.Const(value=str() as value)):
            return value
    return ""


def _known(name: str, line: int) -> Iterator[Impure]:
    if name in CLOCK:
        yield Impure("clock", name, line)
    elif name in DICE:
        yield Impure("random", name, line)
