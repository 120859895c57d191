"""What a page says of the program that measured: its version and commit, or one near it."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.article import LANGUAGES, Language, render_page
from generator.article.provenance import provenance
from generator.evidence import gather, read_evidence
from generator.receipt import GeneratorRecord
from tests.factory import make_boot, make_receipt
from tests.project import templates_of

COMMIT = "1234567" + "8" * 33
RECORDS = [
    (GeneratorRecord(version="1.2", commit=COMMIT, dirty=False, commit_unknown=None), ""),
    (GeneratorRecord(version="1.2", commit=COMMIT, dirty=True, commit_unknown=None), "+"),
]


@pytest.mark.parametrize(("record", "mark"), RECORDS, ids=["clean", "dirty"])
def test_a_dirty_checkout_is_marked(record: GeneratorRecord, mark: str) -> None:
    receipt = make_receipt("repeat", [make_boot()], generator=record)
    assert provenance([receipt])["generators"] == [f"1.2 (1234567{mark})"]


def test_a_clean_and_a_dirty_checkout_are_two_programs() -> None:
    receipts = [make_receipt("repeat", [make_boot()], generator=record) for record, _ in RECORDS]
    found = provenance([*receipts, *receipts])["generators"]
    assert found == ["1.2 (1234567)", "1.2 (1234567+)"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_mark_is_on_the_page(measured: Path, lang: Language) -> None:
    given = read_evidence(measured, "small")
    for record, mark in RECORDS:
        receipts = {
            name: receipt.model_copy(update={"generator": record})
            for name, receipt in given.receipts.items()
        }
        page = render_page(templates_of(measured), gather(given.declaration, receipts), lang)
        shown = f"1234567{mark}".replace("+", "&#43;")
        assert any(
            f"{text})" in page or f"{text}&#41;" in page for text in (shown, f"1234567{mark}")
        )
