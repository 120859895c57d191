"""Tests of what a template may call: facts, labels, numbers and dates in each language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generator.article import Language
from generator.article.functions import Functions
from generator.article.page import template_environment
from generator.article.words import read_words
from generator.errors import InputError
from generator.evidence import read_evidence
from tests.project import SHIPPED, templates_of


def functions(project: Path, lang: Language = "en") -> Functions:
    return Functions(
        template_environment(templates_of(project)),
        read_evidence(project, "small"),
        read_words(SHIPPED, lang),
        "../",
    )


def test_fact_links_to_where_it_stands(measured: Path) -> None:
    fact = functions(measured).fact("runs", "/analysis/asked")
    assert fact == (
        '<a class="fact" href="../receipts/small/runs.json#/analysis/asked"'
        ' title="runs.json /analysis/asked">4</a>'
    )


@pytest.mark.parametrize(
    ("pointer", "digits", "lang", "shown"),
    [
        ("/models/tiny-q4_1/bytes", None, "en", "1,000,000"),
        ("/models/tiny-q4_1/bytes", None, "zh", "1,000,000"),
        ("/analysis/tokens_per_second/largest", None, "en", "52.25"),
        ("/analysis/tokens_per_second/largest", 1, "en", "52.2"),
        ("/analysis/tokens_per_second/largest", 0, "en", "52"),
        ("/analysis/identical_bytes", None, "en", "no"),
        ("/analysis/identical_bytes", None, "zh", "否"),
        ("/analysis/runs/0/same_tokens", None, "zh", "是"),
        ("/host/cpu", None, "en", "Test&#32;CPU"),
        ("/boots/0/lives/0/load_before/0", 2, "en", "0.10"),
    ],
)
def test_fact_is_written_as_the_language_writes_it(
    measured: Path, pointer: str, digits: int | None, lang: Language, shown: str
) -> None:
    fact = functions(measured, lang).fact("replays", pointer, digits)
    found = re.search(r">([^<]*)</a>", fact)
    assert found is not None
    assert found[1].replace("&#46;", ".").replace("&#44;", ",") == shown


def test_fact_without_a_value_is_a_dash_and_no_link(measured: Path) -> None:
    called = functions(measured)
    assert called.fact("widths", "/host/governor") == "—"
    assert called.fact("never", "/analysis/distinct") == "—"
    assert called.request("never") == "—"


def test_link_to_a_receipt_that_is_not_there_is_none(measured: Path) -> None:
    called = functions(measured)
    assert 'href="../receipts/small/runs.json"' in called.receipt_link("runs")
    assert called.receipt_link("never") == "<code>never.json</code>"


def test_values_in_labels_are_inert(measured: Path) -> None:
    label = functions(measured).word("measured.last", day="<b>*x*</b>")
    assert "<" not in label
    assert "*" not in label


def test_unknown_label_is_a_fault_of_the_strings(measured: Path) -> None:
    with pytest.raises(InputError) as raised:
        functions(measured).word("no.such")
    assert raised.value.faults[0].path == "$.labels.no.such"


def test_days_are_written_as_the_language_writes_them() -> None:
    assert read_words(SHIPPED, "en").day("2026-03-04") == "4 March 2026"
    assert read_words(SHIPPED, "zh").day("2026-03-04") == "2026年3月4日"


def test_every_label_has_both_languages() -> None:
    english, chinese = read_words(SHIPPED, "en"), read_words(SHIPPED, "zh")
    for key in english.labels:
        assert set(re.findall(r"\{\w+\}", english.labels[key].en)) == set(
            re.findall(r"\{\w+\}", chinese.labels[key].zh)
        )
