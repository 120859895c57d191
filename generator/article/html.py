"""Pieces of HTML in a page: facts, excerpts with a marked token, code blocks."""

from __future__ import annotations

import re

from markupsafe import Markup

from generator.text import inert, short

EXCERPT = 72
CONTEXT = 44


def finalize(value: object) -> Markup:
    """Make every printed value inert unless it is already markup of ours.

    Jinja calls this on each `{{ … }}`, so model output cannot reach a page by forgetting a filter.
    """
    if isinstance(value, Markup):
        return value
    return Markup(inert(str(value)))  # noqa: S704 - inert() is what makes it safe


def link(href: str, label: str, css: str, title: str) -> Markup:
    """Return a link; *label* is made inert."""
    return Markup('<a class="{}" href="{}" title="{}">{}</a>').format(
        css, href, title, finalize(label)
    )


def excerpt(text: str, *, length: int = EXCERPT) -> Markup:
    """Return the opening of *text* on one line, inert."""
    return finalize(short(text, length))


def marked(text: str, position: int, token: str | None) -> Markup:
    """Return an excerpt of *text* around a differing token, which is marked as a whole.

    Args:
        text: The whole text.
        position: Index of the first differing character, which may lie within the token.
        token: The differing token's text; None if the text ended before it.
    """
    begin, stop = _span(text, position, token)
    start = max(0, begin - CONTEXT)
    if start:
        start = len(short(text, start)) - 1  # between characters as a reader sees them
    before, differing, after = text[start:begin], text[begin:stop], text[stop:]
    return Markup("{}{}<mark>{}</mark>{}").format(
        "…" if start else "",
        finalize(before),
        finalize(differing) if differing else "∎",
        finalize(short(after, CONTEXT)),
    )


def _span(text: str, position: int, token: str | None) -> tuple[int, int]:
    """Return where *token*, of which the character at *position* is one, begins and ends.

    A space before it stays unmarked, unless it is what differs; where the token is not found, the
    one character is all there is.
    """
    for begin in range(position, max(-1, position - len(token or "")), -1):
        if token and text.startswith(token, begin):
            spaces = len(token) - len(token.lstrip())
            return min(begin + spaces, position), begin + len(token)
    return position, position + 1


def code_spans(prose: Markup) -> Markup:
    """Return prose with its code spans as HTML, for places where Markdown is not read."""
    # an inert value holds no backtick, so these are the author's own
    return Markup(re.sub(r"`([^`<>]+)`", r"<code>\1</code>", str(prose)))  # noqa: S704


def fenced(code: str, language: str) -> Markup:
    """Return a fenced code block whose fence is longer than any run of backticks inside."""
    runs = [len(run) for run in re.findall("`+", code)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    return Markup(f"{fence}{language}\n{code}\n{fence}")  # noqa: S704 - the fence holds it
