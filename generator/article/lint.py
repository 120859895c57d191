"""The lint of article templates: what they call is there, no number is bare, languages agree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

from jinja2 import nodes
from markdown_it import MarkdownIt
from markdown_it.token import Token

from generator.article.faults import TEMPLATES, WrongCallError, placed_faults, template_file
from generator.article.functions import Functions
from generator.article.numbers import bare_numbers
from generator.article.page import article_template, functions_of, read_template, render_page
from generator.article.words import LANGUAGES
from generator.declaration import Declaration
from generator.errors import Fault, InputError, SiteError
from generator.evidence import Evidence
from generator.yamlfile import path_text

_BLOCKS = ("table_open", "bullet_list_open", "ordered_list_open", "fence", "tr_open",
           "list_item_open")  # fmt: skip
_SENTENCES = ("topic", "holds", "fails", "unmeasured", "differs")
_BOLD = re.compile(r"\*\*[^*\n]*[。，！？：；、”）]\*\*[\u4e00-\u9fff]")
_CALLS = ("claim", "show", "fact", "partial", "request", "receipt_link")
# what is looked up, by how many of its arguments
_LOOKED_UP = {"claim": 1, "show": 1, "request": 1, "receipt_link": 1, "fact": 2, "facts": 2}
Part = tuple[int, str]
"""A line of a template, and what stands there that both languages must share."""


def lint_article(templates: Sequence[Path], evidence: Evidence) -> list[Fault]:
    """Check an article's two templates and its claims' sentences.

    Whatever a template or a sentence names in so many words is looked up, in branches too that
    today's evidence does not reach. If no fault is found so, the pages are rendered.

    Args:
        templates: Folders searched in order.
        evidence: The article's declaration, and what was measured so far.

    Returns:
        Every fault found.
    """
    declaration = evidence.declaration
    faults = _sentence_faults(declaration)
    skeletons = {}
    for lang in LANGUAGES:
        name = article_template(declaration.article, lang)
        file = TEMPLATES + name
        try:
            functions = functions_of(templates, evidence, lang)
            faults += _misnamed_in_sentences(functions)
            source = read_template(templates, name)
            if source is None:
                faults.append(Fault(file, 1, 1, "$", "there is no such template", "write it"))
                continue
            with placed_faults(template_file(name)):
                tree = functions.environment.parse(source, name, file)
        except InputError as error:
            faults += error.faults
            continue
        faults += [*bare_numbers(source, file), *_headings(source, file)]
        if lang == "zh":
            faults += _bold(source, file)
        faults += _misnamed(functions, tree, template_file(name))
        skeletons[lang] = [*skeleton(tree, source), (source.count("\n") + 1, "the end")]
    if len(skeletons) == len(LANGUAGES):
        faults += _differences(declaration.article, skeletons["zh"], skeletons["en"])
    return faults or _rendering_faults(templates, evidence)


def _rendering_faults(templates: Sequence[Path], evidence: Evidence) -> list[Fault]:
    faults: list[Fault] = []
    for lang in () if evidence.stale else LANGUAGES:
        try:
            render_page(templates, evidence, lang)
        except InputError as error:
            faults += error.faults
        except SiteError:  # a receipt's fault, which `render` and `audit` name
            break
    return faults


def _misnamed_in_sentences(functions: Functions) -> list[Fault]:
    declaration = functions.evidence.declaration
    faults: list[Fault] = []
    for path, sentence in _sentences(declaration):
        if path[-1] != functions.words.lang:
            continue
        line, column = declaration.document.where(path)
        place = Fault(declaration.file, line, column, path_text(path), "", "Mend the sentence")
        with placed_faults(place):
            tree = functions.environment.parse(sentence)
        faults += [
            replace(fault, line=line, column=column) for fault in _misnamed(functions, tree, place)
        ]
    return faults


def _misnamed(functions: Functions, tree: nodes.Template, place: Fault) -> list[Fault]:
    """Look up the claims, experiments and values that a template names in so many words."""
    stale = functions.evidence.stale
    faults: list[Fault] = []
    for called, names, line in _named(tree):
        try:
            match called, names:
                case "claim", (name,):
                    functions.outcome(name)
                case "fact", (name, pointer) if name not in stale:
                    functions.fact(name, pointer)
                case "facts", (name, pointer) if name not in stale:
                    functions.value(name, pointer)
                case "fact" | "facts", _:  # it was measured as another thing than is declared
                    pass
                case _:
                    functions.declared(names[0])
        except WrongCallError as error:
            faults.append(
                replace(place, line=line, problem=str(error.message), remedy=error.remedy)
            )
    return faults


def _named(tree: nodes.Template) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield what is called with nothing but texts, with these and its line."""
    for call in tree.find_all(nodes.Call):
        called = call.node.name if isinstance(call.node, nodes.Name) else ""
        texts = tuple(
            arg.value
            for arg in call.args[: _LOOKED_UP.get(called, 0)]
            if isinstance(arg, nodes.Const) and isinstance(arg.value, str)
        )
        if texts and len(texts) == _LOOKED_UP[called]:
            yield called, texts, call.lineno
    for item in tree.find_all(nodes.Getitem):
        match item:
            case nodes.Getitem(node=nodes.Name(name="judged"), arg=nodes.Const(value=str(name))):
                yield "claim", (name,), item.lineno


