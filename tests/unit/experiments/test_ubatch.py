"""`ubatch`: whether the width or the cache moves a token, and when neither can be told."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from generator.experiments.ubatch import KIND, Ubatch
from generator.receipt import BootRecord
from generator.settings import Sampling, ServerSettings
from tests.factory import TokenLike, completion_response, make_ask, make_boot, width_boot
from tests.unit.experiments.resolving import resolved

A: list[TokenLike] = ["a", ("b", -0.5, -0.75), "c"]
B: list[TokenLike] = ["a", "x", "c"]
C: list[TokenLike] = ["z", "b", "c"]


def _cold(tokens: list[TokenLike]) -> dict[str, Any]:
    return completion_response(tokens, cache_n=0, prompt_n=412)


def _warm(tokens: list[TokenLike]) -> dict[str, Any]:
    return completion_response(tokens, cache_n=411, prompt_n=1)


def _boots(
    first: tuple[list[TokenLike], list[TokenLike]], second: tuple[list[TokenLike], list[TokenLike]]
) -> list[BootRecord]:
    return [
        width_boot(512, _cold(first[0]), _warm(first[1]), _warm(first[1])),
        width_boot(8192, _cold(second[0]), _warm(second[1]), _warm(second[1])),
    ]


def test_each_width_has_a_boot_of_its_own() -> None:
    server = {"n_batch": 2048, "n_ctx": 8192, "cache_prompt": True}
    boots = KIND.expand(resolved(Ubatch, widths=[512, 8192], asks=3, server=server))
    assert [boot.name for boot in boots] == ["ub-512", "ub-8192"]
    assert [boot.server.n_ubatch for boot in boots] == [512, 8192]
    assert [boot.server.n_batch for boot in boots] == [2048, 8192]
    assert {boot.server.n_ctx for boot in boots} == {8192}
    for boot in boots:
        assert [ask.cache for ask in boot.asks] == ["cold", "warm", "warm"]
        assert {str(ask.body) for ask in boot.asks} == {str(boots[0].asks[0].body)}
        assert not boot.divisible


@pytest.mark.parametrize(
    "fields",
    [
        {"widths": [512], "asks": 2},
        {"widths": [512, 512], "asks": 2},
        {"widths": [512, 0], "asks": 2},
        {"widths": [512, 65_537], "asks": 2},
        {"widths": [512, 8192], "asks": 1},
        {"widths": [512, 8192], "asks": 101},
        {"widths": [512, "8192"], "asks": 2},
    ],
)
def test_widths_that_control_nothing_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        resolved(Ubatch, **fields)


def test_only_a_fixed_seed_lets_widths_be_compared() -> None:
    spec = resolved(Ubatch, widths=[1, 2], asks=2).spec
    assert spec.objections(Sampling(seed=1)) == []
    assert spec.objections(Sampling(seed="drawn"))


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ((A, A), (A, A), (0, 0, 0, True)),
        ((A, B), (A, B), (4, 2, 0, True)),
        ((A, A), (B, B), (3, 0, 3, False)),
        ((A, B), (C, B), (5, 2, 1, True)),
        ((A, B), (A, A), (2, 1, 2, False)),
        ((A, A), (B, A), (1, 1, 1, True)),
    ],
    ids=["none", "cache", "width", "both", "one warm", "one cold"],
)
def test_cache_and_width_are_told_apart(
    first: Any, second: Any, counts: tuple[int, int, int, bool]
) -> None:
    result = KIND.analyse(_boots(first, second))
    found = (result.flips, result.cache_flips, result.width_flips, result.warm_unanimous)
    assert found == counts
    assert (result.asked, result.answered, result.failed, result.invalid) == (6, 6, 0, 0)
    assert (result.first_flip is None) is (result.flips == 0)
    assert result.prompt_tokens == 412


def test_the_first_flip_is_the_one_at_the_earliest_token() -> None:
    result = KIND.analyse(_boots((A, B), (C, B)))
    assert result.first_flip is not None
    assert (result.first_flip.token, result.first_flip.chosen) == (0, "z")
    assert [row.divergence and row.divergence.token for row in result.rows] == [None, 1, 1, 0, 1, 1]
    second = result.rows[1].divergence
    assert second is not None
    assert (second.baseline, second.gap) == ("b", 0.25)


def test_a_drift_is_no_flip() -> None:
    drifted: list[TokenLike] = ["a", ("b", -0.5001, -0.75), "c"]
    result = KIND.analyse(_boots((A, A), (drifted, A)))
    assert (result.flips, result.width_flips, result.width_drifts) == (0, 0, 1)
    assert (result.rows[3].same_tokens, result.rows[3].bitwise) == (True, False)


def test_the_baseline_is_bitwise_itself() -> None:
    row = KIND.analyse(_boots((A, B), (A, B))).rows[0]
    assert (row.n_ubatch, row.planned, row.same_tokens, row.bitwise) == (512, "cold", True, True)


@pytest.mark.parametrize("cold", [None, _warm(A)])
def test_without_the_cold_baseline_nothing_is_told(cold: dict[str, Any] | None) -> None:
    result = KIND.analyse(
        [width_boot(512, cold, _warm(A)), width_boot(8192, _cold(B), _warm(B))],
    )
    assert (result.flips, result.cache_flips, result.width_flips) == (None, None, None)
    assert (result.prompt_tokens, result.first_flip) == (None, None)
    assert {(row.same_tokens, row.bitwise) for row in result.rows} == {(None, None)}


def test_without_another_widths_cold_ask_widths_are_not_told() -> None:
    result = KIND.analyse(
        [width_boot(512, _cold(A), _warm(B)), width_boot(8192, None, _warm(B))],
    )
    assert (result.failed, result.flips, result.cache_flips, result.width_flips) == (
        1,
        None,
        None,
        None,
    )
    assert result.first_flip is not None


def test_without_a_widths_warm_control_nobody_is_blamed() -> None:
    result = KIND.analyse(
        [width_boot(512, _cold(A), _warm(B)), width_boot(8192, _cold(A), None)],
    )
    assert (result.flips, result.cache_flips, result.width_flips) == (1, None, None)
    assert result.width_drifts is None


def test_an_unplanned_cache_is_not_compared() -> None:
    spoiled = completion_response(C, cache_n=300, prompt_n=112)
    result = KIND.analyse(
        [width_boot(512, _cold(A), _warm(A), spoiled), width_boot(8192, _cold(A), _warm(A))],
    )
    assert (result.invalid, result.flips, result.warm_unanimous) == (1, 0, True)
    assert result.rows[2].divergence is None
    assert result.rows[2].same_tokens is None


def test_without_a_prompt_cache_every_ask_is_a_cold_control() -> None:
    boots = [
        make_boot(
            [make_ask(_cold(tokens), name=str(n)) for n, tokens in enumerate(answers, start=1)],
            name=f"ub-{width}",
            settings=ServerSettings(n_ubatch=width, n_batch=8192),
        )
        for width, answers in ((512, [A, A]), (8192, [A, B]))
    ]
    result = KIND.analyse(boots)
    assert (result.flips, result.cache_flips, result.width_flips) == (1, None, None)
    assert result.rows[0].bitwise
    assert result.warm_unanimous is None


def test_nothing_answered_is_nothing_measured() -> None:
    result = KIND.analyse([width_boot(512, None, None), width_boot(8192, None, None)])
    assert (result.asked, result.answered, result.failed) == (4, 0, 4)
    assert (result.flips, result.cache_flips, result.width_flips) == (None, None, None)
    assert (result.warm_unanimous, result.first_flip, result.rows) == (None, None, [])


def test_no_boots_are_no_measurement() -> None:
    assert KIND.analyse([]).flips is None
