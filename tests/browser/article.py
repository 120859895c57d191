"""A project with one whole article in both languages, made as the templates make one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from generator.text import inert, inert_block
from tests.browser.hostile import HOSTILE

ARTICLE = "one-seed"
COUNTS = (884, 954, 986, 915, 885)
_ROOT = Path(__file__).parents[2]
_ASSETS = _ROOT / "tests" / "assets" / "site"


def write_project(root: Path) -> None:
    """Copy the repository's site without its articles to *root*, and add the fixture article."""
    for name in ("mkdocs.yml", "mkdocs.en.yml", "generator/site_hook.py", "site/overrides"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (_ROOT / name).is_dir():
            shutil.copytree(_ROOT / name, root / name)
        else:
            shutil.copy(_ROOT / name, root / name)
    receipts = root / "receipts" / ARTICLE
    receipts.mkdir(parents=True)
    receipt = {"analysis": {"runs": [{"thinking_chars": count} for count in COUNTS]}}
    (receipts / "five-runs.json").write_text(json.dumps(receipt, indent=2) + "\n")
    (receipts / "SHA256SUMS").write_text(f"{'0' * 64}  five-runs.json\n")
    (root / "receipts" / f"{ARTICLE}.yaml").write_text("schema_version: 1\n")
    words = yaml.safe_load((_ASSETS / "words.yaml").read_text("utf-8"))
    for lang in ("zh", "en"):
        shutil.copytree(
            _ROOT / "site" / lang, root / "site" / lang, ignore=shutil.ignore_patterns("articles")
        )
        pages = root / "site" / lang / "articles"
        pages.mkdir()
        (pages / "index.md").write_text(
            f"---\ntitle: {words[lang]['list']}\n---\n\n# {words[lang]['list']} {{#top}}\n\n"
            "<!-- articles -->\n",
            "utf-8",
        )
        (pages / f"{ARTICLE}.md").write_text(_page(words[lang]), "utf-8")


def _page(words: dict[str, str]) -> str:
    environment = Environment(  # noqa: S701 - the page itself calls inert(), as ours do
        loader=FileSystemLoader(_ASSETS),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        comment_start_string="<#",  # {#id} is a heading's id
        comment_end_string="#>",
    )
    environment.filters |= {"inert": inert, "inert_block": inert_block}
    return environment.get_template("article.md.j2").render(
        w=words,
        counts=COUNTS,
        hostile=HOSTILE,
        receipt=f"{words['prefix']}receipts/{ARTICLE}/five-runs.json",
    )
