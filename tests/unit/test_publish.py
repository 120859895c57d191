"""What is written beside receipts follows from the receipts that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.evidence import declare
from generator.files import write_atomically
from generator.matrix import matrix_path
from generator.publish import write_matrices
from generator.receipt import receipt_path, render
from tests.factory import completion_response, make_boot, make_receipt
from tests.project import ROOT

ASSET = ROOT / "tests" / "assets" / "declarations" / "right.yaml"
VARIANTS = ("runs", "runs@other-engine")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a project with one experiment, measured on two engines."""
    declared = ASSET.read_text().replace(
        "engine: some-engine", "engine: [some-engine, other-engine]"
    )
    write_atomically(tmp_path / "receipts" / "right.yaml", declared)
    for name in VARIANTS:
        receipt = make_receipt(
            "repeat", [make_boot([completion_response()])], article="right", experiment=name
        )
        write_atomically(receipt_path(tmp_path, "right", name), render(receipt))
    write_matrices(tmp_path, declare(tmp_path, "right"))
    return tmp_path


def sums(root: Path) -> list[str]:
    text = (root / "receipts" / "right" / "SHA256SUMS").read_text()
    return [line.split("  ")[1] for line in text.splitlines()]


def test_a_matrix_is_written_and_digested_with_the_receipts_that_it_compares(root: Path) -> None:
    assert matrix_path(root, "right", "runs").is_file()
    assert sums(root) == ["runs.json", "runs.matrix.json", "runs@other-engine.json"]


@pytest.mark.parametrize("gone", VARIANTS)
def test_a_matrix_is_removed_where_there_is_nothing_left_to_compare(root: Path, gone: str) -> None:
    receipt_path(root, "right", gone).unlink()
    for _ in range(2):
        write_matrices(root, declare(root, "right"))
        assert not matrix_path(root, "right", "runs").exists()
        assert sums(root) == [f"{name}.json" for name in VARIANTS if name != gone]
