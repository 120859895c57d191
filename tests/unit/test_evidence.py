"""An article speaks of the receipts that there are, and of nothing that was not measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from generator.declaration import Override
from generator.errors import AuditError, InputError
from generator.evidence import Evidence, articles, declare, gather, read_evidence, read_receipts
from generator.files import write_atomically
from generator.receipt import Receipt, receipt_path, render
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
    assert Evidence(declare(root, "right"), receipts, {}, {}).measured_on == "2026-03-01"


def test_receipts_of_undeclared_experiments_are_not_evidence(root: Path) -> None:
    write_atomically(receipt_path(root, "right", "gone"), render(_receipt("a")))
    assert read_receipts(root, declare(root, "right")) == {}


def test_a_damaged_receipt_is_named(root: Path) -> None:
    write_atomically(receipt_path(root, "right", "runs"), "{}")
    with pytest.raises(AuditError, match=r"receipts/right/runs\.json does not fit"):
        read_evidence(root, "right")


@pytest.mark.parametrize("kind", ["folder", "link to nowhere"])
def test_what_is_no_file_is_no_missing_receipt(root: Path, kind: str) -> None:
    path = receipt_path(root, "right", "runs")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir() if kind == "folder" else path.symlink_to("nowhere")
    with pytest.raises(AuditError, match=r"receipts/right/runs\.json cannot be read") as caught:
        read_evidence(root, "right")
    assert "git checkout -- receipts/right/runs.json" in caught.value.remedy


def test_articles_are_the_declarations(root: Path) -> None:
    shutil.copy(ASSET, root / "receipts" / "another.yaml")
    assert articles(root) == ["another", "right"]


def test_a_folder_without_declarations_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no declaration in ") as caught:
        articles(tmp_path)
    assert "--root" in str(caught.value)


def test_an_article_cannot_take_the_lists_address(tmp_path: Path) -> None:
    (tmp_path / "receipts").mkdir()
    (tmp_path / "receipts/index.yaml").write_text("title: x\n")
    with pytest.raises(InputError, match=r"receipts/index.yaml:1:1: .*`index`.*rename the file"):
        articles(tmp_path)


# --- variants: several engines and models


@pytest.fixture
def several(root: Path) -> Path:
    path = root / "receipts" / "right.yaml"
    text = path.read_text().replace("engine: some-engine", "engine: [some-engine, other.engine-2]")
    text = text.replace("model: some-model", "model: [some-model, tiny]")
    assert "other.engine-2" in text
    assert "[some-model, tiny]" in text
    path.write_text(text)
    return root


def test_every_pair_of_pins_is_a_variant_and_the_first_has_the_plain_name(several: Path) -> None:
    declaration = declare(several, "right")
    assert declaration.firsts == ["runs"]
    named = {n: (e.model, e.engine) for n, e in declaration.experiments.items()}
    assert named == {
        "runs": ("some-model", "some-engine"),
        "runs@other.engine-2": ("some-model", "other.engine-2"),
        "runs@tiny": ("tiny", "some-engine"),
        "runs@tiny@other.engine-2": ("tiny", "other.engine-2"),
    }
    assert declaration.variants("runs") == list(named)


def test_a_pin_asked_for_takes_the_first_one_s_place_unless_it_is_declared(several: Path) -> None:
    replaced = declare(several, "right", Override(engine="third"))
    assert [e.engine for e in replaced.experiments.values()] == ["third", "other.engine-2"] * 2
    declared = declare(several, "right", Override(engine="other.engine-2"))
    assert list(declared.experiments) == list(declare(several, "right").experiments)


def test_a_claim_may_look_at_a_variant_and_at_the_matrix(several: Path) -> None:
    path = several / "receipts" / "right.yaml"
    text = path.read_text()
    path.write_text(
        text.replace("when: runs.distinct > 1", "when: runs_matrix.differ + runs_tiny.distinct > 0")
    )
    receipts = {
        name: _receipt("a", "b").model_copy(update={"experiment": name})
        for name in ("runs", "runs@tiny")
    }
    evidence = gather(declare(several, "right"), receipts)
    assert list(evidence.matrices) == ["runs"]
    assert evidence.claims["several"].outcome == "holds"
    alone = gather(declare(several, "right"), {"runs": receipts["runs"]})
    assert alone.matrices == {}
    assert alone.claims["several"].outcome == "unmeasured"


def test_a_misspelt_field_of_a_matrix_is_named(several: Path) -> None:
    path = several / "receipts" / "right.yaml"
    path.write_text(path.read_text().replace("runs.distinct > 1", "runs_matrix.difer > 0"))
    with pytest.raises(InputError, match=r"difer.*did you mean `differ`"):
        declare(several, "right")
