"""Untrusted text made inert: what a model wrote can neither run, nor format, nor hide on a page."""

from __future__ import annotations

import bisect
from unicodedata import ucd_3_2_0

# Invisible, reordering or meaningless code points, as ranges. A frozen table and not the running
# Python's `unicodedata`, so that every Python renders the same bytes.
_HIDDEN = (
    (0x0000, 0x0008), (0x000B, 0x001F), (0x007F, 0x00A0), (0x00AD, 0x00AD), (0x034F, 0x034F),
    (0x0600, 0x0605), (0x061C, 0x061C), (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891),
    (0x08E2, 0x08E2), (0x115F, 0x1160), (0x1680, 0x1680), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x2800, 0x2800), (0x3000, 0x3000),
    (0x3164, 0x3164), (0xD800, 0xF8FF), (0xFDD0, 0xFDEF), (0xFE00, 0xFE0D), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0xFFFE, 0xFFFF), (0x110BD, 0x110BD), (0x110CD, 0x110CD),
    (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0x10FFFF),
)  # fmt: skip
_STARTS = [start for start, _ in _HIDDEN]
_RIGHT_TO_LEFT = ((0x0590, 0x08FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFC), (0x10800, 0x10FFF),
                  (0x1E800, 0x1EFFF))  # fmt: skip
_UNPRINTABLE = frozenset({0x0000, 0x0085, *range(0xD800, 0xE000)})
_JOINER = "\u200d"
_SELECTORS = frozenset("\ufe0e\ufe0f")
_REGIONAL = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def inert(text: str) -> str:
    """Return *text* as an HTML fragment that neither Markdown nor HTML reads anything into.

    Letters and printable non-ASCII characters stay; ASCII punctuation, spaces, tabs and newlines
    become character references; hidden characters become badges that name their code point.
    Undoing the references and the badges' ``data-cp`` gives *text* back, character for character.

    A newline that directly follows ``<pre>`` is dropped by browsers, as a reference too: put
    another element, such as ``<code>``, between.

    Args:
        text: Anything, lone surrogates included.

    Returns:
        One line of HTML, isolated by ``<bdi>`` if it holds right-to-left characters.
    """
    fragment = text.translate(_TABLE)
    if any(_within(_RIGHT_TO_LEFT, ord(character)) for character in text):
        return f"<bdi>{fragment}</bdi>"
    return fragment


def inert_block(text: str) -> str:
    """Return *text* inert and isolated, its line breaks and spaces kept by the stylesheet."""
    return f'<bdi class="model-text">{text.translate(_TABLE)}</bdi>'


def short(text: str, length: int) -> str:
    """Return *text* cut to at most *length* characters and an ellipsis, or whole if it fits.

    The cut falls between characters as a reader sees them: no accent, emoji part or half of a
    flag is left over. It is plain text still: make it inert afterwards.

    Args:
        text: The text.
        length: Most characters kept, in code points, at least 1.
    """
    if len(text) <= length:
        return text
    cut = length
    while cut > 1 and not _is_boundary(text, cut):
        cut -= 1
    return text[:cut] + "…"


def _is_boundary(text: str, index: int) -> bool:
    before, after = text[index - 1], text[index]
    if _JOINER in (before, after) or after in _SELECTORS or ord(after) in _SKIN_TONES:
        return False
    if ord(after) in _REGIONAL:
        flags = 0
        while flags < index and ord(text[index - 1 - flags]) in _REGIONAL:
            flags += 1
        return flags % 2 == 0
    return not ucd_3_2_0.category(after).startswith("M") and before + after != "\r\n"


def _within(ranges: tuple[tuple[int, int], ...], code: int) -> bool:
    return any(start <= code <= stop for start, stop in ranges)


def _is_hidden(code: int) -> bool:
    index = bisect.bisect_right(_STARTS, code) - 1
    return index >= 0 and code <= _HIDDEN[index][1]


def _replacement(code: int) -> str:
    character = chr(code)
    if _is_hidden(code):
        name = f"U+{code:04X}"
        shown = "\ufffd" if code in _UNPRINTABLE else name
        return f'<span class="uc" data-cp="{name}"><bdi>{shown}</bdi></span>'
    if (character.isascii() and not character.isalnum()) or _combines(character):
        return f"&#{code};"
    return character


def _combines(character: str) -> bool:
    # as a reference it cannot be composed with the tag before it by anything that normalises text
    return ucd_3_2_0.category(character).startswith("M")


class _Replacements(dict[int, str]):
    """What each code point becomes, worked out when first met."""

    def __missing__(self, code: int) -> str:
        self[code] = value = _replacement(code)
        return value


_TABLE = _Replacements()
