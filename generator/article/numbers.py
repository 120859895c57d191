"""Bare numbers: what no fact stands behind, in templates, sentences and pages written by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from generator.article.words import LANGUAGES
from generator.errors import Fault, InputError
from generator.source_text import read_text

# what may hold digits: Jinja, code, HTML tags, ids of headings, link targets, standards, list items
_EXEMPT = re.compile(
    r"(?s)\{##.*?##\}|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}|(?P<fence>`{3,}).*?(?P=fence)|`[^`\n]*`"
    r"|<!--.*?-->|<[A-Za-z/!][^>]*>|\]\([^)]*\)|https?://[^\s)]+|\bRFC \d+|(?m:^ *\d{1,2}\.(?= ))"
)
_NAME = re.compile(r"[A-Za-z_][\w.-]*\d[\w.-]*", re.ASCII)  # 共 and 为 end a name
_NUMBER = re.compile(r"\d[\d.,]*")
_CONFIGS = ("mkdocs.yml", "mkdocs.en.yml")
# what MkDocs prints as it is written
_WORDS = ("site_name", "site_description", "site_author", "copyright", "extra", "toggle")
_REMEDY = "only an article shows what was measured; put a setting in `code`"


def bare_numbers(
    source: str,
    file: str,
    path: str = "$",
    remedy: str = "print it with fact(…), or put a setting in `code`",
) -> list[Fault]:
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
            remedy,
        )
        for match in _NUMBER.finditer(blank)
    ]


def lint_site(root: Path) -> list[Fault]:
    """Check what is published and was written by hand: pages, overrides, and MkDocs's words.

    Articles are left out: they are rendered, and compared with what is rendered again.

    Args:
        root: The project's root.
    """
    site, faults = root / "site", list[Fault]()
    written = [path for lang in LANGUAGES for path in (site / lang).rglob("*.md")]
    for path in sorted([*written, *(site / "overrides").rglob("*.html")]):
        if path.parent.name != "articles":
            faults += _read(path, root, lambda text, name: bare_numbers(text, name, "$", _REMEDY))
    for config in _CONFIGS:
        if (root / config).is_file():
            faults += _read(root / config, root, _in_config)
    return faults


def _read(path: Path, root: Path, look: Callable[[str, str], list[Fault]]) -> list[Fault]:
    name = path.relative_to(root).as_posix()
    try:
        text, faults = read_text(path, name, allowed="\t")
    except InputError as error:
        return list(error.faults)
    return [*faults, *look(text, name)]


def _in_config(text: str, name: str) -> list[Fault]:
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return [Fault(name, line, 1, "$", str(error.problem), "Mend it")]
    return [
        Fault(name, mark.line + 1, mark.column + 1, "$", fault.problem, fault.remedy)
        for word in _words(top, printed=False)
        for mark in (word.start_mark,)
        for fault in bare_numbers(word.value, name, "$", _REMEDY)
    ]


def _words(node: yaml.Node | None, *, printed: bool) -> Iterator[yaml.ScalarNode]:
    """Yield the texts of a MkDocs configuration that are printed."""
    match node:
        case yaml.MappingNode():
            for key, value in node.value:
                yield from _words(value, printed=printed or key.value in _WORDS)
        case yaml.SequenceNode():
            for item in node.value:
                yield from _words(item, printed=printed)
        case yaml.ScalarNode() if printed:
            yield node
