"""The article on upgrades: what its claims say where nothing, all or some of it can be compared."""

from __future__ import annotations

import pytest

from generator.claims import Outcome, judge
from generator.evidence import declare
from tests.project import ROOT

CLAIMS = declare(ROOT, "survive-an-upgrade").head.claims


@pytest.mark.parametrize("name", ["tokens-survive", "bits-survive"])
@pytest.mark.parametrize(
    ("compared", "agree", "outcome"), [(0, 0, "unmeasured"), (4, 4, "holds"), (4, 3, "fails")]
)
def test_builds_agree_only_where_something_was_compared(
    name: str, compared: int, agree: int, outcome: Outcome
) -> None:
    matrix = {"compared": compared, "differ": compared - agree, "bitwise": agree}
    assert judge(name, CLAIMS[name], {"answers.matrix": matrix}).outcome == outcome


@pytest.mark.parametrize("name", ["new-repeats", "old-repeats", "threads-survive"])
def test_a_build_without_comparable_answers_is_not_judged(name: str) -> None:
    analysis = {"control": None, "across_threads": None}
    analyses = {"answers": analysis, "answers@llama-server-b11434": analysis}
    assert judge(name, CLAIMS[name], analyses).outcome == "unmeasured"
