"""The list of known measurements: every verdict can come out each way, by made-up servers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from typing import Any

import pytest

from generator.article import LANGUAGES, Language, render_page
from generator.evidence import Evidence, declare, gather
from generator.plan import Ask, Boot
from generator.receipt import BootRecord
from tests.factory import chat_response, completion_response, make_ask, make_boot
from tests.project import ROOT, SHIPPED, receipt_for
from tests.unit.experiments import crowds, prefixing, sweeping
from tests.unit.experiments.sweeping import A, B, Candidates

ARTICLE = "known-measurements"
DECLARATION = declare(ROOT, ARTICLE)
REPORTED = [name for name, claim in DECLARATION.head.claims.items() if claim.published]
GPU = "slots-on-a-gpu"
Answer = Sequence[Candidates] | None
Boots = Callable[[Any], list[BootRecord]]


def crowded(boot: Boot, ask: Ask) -> Answer:
    """Answer otherwise on many slots, but not who comes first, nor in the second round."""
    alone = ask.together in (None, "round-2") or ask.name.startswith("1/1 ")
    return sweeping.calm(boot, ask) if alone or boot.server.n_parallel < 8 else B


def narrow(boot: Boot, ask: Ask) -> Answer:
    return B if boot.server.n_ubatch < 100 else sweeping.calm(boot, ask)


def blind(_boot: Boot, _ask: Ask) -> Answer:
    return A


def replays(experiment: Any, *, moved: bool) -> list[BootRecord]:
    """Answer replays of which all but the first are warm, and other ones if *moved*."""
    respond = chat_response if experiment.spec.endpoint == "chat" else completion_response
    warm = experiment.server.cache_prompt
    asks = []
    for index in range(experiment.spec.runs):
        tokens = ["a", "x" if moved and warm and index else "b"]
        cache_n, prompt_n = (9, 1) if warm and index else (0, 10)
        answer = respond(tokens=tokens, cache_n=cache_n, prompt_n=prompt_n)
        asks.append(make_ask(answer, name=str(index + 1), cache="warm" if cache_n else "cold"))
    return [make_boot(asks)]


def measured(*, moved: bool) -> Evidence:
    kinds: dict[str, Boots] = {
        "concurrency": lambda e: crowds.boots_of(e, crowded if moved else sweeping.calm),
        "prefix": lambda e: prefixing.boots_for(e, border if moved else sweeping.calm),
        "replay": lambda e: replays(e, moved=moved),
        "sweep": lambda e: sweeping.boots_of(e, narrow if moved else sweeping.calm),
    }
    return of(kinds)


def of(kinds: Mapping[str, Boots]) -> Evidence:
    """Gather what made-up servers answered to the experiments of *kinds*."""
    receipts = {}
    for name, experiment in DECLARATION.experiments.items():
        if experiment.spec.kind not in kinds:
            continue
        boots = kinds[experiment.spec.kind](experiment)
        receipts[name] = receipt_for(DECLARATION, name, boots)
    return gather(DECLARATION, receipts)


def border(boot: Boot, ask: Ask) -> Answer:
    """Answer otherwise as soon as a cached opening has more than one token."""
    used = ask.name == "whole" and ask.body["cache_prompt"]
    cut = (used and prefixing.words(boot.asks[0]) > 1) or bool(boot.derived)
    return B if cut else sweeping.calm(boot, ask)


def read(evidence: Evidence, lang: Language) -> str:
    """Return the page as a reader sees it, its character references read."""
    return unescape(render_page([SHIPPED], evidence, lang))


def verdicts(page: str) -> list[str]:
    return re.findall(r'<td class="verdict [a-z]+"[^>]*><strong>([^<]*)</strong>', page)


def test_the_ten_reports_are_all_there() -> None:
    assert len(REPORTED) == 11  # one of the ten has a half of its own for GPUs


@pytest.mark.parametrize(("moved", "outcome"), [(True, "holds"), (False, "fails")])
def test_every_claim_can_come_out_both_ways(moved: bool, outcome: str) -> None:
    claims = measured(moved=moved).claims
    odd = {name: j.outcome for name, j in claims.items() if j.outcome != outcome and name != GPU}
    assert odd == ({} if moved else {"one-at-a-time": "holds"})
    assert claims[GPU].outcome == "unmeasured"


def test_where_the_controls_do_not_hold_nothing_is_decided() -> None:
    kinds: dict[str, Boots] = {
        "concurrency": lambda e: crowds.boots_of(e, blind),
        "prefix": lambda e: prefixing.boots_for(e, blind),
        "sweep": lambda e: sweeping.boots_of(e, blind),
    }
    claims = of(kinds).claims
    assert {judged.outcome for judged in claims.values()} == {"unmeasured", "fails"}
    assert [name for name, judged in claims.items() if judged.fails] == ["one-shape"]


@pytest.mark.parametrize(
    ("lang", "moved", "words"),
    [
        ("zh", True, "重现了"),
        ("zh", False, "在这台机器上没有重现"),
        ("en", True, "reproduced"),
        ("en", False, "not reproduced on this machine"),
    ],
)
def test_the_verdict_is_what_was_measured(lang: Language, moved: bool, words: str) -> None:
    found = verdicts(read(measured(moved=moved), lang))
    gpu = "需要 GPU" if lang == "zh" else "needs a GPU"
    assert sorted(found) == sorted([words] * (len(REPORTED) - 1) + [gpu])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_before_anything_is_measured_no_verdict_is_given(lang: Language) -> None:
    found = verdicts(read(gather(DECLARATION, {}), lang))
    unmeasured = "没有测成" if lang == "zh" else "not measured"
    assert found.count(unmeasured) == len(REPORTED) - 1
    assert len(found) == len(REPORTED)


@pytest.mark.parametrize("moved", [True, False])
def test_both_languages_show_the_same_facts(moved: bool) -> None:
    evidence = measured(moved=moved)
    zh, en = (set(re.findall(r'title="([^" ]+\.json [^"]*)"', read(evidence, lang)))
              for lang in LANGUAGES)  # fmt: skip
    assert zh == en
    assert A != B