def _sentence_faults(declaration: Declaration) -> list[Fault]:
    faults: list[Fault] = []
    for path, sentence in _sentences(declaration):
        line, column = declaration.document.where(path)
        faults += [
            replace(fault, line=line, column=column)
            for fault in bare_numbers(sentence, declaration.file, path_text(path))
        ]
    return faults


def _sentences(declaration: Declaration) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every sentence of a claim, with its path in the declaration."""
    for name, claim in declaration.head.claims.items():
        for key, lang in product(_SENTENCES, LANGUAGES):
            sentence = getattr(claim, key)
            if sentence is not None:
                yield ("claims", name, key, lang), sentence.of(lang)


def skeleton(tree: nodes.Template, source: str) -> list[Part]:
    """Return what both languages must share, in the order of its lines.

    That is headings with their ids, tables and lists by their rows and items, code blocks, what is
    called, and which claims a branch depends on.
    """
    calls = [
        (call.lineno, f"{call.node.name}{_constants(call.args)}")
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in _CALLS
    ]
    branches = [
        (branch.lineno, f"if {_constants(branch.test.find_all(nodes.Const))}")
        for branch in tree.find_all(nodes.If)
    ]
    return sorted([*_blocks(source), *calls, *branches], key=lambda part: part[0])


def _constants(found: Iterable[nodes.Node]) -> tuple[object, ...]:
    return tuple(node.value for node in found if isinstance(node, nodes.Const))


def _parse(source: str) -> list[Token]:
    plain = re.sub(r"(?s)\{%.*?%\}", lambda match: "\n" * match[0].count("\n"), source)
    return MarkdownIt("commonmark").enable("table").parse(plain)


def _blocks(source: str) -> Iterator[Part]:
    tokens = _parse(source)
    for index, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open":
            found = re.search(r"\{#([\w-]+)\}", tokens[index + 1].content)
            yield line, f"{token.tag} #{found[1] if found else '?'}"
        elif token.type in _BLOCKS:
            yield line, token.type.removesuffix("_open")


def _differences(article: str, zh: Sequence[Part], en: Sequence[Part]) -> list[Fault]:
    """Name the first place where the skeletons of both languages part."""
    for (zh_line, left), (en_line, right) in zip(zh, en, strict=False):
        if left != right:
            problem = (
                f"its skeleton leaves the Chinese one: {right!r} stands where zh.md.j2:{zh_line} "
                f"has {left!r}"
            )
            remedy = "give both languages the same headings, tables, lists, claims and facts"
            file = TEMPLATES + article_template(article, "en")
            return [Fault(file, en_line, 1, "$", problem, f"{remedy}, in one order")]
    return []


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


__all__ = ["lint_article", "skeleton"]
