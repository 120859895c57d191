"""Text in a report that is pasted elsewhere: inert there, and readable before it is rendered."""

from __future__ import annotations

import re

from markupsafe import Markup

from generator.canonical import visible
from generator.text import inert

# What Markdown reads nothing into, alone or where it stands. An at sign and a hash are none of it,
# and a colon only before a space: they would call people, link to issues, and make addresses.
_PLAIN = re.compile(
    r"""(?:[A-Za-z0-9 ,.()/=+'"]|(?<=[A-Za-z0-9])[-_](?=[A-Za-z0-9])|-(?=[0-9])|:(?= ))+"""
)


def plain(value: object) -> Markup:
    """Return a value as words of a line: what is plain stays, and the rest is made inert.

    Args:
        value: Anything; its text is shown, with what cannot be seen escaped.
    """
    text, pieces, end = visible(str(value)), [], 0
    for found in _PLAIN.finditer(text):
        pieces += [inert(text[end : found.start()]), found[0]]
        end = found.end()
    return Markup("".join([*pieces, inert(text[end:])]))  # noqa: S704 - its pieces are inert
