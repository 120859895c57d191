"""The lint of article templates: no bare measured number, one skeleton in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError
from markdown_it import MarkdownIt
from markdown_it.token import Token

from generator.article.page import template_environment
from generator.article.words import LANGUAGES
from generator.declaration import Declaration
from generator.errors import Fault

# what may hold digits: Jinja, code, HTML tags, ids of headings, link targets, names such as Q4_1
_EXEMPT = re.compile(
    r"(?s)\{##.*?##\}|\{\{.*?\}\}|\{%.*?%\}|(?P<fence>`{3,}).*?(?P=fence)|`[^`\n]*`"
    r"|<[A-Za-z/!][^>]*>|\{#[\w-]+\}|\]\([^)]*\)"
)
_NAME = re.compile(r"[A-Za-z_][\w.-]*\d[\w.-]*", re.ASCII)  # 共 and 为 end a name
_BLOCKS = ("table_open", "bullet_list_open", "ordered_list_open", "fence", "tr_open",
           "list_item_open")  # fmt: skip
_SENTENCES = ("topic", "holds", "fails", "unmeasured", "differs")
_NUMBER = re.compile(r"\d[\d.,]*")
_BOLD = re.compile(r"\*\*[^*\n]*[。，！？：；、”）]\*\*[\u4e00-\u9fff]")
_CALLS = ("claim", "show", "fact", "partial", "request", "receipt_link")


def lint_article(templates: Sequence[Path], declaration: Declaration) -> list[Fault]:
    """Check an article's two templates and its claims' sentences.

    Args:
        templates: Folders searched in order.
        declaration: The article's declaration.

    Returns:
        Every fault found.
    """
    faults: list[Fault] = []
    skeletons = {}
    for lang in LANGUAGES:
        name = f"articles/{declaration.article}/{lang}.md.j2"
        path = next((t / name for t in templates if (t / name).is_file()), None)
        file = f"templates/{name}"
        if path is None:
            faults.append(Fault(file, 1, 1, "$", "there is no such template", "write it"))
            continue
        source = path.read_text(encoding="utf-8")
        faults += bare_numbers(source, file)
        faults += _headings(source, file)
        if lang == "zh":
            faults += _bold(source, file)
        try:
            skeletons[lang] = skeleton(templates, source)
        except TemplateSyntaxError as error:
            faults.append(
                Fault(file, error.lineno, 1, "$", str(error.message), "mend the template")
            )
    if len(skeletons) == len(LANGUAGES) and skeletons["zh"] != skeletons["en"]:
        faults.append(_difference(declaration.article, skeletons["zh"], skeletons["en"]))
    return faults + _sentence_faults(declaration)


def _sentence_faults(declaration: Declaration) -> list[Fault]:
    faults: list[Fault] = []
    for name, claim in declaration.head.claims.items():
        for key, lang in product(_SENTENCES, LANGUAGES):
            sentence = getattr(claim, key)
            if sentence is None:
                continue
            path = ("claims", name, key, lang)
            line, column = declaration.document.where(path)
            faults += [
                replace(fault, line=line, column=column)
                for fault in bare_numbers(
                    sentence.of(lang), declaration.file, ".".join(["$", *path])
                )
            ]
    return faults


def bare_numbers(source: str, file: str, path: str = "$") -> list[Fault]:
    """Find numbers in prose that no fact, published value or code span stands behind."""
    blank = _EXEMPT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    blank = _NAME.sub(lambda match: " " * len(match[0]), blank)
    return [
        Fault(
            file,
            blank.count("\n", 0, match.start()) + 1,
            match.start() - blank.rfind("\n", 0, match.start()),
            path,
            f"the bare number {match[0]!r}",
            "print it with fact(…), or put a setting in `code`",
        )
        for match in _NUMBER.finditer(blank)
    ]


def skeleton(templates: Sequence[Path], source: str) -> list[str]:
    """Return what both languages must share, in the order of its lines.

    That is headings with their ids, tables and lists by their rows and items, code blocks, what is
    called, and which claims a branch depends on.
    """
    tree = template_environment(templates).parse(source)
    calls = [
        (call.lineno, f"{call.node.name}{_constants(call.args)}")
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in _CALLS
    ]
    branches = [
        (branch.lineno, f"if {_constants(branch.test.find_all(nodes.Const))}")
        for branch in tree.find_all(nodes.If)
    ]
    found = sorted([*_blocks(source), *calls, *branches], key=lambda part: part[0])
    return [part for _, part in found]


def _constants(found: Iterable[nodes.Node]) -> tuple[object, ...]:
    return tuple(node.value for node in found if isinstance(node, nodes.Const))


def _parse(source: str) -> list[Token]:
    plain = re.sub(r"(?s)\{%.*?%\}", lambda match: "\n" * match[0].count("\n"), source)
    return MarkdownIt("commonmark").enable("table").parse(plain)


def _blocks(source: str) -> Iterator[tuple[int, str]]:
    tokens = _parse(source)
    for index, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open":
            found = re.search(r"\{#([\w-]+)\}", tokens[index + 1].content)
            yield line, f"{token.tag} #{found[1] if found else '?'}"
        elif token.type in _BLOCKS:
            yield line, token.type.removesuffix("_open")


def _difference(article: str, zh: Sequence[str], en: Sequence[str]) -> Fault:
    pairs = enumerate(zip([*zh, "the end"], [*en, "the end"], strict=False))
    left, right = next((a, b) for _, (a, b) in pairs if a != b)
    return Fault(
        f"templates/articles/{article}/en.md.j2",
        1,
        1,
        "$",
        f"its skeleton leaves the Chinese one: {right!r} stands where zh has {left!r}",
        "give both languages the same headings, tables, lists, claims and facts, in one order",
    )


def _headings(source: str, file: str) -> list[Fault]:
    tokens = _parse(source)
    return [
        Fault(
            file,
            token.map[0] + 1 if token.map else 1,
            1,
            "$",
            f"the heading {heading.content!r} has no id",
            "add {#an-id}",
        )
        for token, heading in pairwise(tokens)
        if token.type == "heading_open" and not re.search(r"\{#[a-z][\w-]*\}\s*$", heading.content)
    ]


def _bold(source: str, file: str) -> list[Fault]:
    return [
        Fault(
            file,
            source.count("\n", 0, match.start()) + 1,
            1,
            "$",
            f"{match[0]!r} is bold in one renderer and not in another",
            "move the punctuation behind the closing **",
        )
        for match in _BOLD.finditer(source)
    ]


__all__ = ["bare_numbers", "lint_article", "skeleton"]
