"""Tests that every claim of the real article can come out each way, and that the prose follows.

The answers are made up, so nothing here depends on what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from generator.article import LANGUAGES, Language, render_page
from generator.claims import Judged, Outcome
from generator.evidence import Evidence, declare
from tests.factory import chat_response, completion_response
from tests.project import ROOT, SHIPPED, Respond, evidence_of
from tests.unit.article.telling import OUTCOMES, assert_outcomes_are_told

ARTICLE = "why-outputs-differ"
DECLARATION = declare(ROOT, ARTICLE)
CLAIMS = list(DECLARATION.head.claims)
CASES = list(product(LANGUAGES, OUTCOMES))


def _apart(_boot: int, ask: int) -> Mapping[str, Any]:
    words = [(" A", " b"), (" A", " c"), (" A", " d"), (" X", " y"), (" A", " e")]
    return completion_response(words[ask])


def _alike(_boot: int, _ask: int) -> Mapping[str, Any]:
    return completion_response((" A", " b"))


def _repeats(_boot: int, ask: int) -> Mapping[str, Any]:
    return chat_response(tokens=["x", "y"], tokens_per_second=50.0 + ask)


def _wanders(_boot: int, ask: int) -> Mapping[str, Any]:
    return chat_response(tokens=["x", "y" * (ask + 1)])


def _cold_flips(_boot: int, ask: int) -> Mapping[str, Any]:
    if ask == 0:
        return completion_response((" one", (" two", -0.69, -0.7)), cache_n=0, prompt_n=9)
    return completion_response((" one", " three"), cache_n=8, prompt_n=1)


def _no_flip(_boot: int, ask: int) -> Mapping[str, Any]:
    cache_n, prompt_n = (8, 1) if ask else (0, 9)
    return completion_response((" one", " two"), cache_n=cache_n, prompt_n=prompt_n)


def _alone(boot: int, ask: int, alone: str) -> Mapping[str, Any]:
    """Answer a baseline's cold, warm and control asks, and an intervention's in between."""
    if boot % 2:
        return completion_response((" one", alone), cache_n=0, prompt_n=9)
    if ask == 0:
        return completion_response((" one", (" two", -0.69, -0.7)), cache_n=0, prompt_n=9)
    return completion_response((" one", (" three", " four")[ask - 1]), cache_n=8, prompt_n=1)


def _alone_is_warm(boot: int, ask: int) -> Mapping[str, Any]:
    return _alone(boot, ask, " three")


def _alone_is_cold(boot: int, ask: int) -> Mapping[str, Any]:
    return _alone(boot, ask, " two")


def _eaten(_boot: int, ask: int) -> Mapping[str, Any]:
    return chat_response("", thinking="hm" * (ask + 1), stop="length")


def _answered(_boot: int, _ask: int) -> Mapping[str, Any]:
    return chat_response("Hello there you", thinking="hm")


def _failed(_boot: int, _ask: int) -> None:
    return None


ANSWERS: Mapping[str, Mapping[Outcome, Respond]] = {
    name: {"holds": holds, "fails": fails, "unmeasured": _failed}
    for name, holds, fails in (
        ("five-runs", _apart, _alike),
        ("det-results-a", _repeats, _wanders),
        ("ubatch-short", _cold_flips, _no_flip),
        ("ubatch-long", _cold_flips, _no_flip),
        ("last-token", _alone_is_warm, _alone_is_cold),
        ("thinking", _eaten, _answered),
    )
}


@pytest.fixture(scope="module")
def forced() -> Mapping[Outcome, Evidence]:
    """Return evidence in which every claim comes out one way, by its condition."""
    return {
        outcome: evidence_of(ROOT, ARTICLE, {name: ANSWERS[name][outcome] for name in ANSWERS})
        for outcome in OUTCOMES
    }


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_conditions_really_come_out_so(
    forced: Mapping[Outcome, Evidence], outcome: Outcome
) -> None:
    assert {n: judged.outcome for n, judged in forced[outcome].claims.items()} == dict.fromkeys(
        CLAIMS, outcome
    )


@pytest.mark.parametrize(("lang", "outcome"), CASES)
def test_all_claims_at_once(
    forced: Mapping[Outcome, Evidence], lang: Language, outcome: Outcome
) -> None:
    assert_outcomes_are_told(forced[outcome], lang)


@pytest.mark.parametrize("experiment", ANSWERS)
@pytest.mark.parametrize(("lang", "outcome"), CASES)
def test_one_experiment_against_all_others(
    lang: Language, outcome: Outcome, experiment: str
) -> None:
    others: Outcome = "holds" if outcome == "fails" else "fails"
    chosen = {name: ANSWERS[name][others] for name in ANSWERS}
    evidence = evidence_of(ROOT, ARTICLE, chosen | {experiment: ANSWERS[experiment][outcome]})
    assert {judged.outcome for judged in evidence.claims.values()} == {outcome, others}
    assert_outcomes_are_told(evidence, lang)


@pytest.mark.usefixtures("shown_by_name")
@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize(("lang", "outcome"), CASES)
def test_one_claim_against_all_others(
    forced: Mapping[Outcome, Evidence], lang: Language, outcome: Outcome, name: str
) -> None:
    base = forced["holds" if outcome == "fails" else "fails"]
    flipped: dict[str, Judged] = dict(base.claims)
    flipped[name] = replace(flipped[name], outcome=outcome)
    assert_outcomes_are_told(replace(base, claims=flipped), lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_without_receipts_nothing_is_measured(lang: Language) -> None:
    evidence = evidence_of(ROOT, ARTICLE, {})
    assert {judged.outcome for judged in evidence.claims.values()} == {"unmeasured"}
    page = render_page([SHIPPED], evidence, lang)
    assert_outcomes_are_told(evidence, lang)
    assert 'class="fact"' not in page
    assert '<table class="runs' not in page
    assert '.json"' not in page
    assert "<svg" not in page
    assert "\nmeasured:" not in page
    source = (SHIPPED / f"articles/{ARTICLE}/{lang}.md.j2").read_text()
    assert page.count('class="unmeasured"') == source.count('show("') > 0


@pytest.mark.parametrize(("lang", "outcome"), CASES)
def test_verdicts_follow(
    forced: Mapping[Outcome, Evidence], lang: Language, outcome: Outcome
) -> None:
    page = render_page([SHIPPED], forced[outcome], lang)
    published = {n: c.published for n, c in DECLARATION.head.claims.items() if c.published}
    assert all(record.holds for record in published.values())
    verdict = {"holds": "same", "fails": "different", "unmeasured": "unmeasurable"}[outcome]
    assert re.findall(r'class="verdict (\w+)"', page) == [verdict] * len(published)
