"""Articles: templates and evidence become bilingual Markdown."""

from generator.article.page import LANGUAGES, page_path, render_index, render_page
from generator.article.words import Language

__all__ = ["LANGUAGES", "Language", "page_path", "render_index", "render_page"]
