"""Hostile model output, from a receipt through templates and Markdown to the elements of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import markdown
import pytest
import yaml

from generator.article import LANGUAGES, Language, render_page
from generator.evidence import Evidence
from generator.text import short
from tests.factory import chat_response, completion_response
from tests.project import ROOT, evidence_of, templates_of

MARK = "zqx"  # in every tag, attribute and address that a hostile text would make
FENCES = "".join(
    f"\n\n{'`' * n}\n## {MARK}\n![{MARK}](http://{MARK}.test/a.png)\n{'`' * n}\n"
    for n in range(3, 7)
)
TEXTS = {
    "script": f"<script>{MARK}</script><img src={MARK} onerror={MARK}()><{MARK}>",
    "closing tags": f"</td></tr></table></pre></div></bdi></mark><h2 id={MARK}>{MARK}</h2>",
    "comment": f"<!-- {MARK} --><![CDATA[<{MARK}>]]><?{MARK} ?>",
    "fences": FENCES,
    "tildes": f"\n~~~\n## {MARK}\n~~~\n",
    "headings": f"\n# {MARK}\n\n{MARK}\n===\n\n## {MARK} {{#{MARK}}}\n",
    "tables": f"| a | \\| {MARK} |\n|---|---|\n| b \\| | c |\n",
    "jinja": f"{{{{ 7*7 }}}}{{% raw %}}{{% for x in y %}}{{## {MARK} ##}}{{# {MARK} #}}",
    "bidirectional": "a\u202e\u2066evil\u2069\u200f\u061c b",
    "invisible": "a\u200b\u200d\ufeff\u00ad\u2028\u2029\u3000\u180e b",
    "control": "a\x00\x01\x02\x03\x07\x1b[31m\x7f\x85 b\r\n\tc",
    "surrogates": "a\ud800\udfff b",
    "links": f"[x](javascript:{MARK}) <javascript:{MARK}> http://{MARK}.test ![x]({MARK})",
    "attributes": f"x{{: #{MARK} .{MARK} onclick={MARK} }}\n{{: .{MARK} }}",
    "references": f"[x]: http://{MARK}.test\n*[HTML]: {MARK}\n[^1]: {MARK}\n[x] [^1]",
    "entities": "&lt;b&gt;&amp;&#60;i&#62;&copy;&nbsp;&#0;",
    "quotes": f'"\' onmouseover="{MARK}" \'',
    "admonition": f'\n!!! danger "{MARK}"\n    {MARK}\n\n??? {MARK}\n',
    "snippets": f'--8<-- "/etc/passwd"\n[TOC]\n:material-{MARK}: :smile: ++ctrl+{MARK}++ $x$',
    "stash": "\u0002wzxhzdk:0\u0003 \u0002klzzwxh:0001\u0003",
    "long": "x" * 200_000 + f"<{MARK}>",
    "wide": "👩‍👩‍👧" * 60 + "e\u0301" * 60 + "مرحبا" * 10,
    "only marks": "\u0301\u0301\u20e3",
    "empty": "",
    "newlines": "\n\n\n\n",
}
LONG = 10_000


@dataclass
class Page(HTMLParser):
    """A page's elements, headings, and the texts that came from the model, put back."""

    tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    model_texts: list[str] = field(default_factory=list)
    _open: list[tuple[str, bool, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:  # noqa: D105
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append((tag, tuple(attrs)))
        inside = any(model for _, model, _ in self._open)
        model = values.get("class") == "model-text"
        if model and not inside:
            self.model_texts.append("")
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.headings.append("")
        badge = "data-cp" in values
        if badge and inside:
            self.model_texts[-1] += chr(int(str(values["data-cp"]).removeprefix("U+"), 16))
        if tag not in {"br", "img", "input", "hr", "path", "line", "rect"}:
            self._open.append((tag, model, badge))

    def handle_endtag(self, tag: str) -> None:
        if self._open and tag in {name for name, _, _ in self._open}:
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        badged = any(badge for _, _, badge in self._open)
        if any(model for _, model, _ in self._open) and not badged:
            self.model_texts[-1] += data
        if self._open and self._open[-1][0] in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.headings[-1] += data


class _Loader(yaml.SafeLoader):
    """Reads the names of Python objects in MkDocs' configuration as plain text."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda _loader, suffix, _node: suffix)


def to_html(page: str) -> Page:
    """Read a page as MkDocs does: front matter off, its Markdown extensions on."""
    # the project's own file, read by a safe loader
    config = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader=_Loader)  # noqa: S506
    names, options = [], {}
    for entry in config["markdown_extensions"]:
        name, values = next(iter(entry.items())) if isinstance(entry, dict) else (entry, {})
        names.append(name)
        options[name] = values
    body = page.split("\n---\n", 1)[1]
    parsed = Page()
    parsed.feed(markdown.markdown(body, extensions=names, extension_configs=options))
    parsed.close()
    return parsed


def evidence(project: Path, text: str) -> Evidence:
    """Return evidence in which the model wrote *text* wherever it can."""

    def completion(_boot: int, ask: int) -> Mapping[str, Any]:
        cache_n, prompt_n = (5, 1) if ask else (0, 6)
        return completion_response([f"{ask}", text], cache_n=cache_n, prompt_n=prompt_n)

    def uncached(_boot: int, ask: int) -> Mapping[str, Any]:
        return completion_response([text, f" {ask}"], stop=text or "eos")

    def chat(_boot: int, ask: int) -> Mapping[str, Any]:
        return chat_response(f"{text}{ask}", thinking=text, tokens=[f"{ask}", text], stop="stop")

    answers = {"runs": uncached, "replays": chat, "widths": completion, "thoughts": chat}
    return evidence_of(project, "small", answers)


def shape(page: Page) -> list[str]:
    """Return a page's elements without what inert text is made of."""
    return [
        tag
        for tag, attributes in page.tags
        if tag not in {"bdi", "path", "line", "text", "g"} and dict(attributes).get("class") != "uc"
    ]


@pytest.fixture(scope="module")
def tame_pages(measured: Path) -> Mapping[Language, Page]:
    """Return the pages of a model that wrote nothing but a word."""
    given = evidence(measured, "tame")
    return {lang: to_html(render_page(templates_of(measured), given, lang)) for lang in LANGUAGES}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", TEXTS)
def test_nothing_but_text_comes_of_what_a_model_wrote(
    measured: Path, tame_pages: Mapping[Language, Page], name: str, lang: Language
) -> None:
    text = TEXTS[name]
    templates = templates_of(measured)
    page = to_html(render_page(templates, evidence(measured, text), lang))
    tame = tame_pages[lang]
    assert not [part for part in page.tags if MARK in str(part)]
    assert page.headings == tame.headings
    assert MARK not in "".join(page.headings)
    assert "49" not in [part.strip() for part in page.model_texts]
    if text.strip():
        assert shape(page) == shape(tame)
    for tag, attributes in page.tags:
        assert not [key for key, _ in attributes if key.startswith("on")], tag
        assert not [value for _, value in attributes if str(value).startswith("javascript:")]


@pytest.mark.parametrize("name", [name for name in TEXTS if len(TEXTS[name]) < LONG])
def test_every_character_can_be_read_back(measured: Path, name: str) -> None:
    text = TEXTS[name]
    page = to_html(render_page(templates_of(measured), evidence(measured, text), "en"))
    whole = [shown for shown in page.model_texts if shown.startswith("1 · ")]
    lines = [f"{n} · {text} {n - 1}".replace("\n", " ") for n in range(1, 5)]
    assert whole == ["\n".join([*lines, ""])]
    for ask in range(4):
        assert short(f"{text} {ask}", 72) in page.model_texts


def test_a_long_text_is_short_in_tables_and_whole_below(measured: Path) -> None:
    text = TEXTS["long"]
    page = to_html(render_page(templates_of(measured), evidence(measured, text), "en"))
    whole = [shown for shown in page.model_texts if shown.startswith("1 · ")]
    assert whole[0].count(text) == 4
    assert max(len(shown) for shown in page.model_texts if shown not in whole) < 200


@pytest.mark.parametrize("lang", LANGUAGES)
def test_failures_and_oddities_of_a_server_are_inert_too(measured: Path, lang: Language) -> None:
    hostile = (TEXTS["script"] + TEXTS["fences"]).strip()
    given = evidence(measured, "tame")
    receipts = dict(given.receipts)
    receipt = receipts["replays"]
    boot = receipt.boots[0]
    odd = [{"name": hostile, "declared": hostile, "effective": [hostile]}]
    model = next(iter(receipt.models.values())).model_copy(
        update={"title": hostile, "file": hostile, "metadata": {"file_type": hostile}}
    )
    changed = receipt.model_validate(
        {
            **receipt.model_dump(),
            "boots": [{**boot.model_dump(), "model": hostile, "mismatches": odd}],
            "models": {hostile: model.model_dump()},
            "host": {**receipt.host.model_dump(), "cpu": hostile, "os": hostile},
            "generator": {
                "version": hostile,
                "commit": hostile,
                "dirty": True,
                "commit_unknown": None,
            },
        }
    )
    receipts["replays"] = changed
    templates = templates_of(measured)
    tame = to_html(render_page(templates, given, lang))
    page = to_html(
        render_page(templates, Evidence(given.declaration, receipts, {}, given.claims), lang)
    )
    assert not [part for part in page.tags if MARK in str(part)]
    assert page.headings == tame.headings
    assert "javascript" not in str(page.tags)


def test_hostile_receipts_render_in_the_real_article_s_request(measured: Path) -> None:
    given = evidence(measured, "tame")
    receipt = given.receipts["replays"]
    hostile = "".join(text for text in TEXTS.values() if len(text) < LONG)
    ask = receipt.boots[0].asks[0]
    request = {**ask.request, "messages": [{"role": "user", "content": hostile}]}
    asks = [ask.model_copy(update={"request": request}), *receipt.boots[0].asks[1:]]
    boots = [receipt.boots[0].model_copy(update={"asks": asks})]
    receipts = {**given.receipts, "replays": receipt.model_copy(update={"boots": boots})}
    changed = Evidence(given.declaration, receipts, {}, given.claims)
    text = render_page(templates_of(measured), changed, "en")
    assert text.encode().decode() == text
    page = to_html(text)
    assert not [part for part in page.tags if MARK in str(part)]
    assert page.headings == to_html(render_page(templates_of(measured), given, "en")).headings
