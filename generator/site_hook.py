"""What MkDocs calls while it builds: navigation, list of articles, receipts, and page policy."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from urllib.parse import urlsplit

from babel.dates import format_date
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from mkdocs.utils.meta import get_data

from generator.published import published
from generator.site_policy import with_policy
from generator.text import inert

_MARKER = "<!-- articles -->"


@dataclass(frozen=True)
class _Article:
    """An article as the list shows it."""

    source: str
    title: str
    description: str
    measured: date | None
    order: int


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the address and the navigation, which follow from the environment and the files."""
    base = os.environ.get("SITE_URL", "").rstrip("/") + "/"
    # A path is enough for the 404 page's links; with no address known there is no canonical one.
    config.site_url = base if _is_main(config) else f"{base}en/"
    config.extra["scope"] = urlsplit(base).path
    config.nav = _navigation(config)
    measured = [a.measured for a in _articles(Path(config.docs_dir)) if a.measured]
    if measured:  # MkDocs dates every page: by what it says, and not by the day of the build
        day = datetime.combine(max(measured), time(), UTC)
        os.environ["SOURCE_DATE_EPOCH"] = str(int(day.timestamp()))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Publish the receipts beside the pages: once, since both languages link to the same ones."""
    if _is_main(config):
        root = Path(config.config_file_path).parent
        for path in published(root):
            address = path.relative_to(root).as_posix()
            files.append(File.generated(config, address, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the list of articles where it is asked for; escape what the theme prints as it is."""
    for key in ("title", "description"):
        if key in page.meta:
            page.meta[key] = html.escape(str(page.meta[key]))
    if not urlsplit(str(config.site_url)).scheme:
        page.canonical_url = None
    return markdown.replace(_MARKER, "".join(_list(page, config, files)))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Give every page its policy."""
    return with_policy(output)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Give the 404 page its policy too."""
    return with_policy(output_content) if template_name.endswith(".html") else output_content


def _is_main(config: MkDocsConfig) -> bool:
    return bool(config.theme["language"] == "zh")


def _navigation(config: MkDocsConfig) -> list[object]:
    listing = [article.source for article in _articles(Path(config.docs_dir))]
    if (Path(config.docs_dir) / "articles" / "index.md").is_file():
        listing.insert(0, "articles/index.md")
    articles: list[object] = [{config.extra["articles_title"]: listing}] if listing else []
    return ["index.md", *articles, "check.md"]


def _articles(docs: Path) -> list[_Article]:
    """Return the articles below *docs* in their authors' order; equal ones newest first."""
    found = []
    for path in sorted((docs / "articles").glob("[!.]*.md")):
        if path.name != "index.md":
            _, meta = get_data(path.read_text(encoding="utf-8"))
            measured = meta.get("measured")
            found.append(
                _Article(
                    source=f"articles/{path.name}",
                    title=str(meta.get("title", path.stem)),
                    description=str(meta.get("description", "")),
                    measured=date.fromisoformat(str(measured)) if measured else None,
                    order=int(meta.get("order", 100)),
                )
            )
    newest = sorted(found, key=lambda article: article.measured or date.min, reverse=True)
    return sorted(newest, key=lambda article: article.order)


def _list(page: Page, config: MkDocsConfig, files: Files) -> Iterator[str]:
    """Yield raw HTML on one line, which Markdown passes through."""
    yield '<ul class="articles">'
    for article in _articles(Path(config.docs_dir)):
        file = files.get_file_from_path(article.source)
        address = get_relative_url(file.url, page.url) if file else article.source
        yield f'<li><a href="{html.escape(address)}">{inert(article.title)}</a>'
        yield f"<p>{inert(article.description)}</p>"
        if article.measured:
            day = format_date(article.measured, "long", locale=config.extra["locale"])
            label = config.extra["labels"]["measured"]
            yield f'<p class="when">{label} <time datetime="{article.measured}">{day}</time></p>'
        yield "</li>"
    yield "</ul>"
