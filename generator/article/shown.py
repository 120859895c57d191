"""What a template sees of today's declaration: names and wording, no settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generator.declaration import Author, Experiment, Resolved
from generator.evidence import Evidence
from generator.schema import Bilingual, Model


@dataclass(frozen=True)
class Heading:
    """An article's title, summary and author."""

    title: Bilingual
    summary: Bilingual
    author: Author


@dataclass(frozen=True)
class Listed:
    """An article as the list of articles sees it."""

    article: str
    title: Bilingual
    summary: Bilingual
    measured_on: str | None

    @classmethod
    def of(cls, evidence: Evidence) -> Listed:
        """Return what a template may see of an article."""
        declaration = evidence.declaration
        head = declaration.head
        return cls(declaration.article, head.title, head.summary, evidence.measured_on)


@dataclass(frozen=True)
class Shown:
    """An experiment's name and wording.

    Attributes:
        name: The variant's name.
        title: The experiment's title.
        wording: Further wording by its place, such as `interventions.<name>.because`.
    """

    name: str
    title: Bilingual
    wording: Mapping[str, Any]

    @classmethod
    def of(cls, resolved: Resolved[Experiment]) -> Shown:
        """Return what a template may see of an experiment."""
        return cls(resolved.name, resolved.spec.title, _wording(resolved.spec))


def _wording(value: Any) -> dict[str, Any]:
    """Return the parts of *value* that are wording, in their places."""
    if isinstance(value, Model):
        parts = {name: getattr(value, name) for name in type(value).model_fields}
    else:
        parts = value if isinstance(value, dict) else {}
    found = {
        str(name): part if isinstance(part, Bilingual) else _wording(part)
        for name, part in parts.items()
    }
    return {name: part for name, part in found.items() if part}
