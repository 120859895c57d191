"""The types at a file's border take what they say and nothing like it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from generator.schema import Bilingual, Count, IsoDate, Model, Name, NonEmpty, Sha256, UtcTime


class Sample(Model):
    number: int


@pytest.mark.parametrize("data", [{"number": "1"}, {"number": 1.0}, {"number": 1, "other": 2}, {}])
def test_models_are_strict_and_know_their_keys(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate(data)


def test_models_are_frozen() -> None:
    sample = Sample(number=1)
    with pytest.raises(ValidationError, match="frozen"):
        sample.number = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (IsoDate, "2026-02-28"),
        (UtcTime, "2026-02-28T23:59:59Z"),
        (UtcTime, "2026-02-28T23:59:59.123Z"),
        (Name, "five-runs"),
        (Sha256, "0" * 64),
        (NonEmpty, "x"),
        (Count, 0),
    ],
)
def test_good_values_are_taken(kind: Any, value: Any) -> None:
    assert TypeAdapter(kind).validate_python(value, strict=True) == value


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (IsoDate, "2026-02-30"),
        (IsoDate, "2026-13-01"),
        (IsoDate, "２０２６-01-01"),
        (IsoDate, "2026-1-1"),
        (IsoDate, "2026-01-01\n"),
        (UtcTime, "2026-02-28T24:00:00Z"),
        (UtcTime, "2026-02-28T23:59:59"),
        (UtcTime, "2026-02-28T23:59:59+01:00"),
        (Name, "Five"),
        (Name, "five_runs"),
        (Name, "-a"),
        (Name, "a--b"),
        (Name, "../a"),
        (Name, "a" * 61),
        (Sha256, "0" * 63),
        (Sha256, "A" * 64),
        (NonEmpty, " \n"),
        (Count, -1),
        (Count, True),
    ],
)
def test_bad_values_are_refused(kind: Any, value: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(value, strict=True)


def test_both_languages_are_needed() -> None:
    both = Bilingual(zh="是", en="yes")
    assert (both.of("zh"), both.of("en")) == ("是", "yes")
    with pytest.raises(ValidationError, match="zh"):
        Bilingual.model_validate({"en": "yes"})
