"""How company and cached openings are told: every verdict in both languages, and no blame early."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from typing import Any

import pytest

from generator.article import LANGUAGES, Language, render_page
from generator.evidence import declare, gather
from generator.plan import Ask, Boot
from generator.receipt import BootRecord
from tests.project import ROOT, SHIPPED, receipt_for
from tests.unit.experiments import crowds, prefixing
from tests.unit.experiments.sweeping import CONTROL, DRIFTED, A, B, C, Candidates, calm

FIXTURE = ROOT / "tests" / "assets" / "company"
Answer = Sequence[Candidates] | None
Server = Callable[[Boot, Ask], Answer]


def page(experiment: str, server: Server, lang: Language) -> str:
    declaration = declare(FIXTURE, "company")
    declared: Any = declaration.experiments[experiment]
    kind = declared.spec.kind
    boots: list[BootRecord] = (
        prefixing.boots_for(declared, server)
        if kind == "prefix"
        else crowds.boots_of(declared, server)
    )
    receipt = receipt_for(declaration, experiment, boots)
    evidence = gather(declaration, {experiment: receipt})
    return render_page([FIXTURE / "templates", SHIPPED], evidence, lang)


def read(experiment: str, server: Server, lang: Language) -> str:
    """Return a page as a reader sees it, its character references read."""
    return unescape(page(experiment, server, lang))


def moves(boot: Boot, ask: Ask) -> Answer:
    return crowds.crowded(A, B, DRIFTED, C)(boot, ask)


def drifts(boot: Boot, ask: Ask) -> Answer:
    return crowds.crowded(A, DRIFTED)(boot, ask)


def slots_move(boot: Boot, ask: Ask) -> Answer:
    return B if boot.server.n_parallel > 1 else calm(boot, ask)


def slots_drift(boot: Boot, ask: Ask) -> Answer:
    return DRIFTED if boot.server.n_parallel > 1 else calm(boot, ask)


def restless(boot: Boot, ask: Ask) -> Answer:
    return B if boot.name.endswith("again") else calm(boot, ask)


def blind(_boot: Boot, _ask: Ask) -> Answer:
    return A


def dead(_boot: Boot, _ask: Ask) -> Answer:
    return None


def later(boot: Boot, ask: Ask) -> Answer:
    return B if ask.name.startswith("1/") else calm(boot, ask)


def cache_drifts(boot: Boot, ask: Ask) -> Answer:
    return DRIFTED if prefixing.state(boot, ask) is B else calm(boot, ask)


def torn(boot: Boot, ask: Ask) -> Answer:
    return B if boot.name == "cached-8 again" else prefixing.shape(boot, ask)


COMPANY: Mapping[Server, tuple[str, str]] = {
    moves: ("的 token 与单独问时不同，另有", "have other tokens than when asked alone"),
    drifts: ("token 一个都没变。", "Not one token moves."),
    calm: ("都与单独问时一位不差。", "are what they are alone, to the last bit."),
    restless: ("怪不到别的请求头上：", "The company cannot be blamed."),
    blind: ("检测器失灵", "The detector is broken."),
    dead: ("没有测成：", "Not measured:"),
}
OPENINGS: Mapping[Server, tuple[str, str]] = {
    prefixing.shape: ("种让 token 变了", "move a token,"),
    cache_drifts: ("token 一个都没变。", "Not one token moves."),
    calm: ("缓存没有动任何东西。", "The cache moved nothing."),
    restless: ("不能怪缓存", "The cache cannot be blamed."),
    blind: ("检测器失灵", "The detector is broken."),
    dead: ("没有测成：", "Not measured:"),
}
TOLD = [
    *(("crowd", server, COMPANY) for server in COMPANY),
    *(("openings", server, OPENINGS) for server in OPENINGS),
]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("experiment", "server", "told"), TOLD)
def test_every_outcome_has_its_own_verdict(
    experiment: str, server: Server, told: Mapping[Server, tuple[str, str]], lang: Language
) -> None:
    seen = read(experiment, server, lang)
    mine = told[server][LANGUAGES.index(lang)]
    others = [words[LANGUAGES.index(lang)] for other, words in told.items() if other != server]
    assert mine in seen
    assert not [words for words in others if words in seen]


@pytest.mark.parametrize(
    ("experiment", "server"),
    [
        *(("crowd", server) for server in (*COMPANY, slots_move)),
        *(("flock", server) for server in COMPANY),
        *(("row", server) for server in (later, calm, dead)),
        *(("openings", server) for server in (*OPENINGS, prefixing.state, torn)),
    ],
)
def test_both_languages_show_the_same_rows_and_facts(experiment: str, server: Server) -> None:
    zh, en = (page(experiment, server, lang) for lang in LANGUAGES)
    for pattern in (
        r"<(?:tr|td|th|dt|details)\b",
        rf'title="{experiment}\.json [^"]*"',
        r'class="group[^<]*<',
    ):
        assert Counter(re.findall(pattern, zh)) == Counter(re.findall(pattern, en))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("experiment", ["crowd", "flock", "row"])
def test_no_answer_in_company_is_blamed_on_the_seed(experiment: str, lang: Language) -> None:
    told = read(experiment, moves, lang)
    for words in ("种子的错", "seed failure", "seed fails", "种子失灵"):
        assert words not in told


@pytest.mark.parametrize(
    ("experiment", "server", "zh", "en"),
    [
        ("crowd", moves, "变的是同时还在答谁", "What changed is who else was being answered."),
        ("crowd", moves, "token 全都一样，下一个是", "tokens, and the next one is"),
        ("row", later, "所以怪不到别的请求头上", "so no company is to blame"),
        ("crowd", slots_move, "token 就已经不同", "moves a token by itself"),
        ("crowd", slots_drift, "token 不变，对数概率有出入", "the tokens stay and the prob"),
        ("crowd", calm, "槽位数怎么变都一位不差", "at every number of slots"),
        ("crowd", restless, "单独再问，对不上", "not everything repeats"),
        ("crowd", dead, "负对照没有测成", "The negative control was not measured."),
        ("flock", moves, "变了 token 的提示词", "prompts whose tokens changed"),
        ("flock", moves, "各轮合起来几套结果", "different results of rounds"),
        ("openings", prefixing.shape, "缓存里的东西是清白的", "The shape of the batch is enough"),
        ("openings", prefixing.state, "光凭批的形状", "alone does not explain it here"),
        ("openings", torn, "重新开机对不上，不作数", "does not repeat on a fresh boot"),
        ("openings", cache_drifts, "出入最大的 token", "the token that moved most"),
    ],
)  # fmt: skip
def test_what_matters_is_said(experiment: str, server: Server, zh: str, en: str) -> None:
    assert zh in read(experiment, server, "zh")
    assert en in read(experiment, server, "en")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("server", [restless, blind, dead])
def test_without_ground_nothing_is_concluded(server: Server, lang: Language) -> None:
    assert '<span class="claim unmeasured">' in page("crowd", server, lang)


def test_a_cache_that_was_not_used_as_intended_is_said_to_be_invalid() -> None:
    declaration = declare(FIXTURE, "company")
    declared: Any = declaration.experiments["openings"]
    boots = prefixing.boots_for(declared, prefixing.shape, lambda _boot, _ask: 0)
    receipt = receipt_for(declaration, "openings", boots)
    evidence = gather(declaration, {"openings": receipt})
    for lang, words in zip(LANGUAGES, ("缓存用量不符", "cache not used as intended"), strict=True):
        told = unescape(render_page([FIXTURE / "templates", SHIPPED], evidence, lang))
        assert told.count(words) == len(declared.spec.lengths)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("experiment", ["crowd", "flock", "openings"])
def test_what_a_model_wrote_stays_text(experiment: str, lang: Language) -> None:
    hostile = "<script>zqx</script>\n\n## zqx {#zqx}\n| {{ 7*7 }} |"

    def server(boot: Boot, ask: Ask) -> Answer:
        given = moves(boot, ask) if experiment != "openings" else prefixing.shape(boot, ask)
        return [{hostile + str(given in (B, C)): -0.1, "z": -2.0}] if given != CONTROL else CONTROL

    told = page(experiment, server, lang)
    assert "<script" not in told
    assert not [line for line in told.splitlines() if line.startswith(("## zqx", "| "))]
    assert "zqx" in told


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("experiment", "server"), [("crowd", moves), ("openings", prefixing.shape)]
)
def test_they_are_told_as_they_were(
    experiment: str, server: Server, lang: Language, golden: Callable[[str, str], None]
) -> None:
    golden(f"{experiment}.{lang}.md", page(experiment, server, lang))
