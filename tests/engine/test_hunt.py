"""A real flip is found among made-up prompts, shortened, and written down, by the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from generator.cli import invoke
from generator.evidence import declare
from tests.engine.conftest import ALIAS, ROOT

pytestmark = pytest.mark.engine


def test_a_warm_cache_is_seen_to_flip_a_made_up_prompt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "receipts/pins", tmp_path / "receipts/pins")
    root = ["--root", str(tmp_path)]
    hunt = [
        *("hunt", "--model", ALIAS, "--between", "cache=cold", "cache=warm", "--limit", "22"),
        *("--settings", "threads=1 threads_batch=1", "--max-tokens", "24", "--name", "found"),
    ]
    assert invoke([*root, *hunt]) == 0
    shown = capsys.readouterr()
    assert "on fresh servers." in shown.out
    assert "shortened: " in shown.err
    experiment = declare(tmp_path, "found").experiments["found"]
    assert (experiment.spec.kind, experiment.engine) == ("sweep", "llama-server-b11549")
    assert experiment.prompt
    assert invoke([*root, "check"]) == 0
    capsys.readouterr()
    assert invoke([*root, *hunt]) == 0
    again = capsys.readouterr()
    assert again.out == shown.out
    assert again.err.count("known from before") == again.err.count("\n")
