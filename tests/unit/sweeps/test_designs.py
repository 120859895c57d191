"""Designs: which settings are changed together, how many boots that takes, and what is refused."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.sweeps.designs import (
    Change,
    Design,
    Level,
    arrangements,
    changed_at_once,
    count_arrangements,
    is_label,
    known_factors,
    label,
    level_faults,
    read_label,
)

FACTORS: dict[str, list[Level]] = {
    "cache": ["cold", "warm"],
    "n_ubatch": [512, 256, 64],
    "repack": [True, False],
    "threads": [2, 1],
}
NAMES = st.sampled_from([name for name in known_factors() if name != "cache"])
MANY = st.dictionaries(NAMES, st.integers(2, 4).map(lambda n: list(range(n))), max_size=5)


def _labels(design: Design) -> list[str]:
    return [label(map(str, changes)) for changes in arrangements(FACTORS, design)]


def test_one_at_a_time_changes_nothing_or_one() -> None:
    assert _labels("one-at-a-time") == [
        "baseline",
        "n_ubatch=256",
        "n_ubatch=64",
        "repack=false",
        "threads=1",
    ]


def test_pairs_are_added_after_the_singles() -> None:
    assert _labels("pairs")[:5] == _labels("one-at-a-time")
    assert _labels("pairs")[5:] == [
        "n_ubatch=256 repack=false",
        "n_ubatch=64 repack=false",
        "n_ubatch=256 threads=1",
        "n_ubatch=64 threads=1",
        "repack=false threads=1",
    ]


def test_a_full_design_has_every_combination_once() -> None:
    labels = _labels("full")
    assert len(labels) == len(set(labels)) == 3 * 2 * 2
    assert "n_ubatch=64 repack=false threads=1" in labels


def test_the_cache_costs_no_boot() -> None:
    assert arrangements({"cache": ["cold", "warm"]}, "full") == [()]


@given(MANY, st.sampled_from(get_args(Design)))
def test_a_design_is_counted_without_being_made(
    factors: dict[str, list[Level]], design: Design
) -> None:
    made = arrangements(factors, design)
    assert count_arrangements(factors, design) == len(made) == len(set(made))
    assert max(map(len, made)) <= changed_at_once(factors, design)
    assert made[0] == ()


def test_millions_are_counted_at_once() -> None:
    factors: dict[str, list[Level]] = {f"f{n}": list(range(10)) for n in range(30)}
    assert count_arrangements(factors, "full") == 10**30


LEVELS = st.one_of(st.booleans(), st.integers(), st.from_regex(r"\A[a-z0-9._-]{1,9}\Z"))


@given(st.dictionaries(NAMES, LEVELS, max_size=4))
def test_a_name_says_what_it_names(levels: dict[str, Level]) -> None:
    settings = [str(Change(factor, level)) for factor, level in levels.items()]
    assert read_label(label(settings)) == frozenset(settings)
    assert is_label(label(settings))


def test_an_intervention_is_no_cell() -> None:
    assert not is_label("last-token-alone")


@pytest.mark.parametrize(
    ("factor", "levels", "problem", "remedy"),
    [
        ("ubatch", [512, 256], "unknown factor 'ubatch'", "did you mean `n_ubatch`?"),
        ("extra", [1, 2], "unknown factor 'extra'", ""),
        ("n_ubatch", [512], "one level changes nothing", "at least one more"),
        ("n_ubatch", [], "one level changes nothing", ""),
        ("n_ubatch", [512, 256, 512], "named twice", "each level once"),
        ("n_ubatch", [512, 0], "0 is no n_ubatch", "greater than or equal to 1"),
        ("n_ubatch", [512, "wide"], "'wide' is no n_ubatch", "integer"),
        ("flash_attn", ["auto", "no"], "'no' is no flash_attn", "'on', 'off' or 'auto'"),
        ("repack", [True, "false"], "'false' is no repack", "boolean"),
        ("cache", ["warm", "cold"], "the first ask", "begin with cold"),
        ("cache", ["cold", "hot"], "'hot'", "cold or warm"),
        ("prefix", [100, 0], "no earlier ask", "begin with 0"),
        ("prefix", [0, "half"], "'half'", "a number of characters"),
        ("prefix", [0, True], "True", "a number of characters"),
        ("engine", ["some-engine", 3], "3", "a pinned engine"),
        ("model", ["some model", "another"], "space", ""),
        ("chat_template", ["a=b", "c"], "`=`", ""),
    ],
)
def test_what_a_factor_cannot_be(
    factor: str, levels: list[Level], problem: str, remedy: str
) -> None:
    faults = level_faults(factor, levels)
    assert any(problem in found and remedy in allowed for found, allowed in faults), faults


@pytest.mark.parametrize("factor", known_factors())
def test_every_known_factor_is_known_to_the_checks(factor: str) -> None:
    assert not [fault for fault in level_faults(factor, [1, 2]) if "unknown" in fault[0]]


def test_right_factors_are_let_through() -> None:
    more: dict[str, list[Level]] = {
        "engine": ["some-engine", "another"],
        "prefix": [0, 100, -1],
        "cache_type_k": ["f16", "q8_0"],
        "swa_full": [False, True],
    }
    assert [
        fault for f, levels in (FACTORS | more).items() for fault in level_faults(f, levels)
    ] == []
