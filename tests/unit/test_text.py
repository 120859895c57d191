"""Untrusted text: nothing is read into it, nothing of it is lost, nothing of it hides."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown import Markdown
from mkdocs.config import load_config

from generator.text import inert, inert_block, short
from tests.browser.hostile import HOSTILE

ROOT = Path(__file__).parents[2]
AWKWARD = (
    "<>&\"'`*_[](){}#+-.!|~=^:;\\/@$% \n\t\r"
    "\x00\x02\x03\x0b\x85\u2028\u202e\u200b\ufeff\ud800\u0301א中，。👍🏽"
)
TEXTS = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=60),
    st.text(alphabet=AWKWARD + "aZ09wzxhdk", max_size=60),
    st.lists(st.sampled_from(sorted(HOSTILE.values())), max_size=2).map("".join),
)
CONTEXTS = {
    "fragment": "{}",
    "raw table": "<table><tbody><tr><td>A</td><td>{}</td></tr></tbody></table>",
    "raw pre": "<pre><code>{}</code></pre>",
    "paragraph": "Before {} after.",
    "paragraph start": "{} after.",
    "bold": "Before **{}** after.",
    "list item": "- one\n- {}\n- three",
    "heading": "## {} {{#here}}",
    "admonition": '!!! note "Title"\n    Body {} end.',
    "table": "| a | b |\n|---|---|\n| {} | c |",
}


class Read(HTMLParser):
    """Reads HTML as a browser does: text with badges undone, and every tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self._badge: str | None = None
        self._depth = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.attributes |= values.keys()
        if values.get("class") == "uc":
            self._badge = chr(int(str(values["data-cp"]).removeprefix("U+"), 16))
            self.text += self._badge

    def handle_endtag(self, tag: str) -> None:
        if tag == "span":
            self._badge = None

    def handle_data(self, data: str) -> None:
        if self._badge is None:
            self.text += data


@pytest.fixture(scope="module")
def markdown() -> Markdown:
    """Python-Markdown with the site's own extensions."""
    config = load_config(str(ROOT / "mkdocs.yml"))
    return Markdown(  # type: ignore[no-untyped-call]
        extensions=config["markdown_extensions"], extension_configs=config["mdx_configs"]
    )


@given(TEXTS)
def test_undoing_references_and_badges_gives_the_text_back(text: str) -> None:
    assert Read(inert(text)).text == text


@given(TEXTS)
def test_a_fragment_is_one_line_with_no_markup_but_its_own(text: str) -> None:
    html = inert(text)
    read = Read(html)
    assert set(read.tags) <= {"span", "bdi"}
    assert read.attributes <= {"class", "data-cp"}
    assert len(html.splitlines()) <= 1


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS.keys())
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_markdown_reads_nothing_into_it(markdown: Markdown, context: str, text: str) -> None:
    plain = Read(markdown.reset().convert(context.format("⟦⟧")))
    read = Read(markdown.reset().convert(context.format(f"⟦{inert(text)}⟧")))
    before, after = plain.text.split("⟦⟧")
    assert read.text == f"{before}⟦{text}⟧{after}"
    extra = [tag for tag in read.tags if tag not in {"span", "bdi"}]
    assert extra == [tag for tag in plain.tags if tag not in {"span", "bdi"}]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_output_keeps_its_every_character(markdown: Markdown, text: str) -> None:
    html = markdown.reset().convert(f"<div>{inert_block(text)}</div>")
    read = Read(html)
    assert read.text.strip("\n") == text.strip("\n")
    assert set(read.tags) <= {"div", "bdi", "span"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202e", "U+202E"),
        ("\u200b", "U+200B"),
        ("\u00a0", "U+00A0"),
        ("\u3000", "U+3000"),
        ("\x1b", "U+001B"),
        ("\r", "U+000D"),
        ("\ue000", "U+E000"),
        ("\U000e0041", "U+E0041"),
        ("\x00", "\ufffd"),
        ("\x85", "\ufffd"),
        ("\udc00", "\ufffd"),
    ],
)
def test_hidden_characters_are_shown(text: str, shown: str) -> None:
    assert inert(text) == (
        f'<span class="uc" data-cp="U+{ord(text):04X}"><bdi>{shown}</bdi></span>'
    )


@pytest.mark.parametrize("text", ["Python", "2026", "中文，标点。", "“引号”", "É", "→", "👍🏽"])
def test_ordinary_text_stays_readable_in_the_source(text: str) -> None:
    assert inert(text) == text


def test_right_to_left_text_is_isolated() -> None:
    assert inert("שלום") == "<bdi>שלום</bdi>"


def test_a_block_is_isolated_once() -> None:
    assert inert_block("שלום\n") == '<bdi class="model-text">שלום&#10;</bdi>'


@pytest.mark.parametrize(
    ("text", "length", "cut"),
    [
        ("short", 5, "short"),
        ("longer", 5, "longe…"),
        ("abe\u0301f", 3, "ab…"),
        ("ab👍🏽c", 3, "ab…"),
        ("a👩‍👩‍👧b", 3, "a…"),
        ("a🇨🇳🇺🇸b", 2, "a…"),
        ("a🇨🇳🇺🇸b", 3, "a🇨🇳…"),
        ("❤️❤️", 3, "❤️…"),
        ("ab\r\nc", 3, "ab…"),
        ("e\u0301\u0301\u0301", 2, "e…"),
    ],
)
def test_a_cut_falls_between_characters(text: str, length: int, cut: str) -> None:
    assert short(text, length) == cut


@given(TEXTS, st.integers(1, 70))
def test_a_cut_text_is_a_beginning(text: str, length: int) -> None:
    cut = short(text, length)
    assert cut == text or (text.startswith(cut[:-1]) and 0 < len(cut) - 1 <= length)
