"""Tests of the pieces of HTML: excerpts, marked tokens, code blocks."""

from __future__ import annotations

import html
import re

import pytest
from markupsafe import Markup

from generator.article.html import (
    CONTEXT,
    EXCERPT,
    code_spans,
    excerpt,
    fenced,
    finalize,
    link,
    marked,
)

FAMILY = "👩‍👩‍👧"
BADGED = "👩U+200D👩U+200D👧"  # as text makes a joiner visible


def plain(markup: Markup) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def test_markup_of_ours_passes_and_everything_else_is_made_inert() -> None:
    assert finalize(Markup("<b>x</b>")) == "<b>x</b>"
    assert "<" not in finalize("<b>")
    assert finalize(12) == "12"


def test_short_text_is_shown_whole() -> None:
    assert plain(excerpt("a" * EXCERPT)) == "a" * EXCERPT


def test_long_text_is_cut_and_says_so() -> None:
    assert plain(excerpt("a" * (EXCERPT + 1))) == "a" * EXCERPT + "…"


@pytest.mark.parametrize("end", [FAMILY, "e\u0301", "👍🏽", "🇨🇳"])
def test_cut_leaves_no_part_of_a_character(end: str) -> None:
    text = "a" * (EXCERPT - 1) + end + "b"
    assert plain(excerpt(text)) == "a" * (EXCERPT - 1) + "…"


def test_differing_token_is_marked() -> None:
    shown = marked("one two three", 4, " two")
    assert "<mark>two</mark>" in shown
    assert plain(shown) == "one two three"


@pytest.mark.parametrize("position", [4, 5, 6])
def test_a_token_is_marked_whole_wherever_in_it_the_difference_is(position: int) -> None:
    # " to" and " two" part at their second letter, yet the token differs as a whole
    assert "<mark>two</mark>" in marked("one two three", position, " two")


def test_a_space_is_marked_if_it_is_what_differs() -> None:
    assert marked("one two", 3, " two").endswith("<mark>&#32;two</mark>")


def test_end_of_text_is_marked_as_such() -> None:
    assert marked("one", 3, None).endswith("<mark>∎</mark>")


def test_long_surroundings_are_cut_on_both_sides() -> None:
    shown = plain(marked("a" * 100 + "X" + "b" * 100, 100, "X"))
    assert shown == "…" + "a" * CONTEXT + "X" + "b" * CONTEXT + "…"


def test_surroundings_are_cut_between_characters() -> None:
    before = "é" * 10 + FAMILY + "a" * (CONTEXT - 1)
    shown = marked(before + "X", len(before), "X")
    assert plain(shown) == "…" + BADGED + "a" * (CONTEXT - 1) + "X"


def test_link_keeps_hostile_words_inside() -> None:
    shown = link('a"b', "<i>", 'c"', 't"')
    assert shown.count('"') == 6
    assert "<i>" not in shown


@pytest.mark.parametrize("ticks", range(1, 8))
def test_fence_is_longer_than_any_inside(ticks: int) -> None:
    first, *_, last = fenced("a\n" + "`" * ticks, "bash").split("\n")
    assert first == last + "bash"
    assert len(last) == max(3, ticks + 1)


def test_code_spans_are_html_where_markdown_is_not_read() -> None:
    prose = Markup("`-ub` is {} short, `n_ubatch` too").format(finalize("`one`"))
    shown = code_spans(prose)
    assert shown.count("<code>") == 2
    assert "<code>-ub</code>" in shown
    assert "<code>one" not in shown
