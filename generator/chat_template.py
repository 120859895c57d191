"""A chat template's clock and dice, which give another prompt each time, and what is no Jinja."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from jinja2 import Environment, TemplateAssertionError, TemplateSyntaxError, meta, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

SERVED = frozenset(("strftime_now", "datetime", "date_string"))
"""What llama.cpp gives every template of the clock: a function, and the day in two writings."""
CLOCK = (*SERVED, "now", "today", "utcnow", "time", "date")
DICE = ("random", "shuffle", "randint", "uuid", "uuid4", "lipsum")


@dataclass(frozen=True)
class Impure:
    """A name, call or filter whose value is not the same each time.

    Attributes:
        kind: Whether it reads the `clock` or draws at `random`.
        name: What is read or called.
        line: The line in the template, from 1.
    """

    kind: Literal["clock", "random"]
    name: str
    line: int


_REFUSED = re.compile(r"chat template parsing error|[Gg]enerate parser for this template")
_PLACE = re.compile(r"at line (\d+), column (\d+) in source")
_CAUSE = re.compile(r"(?:^\s*Error|Automatic parser generation failed): +(?=\S)(.+)", re.MULTILINE)


@dataclass(frozen=True)
class Refusal:
    """Why a server cannot use a template, and where in it, from 1."""

    line: int
    column: int
    message: str


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


def refusal(log: str) -> Refusal | None:
    """Read in a server's log, or in its response, that and why it cannot use its chat template.

    Args:
        log: Its lines.
    """
    if not _REFUSED.search(log):
        return None
    place, causes = _PLACE.search(log), _CAUSE.findall(log)
    line, column = (int(place[1]), int(place[2])) if place else (1, 1)
    return Refusal(line, column, causes[-1].rstrip(" .") if causes else "it does not say why")


def impure(source: str) -> list[Impure]:
    """Return all in a template whose value may differ from one rendering to the next.

    That is every use of what llama.cpp serves of the clock, under whatever name it is called later,
    and every call that has the name of a clock or of dice. What the template itself sets is
    neither, nor is asking whether there is such a thing.

    Args:
        source: The template's text; one that cannot be parsed has none.
    """
    try:
        tree = _ENVIRONMENT.parse(source)
    except TemplateSyntaxError:
        return []
    return sorted({*_served(tree), *_calls(tree)}, key=lambda call: (call.line, call.name))


def _served(tree: nodes.Template) -> Iterator[Impure]:
    """Find what is read of the clock that the server gives, but for tests of its being there."""
    tested = {id(test.node) for test in tree.find_all(nodes.Test) if test.name == "defined"}
    try:
        served = SERVED & meta.find_undeclared_variables(tree)
    except TemplateAssertionError:  # it has filters that only the server knows
        served = SERVED
    for name in tree.find_all(nodes.Name):
        if name.ctx == "load" and name.name in served and id(name) not in tested:
            yield Impure("clock", name.name, name.lineno)


def _calls(tree: nodes.Template) -> Iterator[Impure]:
    own = {macro.name for macro in tree.find_all(nodes.Macro)}
    for call in tree.find_all(nodes.Call):
        name = _called(call.node)
        if name not in own:
            yield from _known(name, call.lineno)
    for filtered in tree.find_all(nodes.Filter):
        by_name = [arg.value for arg in filtered.args[:1] if isinstance(arg, nodes.Const)]
        for name in (filtered.name, *(by_name if filtered.name == "map" else ())):
            if name in DICE:
                yield from _known(name, filtered.lineno)


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
