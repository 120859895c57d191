"""Words in a report: readable as they are where they are plain, and inert where they are not."""

from __future__ import annotations

import html

import pytest

from generator.bugreport.markdown import plain


@pytest.mark.parametrize(
    "text",
    [
        "SmolLM2-135M-Instruct (Q4_1)",
        "threads=1 a/cold",
        "-1.442313",
        "2026-12-02",
        '" a"',
        "The engine: its files' digests",
    ],
)
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@somebody", "&#64;somebody"),
        ("owner/name#1", "owner/name&#35;1"),
        ("http://a.example", "http&#58;//a.example"),
        (":smile: ", "&#58;smile: "),
        ("a|b", "a&#124;b"),
        ("_a_ -b- *c*", "&#95;a&#95; &#45;b&#45; &#42;c&#42;"),
        ("<b>&amp;", "&#60;b&#62;&#38;amp&#59;"),
        ("two\nlines", "two&#10;lines"),
        ("\u202e", "&#92;u202e"),
    ],
)
def test_the_rest_is_inert(text: str, shown: str) -> None:
    assert plain(text) == shown
    if "\u202e" not in text:
        assert html.unescape(shown) == text
