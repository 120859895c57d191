"""Every label in both languages, from `templates/strings.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal, get_args

from babel.dates import format_date
from babel.numbers import format_decimal

from generator.errors import Fault, InputError
from generator.schema import Bilingual, Model
from generator.yamlfile import load, read_model

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
_LOCALES = {"zh": "zh_Hans_CN", "en": "en_GB"}


class Strings(Model):
    """The file of labels: a key, and its words in each language."""

    labels: dict[str, Bilingual]


@dataclass(frozen=True)
class Words:
    """The labels, dates and numbers of one language."""

    lang: Language
    labels: Mapping[str, Bilingual]

    def label(self, key: str, **values: object) -> str:
        """Return the label *key*, with `{name}` replaced by *values*.

        Raises:
            InputError: There is no such label.
        """
        if key not in self.labels:
            fault = Fault("templates/strings.yaml", 1, 1, f"$.labels.{key}", "no such label", "add")
            raise InputError([fault])
        return self.labels[key].of(self.lang).format(**values)

    def day(self, iso: str) -> str:
        """Return an ISO date as it is written in this language."""
        return format_date(date.fromisoformat(iso), format="long", locale=_LOCALES[self.lang])

    def number(self, value: float, digits: int | None = None) -> str:
        """Return a number as it is written in this language.

        Args:
            value: The number.
            digits: Digits after the point; None keeps what the value has.
        """
        pattern = "#,##0.########" if digits is None else "#,##0." + "0" * digits
        return format_decimal(value, format=pattern.rstrip("."), locale=_LOCALES[self.lang])


def read_words(templates: Path, lang: Language) -> Words:
    """Read the labels of one language."""
    document = load(templates / "strings.yaml", name="templates/strings.yaml")
    return Words(lang, read_model(document, Strings).labels)
