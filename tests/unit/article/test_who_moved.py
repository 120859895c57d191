"""Who moved the token: every claim comes out each way, by made-up servers; the prose follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from generator.article import LANGUAGES, Language
from generator.claims import Judged, Outcome
from generator.evidence import Evidence, declare, gather
from generator.plan import Ask, Boot
from tests.project import ROOT, receipt_for
from tests.unit.article.telling import OUTCOMES, assert_outcomes_are_told
from tests.unit.experiments.sweeping import (
    CONTROL,
    DRIFTED,
    PROMPT_TOKENS,
    A,
    B,
    C,
    Candidates,
    boots_of,
    calm,
    response,
)

ARTICLE = "who-moved-the-token"
DECLARATION = declare(ROOT, ARTICLE)
CLAIMS = list(DECLARATION.head.claims)
Answer = Sequence[Candidates] | None
Answers = Callable[[Boot, Ask], Any]
UNREPACKED = {name: {"weights_repacked": False} for name in ("baseline", "repack=false")}


def alone(boot: Boot, ask: Ask) -> bool:
    """Whether the prompt's last token is evaluated alone."""
    return ask.cache == "warm" or "alone" in boot.name


def as_shown(boot: Boot, ask: Ask) -> Answer:
    """Answer by the batch's shape, and otherwise with one thread or without flash attention."""
    if ask.name == "control":
        return CONTROL
    if boot.server.flash_attn == "off" or boot.server.threads == 1:
        return C
    return B if alone(boot, ask) else A


def on_smollm2(boot: Boot, ask: Ask) -> Answer:
    """Answer as shown, with a trace of the shape in the probabilities where no token moves."""
    if boot.server.flash_attn == "off" and alone(boot, ask):
        return [{**C[0], "y": C[0]["y"] - 0.001}, *C[1:]]
    return as_shown(boot, ask)


def by_width(boot: Boot, ask: Ask) -> Answer:
    """Answer by the width and the cache's switch alone, and as much when nothing drifted."""
    if ask.name == "control":
        return CONTROL
    if boot.server.n_ubatch != 512:
        return [A[0], {"x": -0.1, "b": -9.0}, A[2]] if boot.name.endswith("a") else B
    return DRIFTED if boot.server.flash_attn == "off" else A


def unexplained(boot: Boot, ask: Ask) -> Any:
    """Choose another token than the best, which no drift of what is seen explains."""
    if ask.name == "control" or not alone(boot, ask):
        return CONTROL if ask.name == "control" else A
    cached = PROMPT_TOKENS - 1 if ask.cache == "warm" else 0
    answer = response(A, cache_n=cached, prompt_n=PROMPT_TOKENS - cached)
    second = answer["completion_probabilities"][1]
    second |= second["top_logprobs"][1]
    answer["tokens"][1] = second["id"]
    return answer


def nobody(_boot: Boot, _ask: Ask) -> Answer:
    return None


def measured(
    server: Answers, *, others: Answers | None = None, effective: Mapping[str, Any] = UNREPACKED
) -> Evidence:
    """Return evidence in which SmolLM2 answers by *server*, and the rest by *others*."""
    receipts = {}
    experiment: Any
    for name, experiment in DECLARATION.experiments.items():
        answers = server if name == "suspects" else others or server
        boots = boots_of(experiment, answers, effective)
        receipts[name] = receipt_for(DECLARATION, name, boots)
    return gather(DECLARATION, receipts)


@pytest.fixture(scope="module")
def shown() -> Evidence:
    """Return evidence in which every claim holds."""
    evidence = measured(on_smollm2, others=as_shown)
    still = measured(calm).receipts["short-prompt"]
    return gather(DECLARATION, {**evidence.receipts, "short-prompt": still})


def test_every_claim_can_hold(shown: Evidence) -> None:
    assert {name: one.outcome for name, one in shown.claims.items()} == dict.fromkeys(
        CLAIMS, "holds"
    )


def test_every_claim_can_fail() -> None:
    repacked = {"baseline": {"weights_repacked": True}}
    servers = (as_shown, calm, by_width, unexplained)
    failed = {
        name
        for server in servers
        for name, one in measured(server, effective=repacked).claims.items()
        if one.fails
    }
    assert failed == set(CLAIMS)


def test_every_claim_can_be_unmeasured() -> None:
    assert {one.outcome for one in measured(nobody).claims.values()} == {"unmeasured"}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("server", [as_shown, calm, by_width, unexplained, nobody])
def test_a_page_says_what_was_measured(server: Answers, lang: Language) -> None:
    assert_outcomes_are_told(measured(server), lang)


@pytest.mark.usefixtures("shown_by_name")
@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize(("lang", "outcome"), list(product(LANGUAGES, OUTCOMES)))
def test_one_claim_against_all_others(
    shown: Evidence,
    lang: Language,
    outcome: Outcome,
    name: str,
) -> None:
    others: Outcome = "holds" if outcome == "fails" else "fails"
    claims: dict[str, Judged] = {
        key: replace(one, outcome=outcome if key == name else others)
        for key, one in shown.claims.items()
    }
    assert_outcomes_are_told(replace(shown, claims=claims), lang)
