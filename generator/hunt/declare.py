"""What a find becomes: a declaration, its prompt, and an article of a few words to build on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from generator.declaration import Experiment, Resolved
from generator.errors import RunError
from generator.files import write_anew
from generator.hunt.sides import Side, differing
from generator.sweeps.designs import CACHE, Level

LANGUAGES = ("zh", "en")
ANOTHER_NAME = "Give the find another name: --name."
FOUND = "# Found by `receipts hunt`"  # how the declaration's template begins


def write_find(
    root: Path,
    templates: Sequence[Path],
    resolved: Resolved[Experiment],
    sides: tuple[Side, Side],
    prompt: str,
) -> list[Path]:
    """Write what a find becomes.

    Args:
        root: The project's root.
        templates: Folders searched in order.
        resolved: What was asked: article, model and sampling.
        sides: The two sides.
        prompt: The prompt that flips.

    Returns:
        The declaration, the prompt's file, and the templates of both languages.

    Raises:
        RunError: One of them is there already and is another.
    """
    environment = Environment(
        loader=FileSystemLoader([str(folder) for folder in templates], encoding="utf-8"),
        autoescape=False,  # noqa: S701 - this is YAML, and finalize() quotes for it
        finalize=lambda value: json.dumps(value, ensure_ascii=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    name = resolved.article
    declaration = environment.get_template("hunt/declaration.yaml.j2").render(
        titles={lang: _title(lang, sides) for lang in LANGUAGES},
        prompt_file=f"prompts/{name}.txt",
        model=resolved.model,
        engine=sides[0].engine,
        server=_shared(sides),
        sampling=resolved.sampling.model_dump(mode="json", exclude_defaults=True),
        factors=_factors(sides),
        design="one-at-a-time" if len(set(_factors(sides)) - {CACHE}) <= 1 else "full",
    )
    texts = {
        root / "receipts" / f"{name}.yaml": declaration,
        root / "receipts" / "prompts" / f"{name}.txt": prompt,
    }
    for lang in LANGUAGES:
        page = environment.get_template(f"hunt/{lang}.md.j2").render()
        texts[root / "templates" / "articles" / name / f"{lang}.md.j2"] = page
    write_anew(texts, f"{ANOTHER_NAME} What was tried is kept.")
    return list(texts)


def refuse_taken(root: Path, name: str) -> None:
    """Refuse a name that an article has which no hunt found, before anything is searched for.

    Raises:
        RunError: There is such an article.
    """
    path = root / "receipts" / f"{name}.yaml"
    if path.exists() and not path.read_bytes().startswith(FOUND.encode()):
        raise RunError(f"{path} is there already, and is no find.", ANOTHER_NAME)


def _title(lang: str, sides: tuple[Side, Side]) -> str:
    left, right = (side.words for side in sides)
    if lang == "zh":
        return f"同一段提示词，{left} 与 {right} 答得不同"
    return f"One prompt, answered differently under {left} and {right}"


def _factors(sides: tuple[Side, Side]) -> dict[str, list[Level]]:
    """Return what a sweep has to change to reach both sides, the left one's levels first."""
    factors = differing(*sides)
    if any(side.cache == "warm" for side in sides):
        factors[CACHE] = ["cold", "warm"]  # a sweep's baseline is always cold
    return factors


def _shared(sides: tuple[Side, Side]) -> dict[str, Any]:
    """Return the server settings of both sides that are not the defaults."""
    settings = sides[0].server.model_dump(mode="json", exclude_defaults=True)
    return {name: value for name, value in settings.items() if name not in differing(*sides)}
