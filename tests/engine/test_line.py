"""The whole line on a real engine and model: run, render, audit, by the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from generator.cli import invoke

ROOT = Path(__file__).resolve().parents[2]
ARTICLE = "why-outputs-differ"

pytestmark = pytest.mark.engine


def test_an_experiment_is_measured_rendered_and_audited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(
        ROOT / "receipts",
        tmp_path / "receipts",
        ignore=shutil.ignore_patterns("*.json", "SHA256SUMS"),
    )
    root = ["--root", str(tmp_path)]
    assert invoke([*root, "run", f"{ARTICLE}/five-runs"]) == 0
    assert "[5/5] five-runs · main · ask 5" in capsys.readouterr().err
    receipt = json.loads((tmp_path / "receipts" / ARTICLE / "five-runs.json").read_text())
    asks = receipt["boots"][0]["asks"]
    assert len({ask["request"]["seed"] for ask in asks}) == 5
    assert all(ask["outcome"]["response"]["timings"]["cache_n"] == 0 for ask in asks)
    assert str(tmp_path) not in json.dumps(receipt)
    assert not list((tmp_path / ".work").rglob("*.jsonl"))
    assert invoke([*root, "render"]) == 0
    assert invoke([*root, "audit"]) == 0
    first = receipt["boots"][0]["asks"][0]["request"]["seed"]
    assert str(first) in (tmp_path / "site/en/articles" / f"{ARTICLE}.md").read_text()
