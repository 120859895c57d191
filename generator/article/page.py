"""Pages: an article in one language, and the list of articles, as Markdown for MkDocs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from generator.article.faults import TEMPLATES, placed_faults, template_file
from generator.article.functions import Functions
from generator.article.html import finalize
from generator.article.shown import Listed
from generator.article.words import LANGUAGES, Language, read_words
from generator.errors import InputError, SiteError
from generator.evidence import Evidence
from generator.source_text import read_text

_DEPTH = {"zh": "../../", "en": "../../../"}
_WORDS_A_MINUTE, _HAN_A_MINUTE = 230, 400


def page_path(root: Path, article: str, lang: Language) -> Path:
    """Return where an article's page in *lang* lies below *root*."""
    return root / "site" / lang / "articles" / f"{article}.md"


def render_page(templates: Sequence[Path], evidence: Evidence, lang: Language) -> str:
    """Render an article in one language; the same evidence gives the same bytes.

    Args:
        templates: Folders searched in order; a project's own comes first.
        evidence: The declaration, its receipts and judged claims.
        lang: The page's language.

    Returns:
        Markdown with front matter.

    Raises:
        InputError: A template is faulty, or speaks of something that is not there.
    """
    functions = functions_of(templates, evidence, lang)
    environment = functions.environment
    name = article_template(evidence.declaration.article, lang)
    with placed_faults(template_file(name)):
        body = environment.get_template(name).render()
        page = environment.get_template("page.md.j2").render(
            body=Markup(body.strip()),  # noqa: S704 - finalize() made its values inert
            minutes=reading_minutes(body),
            front=Markup(_front_matter(evidence, lang)),  # noqa: S704 - JSON strings
        )
    return re.sub(r"\n{3,}", "\n\n", page).strip() + "\n"


def article_template(article: str, lang: Language) -> str:
    """Return the name of an article's template."""
    return f"articles/{article}/{lang}.md.j2"


def functions_of(templates: Sequence[Path], evidence: Evidence, lang: Language) -> Functions:
    """Return what the templates of an article's page may call, in an environment of their own."""
    environment = template_environment(templates)
    words = read_words(_home(templates, "strings.yaml"), lang)
    functions = Functions(environment, evidence, words, _DEPTH[lang])
    environment.globals.update(functions.context())
    return functions


def render_index(
    templates: Sequence[Path], all_evidence: Sequence[Evidence], lang: Language
) -> str:
    """Render the list of articles in their authors' order; equal ones newest first."""
    environment = template_environment(templates)
    words = read_words(_home(templates, "strings.yaml"), lang)
    newest = sorted(
        all_evidence, key=lambda e: (e.measured_on or "", e.declaration.article), reverse=True
    )
    ordered = sorted(newest, key=lambda e: e.declaration.head.order)
    with placed_faults(template_file("index.md.j2")):
        page = environment.get_template("index.md.j2").render(
            lang=lang,
            word=lambda key: Markup(words.label(key)),  # noqa: S704 - our own words
            day=words.day,
            articles=[Listed.of(evidence) for evidence in ordered],
        )
    return page.strip() + "\n"


def reading_minutes(body: str) -> int:
    """Return how long a page takes to read, in whole minutes, tables and code left out."""
    prose = re.sub(r"(?s)```.*?```|<table.*?</table>|<figure.*?</figure>|<[^>]*>|&#\w+;", " ", body)
    han = len(re.findall(r"[\u4e00-\u9fff]", prose))
    words = len(re.findall(r"[A-Za-z][\w'’-]*", prose))
    return max(1, round(han / _HAN_A_MINUTE + words / _WORDS_A_MINUTE))


def template_environment(templates: Sequence[Path]) -> Environment:
    """Return the environment in which pages are rendered: values inert, nothing undefined."""
    return Environment(
        loader=FunctionLoader(lambda name: _load(templates, name)),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        # `{#` opens the id of a heading, as in `## Title {#id}`
        comment_start_string="{##",
        comment_end_string="##}",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def read_template(templates: Sequence[Path], name: str) -> str | None:
    """Return a template's text, or None if there is no such template.

    Args:
        templates: Folders searched in order.
        name: Its name below them.

    Raises:
        InputError: It cannot be read, is not UTF-8, holds a merge conflict or unseen characters.
    """
    path = next((folder / name for folder in templates if (folder / name).is_file()), None)
    if path is None or ".." in Path(name).parts:
        return None
    text, faults = read_text(path, TEMPLATES + name, allowed="\t")
    if faults:
        raise InputError(faults)
    return text


def _load(templates: Sequence[Path], name: str) -> tuple[str, str, None] | None:
    text = read_template(templates, name)
    return None if text is None else (text, TEMPLATES + name, None)


def _home(templates: Sequence[Path], name: str) -> Path:
    for folder in templates:
        if (folder / name).is_file():
            return folder
    raise SiteError(
        f"There is no templates/{name}.", "Restore it from the repository, or reinstall."
    )


def _front_matter(evidence: Evidence, lang: Language) -> str:
    head = evidence.declaration.head
    lines: dict[str, str | int] = {
        "title": head.title.of(lang),
        "description": head.summary.of(lang),
        "order": head.order,
    }
    if evidence.measured_on:
        lines["measured"] = evidence.measured_on
    quoted = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in lines.items()]
    return "\n".join(["---", *quoted, "---"])


__all__ = ["LANGUAGES", "page_path", "reading_minutes", "render_index", "render_page"]
