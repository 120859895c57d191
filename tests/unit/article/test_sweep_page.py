"""How a sweep is told: every verdict in both languages, and nothing concluded without ground."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import unescape
from typing import Any

import pytest

from generator.article import LANGUAGES, Language, render_page
from generator.evidence import declare, gather
from generator.plan import Ask, Boot
from generator.sweeps.declared import Sweep
from tests.project import ROOT, SHIPPED, receipt_for
from tests.unit.experiments.sweeping import (
    CONTROL,
    DRIFTED,
    A,
    B,
    Candidates,
    Server,
    boots_of,
    calm,
    warm_flips,
)

FIXTURE = ROOT / "tests" / "assets" / "sweeps"
Answer = Sequence[Candidates] | None


@cache
def page(server: Server, lang: Language) -> str:
    declaration = declare(FIXTURE, "suspects")
    experiment: Any = declaration.experiments["long"]
    assert isinstance(experiment.spec, Sweep)
    receipt = receipt_for(declaration, "long", boots_of(experiment, server))
    evidence = gather(declaration, {"long": receipt})
    return render_page([FIXTURE / "templates", SHIPPED], evidence, lang)


def read(server: Server, lang: Language) -> str:
    """Return a page as a reader sees it, its character references read."""
    return unescape(page(server, lang))


def together(boot: Boot, ask: Ask) -> Answer:
    alone = ask.cache == "warm" and boot.server.flash_attn == "off"
    return CONTROL if ask.name == "control" else B if alone else A


def drifts(_boot: Boot, ask: Ask) -> Answer:
    return CONTROL if ask.name == "control" else DRIFTED if ask.cache == "warm" else A


def restless(boot: Boot, ask: Ask) -> Answer:
    return B if boot.name == "baseline b" else warm_flips(boot, ask)


def unsteady(boot: Boot, ask: Ask) -> Answer:
    return B if boot.name == "n_ubatch=256 b" else warm_flips(boot, ask)


def blind(_boot: Boot, _ask: Ask) -> Answer:
    return A


def parts_missing(boot: Boot, ask: Ask) -> Answer:
    missing = boot.name == "baseline a" and ask.name == "warm"
    return None if missing else warm_flips(boot, ask)


def disobedient(boot: Boot, ask: Ask) -> Answer:
    return A if boot.name.startswith("last-token-alone") else warm_flips(boot, ask)


def dead(_boot: Boot, _ask: Ask) -> Answer:
    return None


TOLD: Mapping[Server, tuple[str, str]] = {
    warm_flips: ("单独改就能翻的：热缓存。", "by changing nothing but: a warm cache."),
    together: ("凑在一起才翻：", "Together these do:"),
    parts_missing: ("说不出最小的一组设置是哪几项", "no smallest set of settings can be named"),
    drifts: ("没有翻。", "No flip."),
    restless: ("不能定罪", "Nobody can be blamed."),
    blind: ("检测器失灵", "The detector is broken."),
    dead: ("没有测成：缺了基线", "Not measured:"),
}
GROUNDLESS = (restless, blind, dead)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_sweep_is_told_as_it_was(lang: Language, golden: Callable[[str, str], None]) -> None:
    golden(f"sweep.{lang}.md", page(warm_flips, lang))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("server", TOLD)
def test_every_outcome_has_its_own_verdict(server: Server, lang: Language) -> None:
    told = read(server, lang)
    mine = TOLD[server][LANGUAGES.index(lang)]
    others = [words[LANGUAGES.index(lang)] for other, words in TOLD.items() if other != server]
    assert mine in told
    assert not [words for words in others if words in told]


@pytest.mark.parametrize("server", GROUNDLESS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_without_ground_nothing_is_concluded(server: Server, lang: Language) -> None:
    told = read(server, lang)
    for word in ("无罪", "动手的", "应验</td>", "Innocent", "innocent,", "came true</td>", "<svg"):
        assert word not in told
    assert '<span class="claim unmeasured">' in told


@pytest.mark.parametrize("server", [*TOLD, unsteady, disobedient])
def test_both_languages_show_the_same_rows_and_facts(server: Server) -> None:
    zh, en = (re.sub(r"<svg.*?</svg>", "", page(server, lang)) for lang in LANGUAGES)
    for pattern in (
        r"<(?:tr|td|th|dt|details|figure)\b",
        r'title="long\.json [^"]*"',
        r'class="group[^<]*<',
    ):
        assert Counter(re.findall(pattern, zh)) == Counter(re.findall(pattern, en))


@pytest.mark.parametrize(
    ("server", "zh", "en"),
    [
        (unsteady, "个单元对不上，不作数", "cells do not repeat, and are not counted"),
        (unsteady, "存疑：有该比的没比成", "open: a comparison is missing"),
        (calm, "连概率都一位不差", "so are the probabilities, to the last bit"),
        (calm, "没有原因可查", "no cause to look for"),
        (drifts, "概率最多漂了", "probabilities drift by"),
        (disobedient, "这个解释站不住", "the explanation does not stand"),
        (calm, "（没有翻转可供检验）", "(there is no flip to test it on)"),
        (dead, "负对照没有测成", "The negative control was not measured."),
        (parts_missing, "判不了</td>", "cannot tell</td>"),
    ],
)
def test_what_is_not_as_it_should_be_is_said(server: Server, zh: str, en: str) -> None:
    assert zh in read(server, "zh")
    assert en in read(server, "en")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_a_model_wrote_stays_text(lang: Language) -> None:
    hostile = "<script>zqx</script>\n\n## zqx {#zqx}\n| {{ 7*7 }} |"

    def server(boot: Boot, ask: Ask) -> Answer:
        given = warm_flips(boot, ask)
        return [*given[:2], {hostile: -0.1, "z": -2.0}]

    told = page(server, lang)
    assert "<script" not in told
    assert not [line for line in told.splitlines() if line.startswith(("## zqx", "| "))]
    assert "zqx" in told
