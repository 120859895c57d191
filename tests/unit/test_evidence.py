"""An article speaks of the receipts that there are, and of nothing that was not measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from generator.errors import AuditError, InputError, ReceiptsError
from generator.evidence import articles, declare, gather, read_evidence, read_receipts
from generator.receipt import Receipt, receipt_path, render, write_atomically
from tests.factory import completion_response, make_boot, make_receipt

ASSET = Path(__file__).parents[1] / "assets" / "declarations" / "right.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "receipts").mkdir()
    shutil.copy(ASSET, tmp_path / "receipts" / "right.yaml")
    return tmp_path


def _receipt(*texts: str, measured_on: str = "2026-01-02") -> Receipt:
    boots = [make_boot([completion_response(text) for text in texts])]
    return make_receipt(
        "repeat", boots, article="right", experiment="runs", measured_on=measured_on
    )


def test_without_receipts_every_claim_is_unmeasured(root: Path) -> None:
    evidence = read_evidence(root, "right")
    assert evidence.receipts == {}
    assert evidence.measured_on is None
    assert evidence.claims["several"].outcome == "unmeasured"


@pytest.mark.parametrize(("texts", "outcome"), [("abc", "holds"), ("aaa", "fails")])
def test_claims_are_judged_by_the_receipts(root: Path, texts: str, outcome: str) -> None:
    receipt = _receipt(*texts)
    write_atomically(receipt_path(root, "right", "runs"), render(receipt))
    evidence = read_evidence(root, "right")
    assert evidence.receipts == {"runs": receipt}
    assert evidence.claims["several"].outcome == outcome


def test_a_receipt_of_failures_leaves_the_claim_unmeasured(root: Path) -> None:
    failed = make_receipt("repeat", [make_boot([None, None])], article="right", experiment="runs")
    evidence = gather(declare(root, "right"), {"runs": failed})
    assert evidence.claims["several"].outcome == "unmeasured"
    assert evidence.claims["several"].reason == "distinct was not measured"


def test_the_last_measurement_dates_the_article(root: Path) -> None:
    receipts = {
        name: _receipt("a", measured_on=day)
        for name, day in (("runs", "2026-01-02"), ("b", "2026-03-01"), ("c", "2025-12-31"))
    }
    assert gather(declare(root, "right"), receipts).measured_on == "2026-03-01"


def test_receipts_of_undeclared_experiments_are_not_evidence(root: Path) -> None:
    write_atomically(receipt_path(root, "right", "gone"), render(_receipt("a")))
    assert read_receipts(root, declare(root, "right")) == {}


def test_a_damaged_receipt_is_named(root: Path) -> None:
    write_atomically(receipt_path(root, "right", "runs"), "{}")
    with pytest.raises(AuditError, match=r"receipts/right/runs\.json does not fit"):
        read_evidence(root, "right")


def test_articles_are_the_declarations(root: Path) -> None:
    shutil.copy(ASSET, root / "receipts" / "another.yaml")
    assert articles(root) == ["another", "right"]


def test_a_folder_without_declarations_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(ReceiptsError, match="no declaration here") as caught:
        articles(tmp_path)
    assert "--root" in caught.value.remedy


def test_an_article_cannot_take_the_lists_address(tmp_path: Path) -> None:
    (tmp_path / "receipts").mkdir()
    (tmp_path / "receipts/index.yaml").write_text("title: x\n")
    with pytest.raises(InputError, match=r"receipts/index.yaml:1:1: .*`index`.*rename the file"):
        articles(tmp_path)
