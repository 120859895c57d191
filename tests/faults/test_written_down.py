"""docs/faults.md says word for word what the tests have heard, and leaves no fault out."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.conftest import GOLDEN
from tests.faults.stage import CODE

PAGE = CODE / "docs/faults.md"
HEAD = """# What happens when something breaks

Each message below was printed by a test with a real process (`tests/faults`, `tests/engine`), which
checks that it fits on a screen of 24 rows, that answers on disk are kept, that nothing looks
finished which is not, and that no process is left. Words in capitals stand for what differs from
one run to the next. This page is written by `pytest tests/faults --regenerate-golden`.

`kill -9` of the command says nothing: the engine dies with it, and the same command goes on.
"""


def written() -> str:
    """Return the page as it should be."""
    text = HEAD
    for fault in yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text("utf-8")):
        message = (GOLDEN / f"faults/{fault['message']}.txt").read_text("utf-8")
        text += f"\n## {fault['title']}\n\n{fault['what']}\n\n```text\n{message}```\n"
    return text


def test_the_page_is_what_the_tests_have_heard(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--regenerate-golden"):
        PAGE.write_text(written(), "utf-8")
    assert PAGE.read_text("utf-8") == written(), "pytest tests/faults --regenerate-golden"


def test_every_message_is_on_the_page() -> None:
    listed = yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text("utf-8"))
    heard = {path.stem for path in (GOLDEN / "faults").glob("*.txt")}
    assert {fault["message"] for fault in listed} == heard
