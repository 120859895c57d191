"""Answers that do not count: each would blame, acquit or agree without a test of anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from generator.plan import Ask, Boot
from generator.receipt import AskRecord, BootRecord, MismatchRecord
from generator.settings import ServerSettings
from generator.sweeps.counting import also_changed
from generator.sweeps.judge import judge
from generator.sweeps.result import Result
from tests.factory import make_ask, make_boot
from tests.unit.experiments.sweeping import (
    CONTROL,
    PREFIX_TOKENS,
    PROMPT_TOKENS,
    A,
    B,
    Candidates,
    boots_of,
    calm,
    response,
    sweep,
    warm_flips,
)

BECAUSE = {"zh": "因为", "en": "because"}
WARM = {"cache": ["cold", "warm"]}
Spoil = Callable[[dict[str, Any]], object]


def spoilt(
    boots: Sequence[BootRecord], spoil: Spoil, *, boot: str, ask: str = ""
) -> list[BootRecord]:
    """Change what came back for the asks of one boot that begin with these words."""

    def record(one: AskRecord) -> AskRecord:
        if one.outcome.status != "answered" or not one.name.startswith(ask):
            return one
        body = {**one.outcome.response}
        spoil(body)
        return make_ask(body, name=one.name, cache=one.cache)

    return [
        one.model_copy(update={"asks": [record(each) for each in one.asks]})
        if one.name.startswith(boot)
        else one
        for one in boots
    ]


def factor_roles(result: Result) -> dict[str, str]:
    return {one.factor: one.role for one in result.factors or ()}


def untold(body: dict[str, Any]) -> None:
    body.update(completion_probabilities=[], tokens=[])


def test_equal_texts_without_a_probability_are_not_equal_to_the_last_bit() -> None:
    boots = boots_of(sweep(factors=WARM), warm_flips)
    result = judge(spoilt(boots, untold, boot=""))
    assert (result.outcome, result.aa_identical) == ("unmeasured", None)
    assert result.invalid == result.asked == result.answered


def test_an_intervention_that_tells_no_probability_has_no_bit_to_agree_in() -> None:
    alone = {"set": {"n_ubatch": {"prompt_tokens": -1}}, "predict": {"same_as": {"cache": "warm"}}}
    experiment = sweep(factors=WARM, interventions={"alone": {**alone, "because": BECAUSE}})
    boots = boots_of(experiment, warm_flips)
    assert judge(boots).cause == "shown"
    result = judge(spoilt(boots, untold, boot="alone"))
    assert (result.cause, result.interventions_open) == ("open", 1)


@pytest.mark.parametrize("boots_failed", ["ab", "a"])
def test_a_cache_that_nothing_filled_is_not_left_unused(boots_failed: str) -> None:
    unused = {"cache": "warm", "reuse": False, "predict": {"same_as": {}}, "because": BECAUSE}

    def server(boot: Boot, ask: Ask) -> Sequence[Candidates] | None:
        fills = boot.name.startswith("unused") and ask.name == "cold"
        return None if fills and boot.name[-1] in boots_failed else warm_flips(boot, ask)

    result = judge(boots_of(sweep(factors=WARM, interventions={"unused": unused}), server))
    assert (result.cause, result.interventions_open) == ("open", 1)
    assert result.invalid == len(boots_failed)


@pytest.mark.parametrize(
    ("effective", "role", "unmeasured"), [(256, "open", 1), (1024, "silent", 0)]
)
def test_a_baseline_that_was_changed_to_a_level_does_not_acquit_it(
    effective: int, role: str, unmeasured: int
) -> None:
    odd = MismatchRecord(name="n_ubatch", declared=4096, effective=effective)
    boots = boots_of(sweep(factors={"n_ubatch": [4096, 256], "repack": [True, False]}), calm)
    boots = [
        boot if boot.name.startswith("n_ubatch") else boot.model_copy(update={"mismatches": [odd]})
        for boot in boots
    ]
    result = judge(boots)
    assert (factor_roles(result)["n_ubatch"], result.unmeasured) == (role, unmeasured)
    assert factor_roles(result)["repack"] == "silent"


@pytest.mark.parametrize(
    ("cache_n", "counts"),
    [(PREFIX_TOKENS, True), (PREFIX_TOKENS - 1, True), (1, False), (PROMPT_TOKENS - 1, False)],
)
def test_a_prefix_counts_if_what_it_evaluated_was_taken(cache_n: int, counts: bool) -> None:
    taken = response(A, cache_n=cache_n, prompt_n=PROMPT_TOKENS - cache_n)

    def server(boot: Boot, ask: Ask) -> Any:
        plain = CONTROL if ask.name == "control" else A
        return taken if boot.name == "prefix=30 a" and ask.name == "cold" else plain

    result = judge(boots_of(sweep(factors={"prefix": [0, 30]}), server))
    assert (result.unmeasured == 0, result.invalid == 0) == (counts, counts)


def test_a_prefix_whose_own_ask_failed_left_nobody_knows_what() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates] | None:
        return None if ask.name == "prefix" else warm_flips(boot, ask)

    result = judge(boots_of(sweep(factors={"prefix": [0, 30]}), server))
    assert (result.outcome, result.unmeasured, result.invalid) == ("unmeasured", 1, 2)


def other_words(body: dict[str, Any]) -> None:
    for entry in body["completion_probabilities"]:
        for candidate in (entry, *entry["top_logprobs"]):
            candidate["token"] = f"other {candidate['token']}"


def other_length(body: dict[str, Any]) -> None:
    body["timings"] = {**body["timings"], "prompt_n": PROMPT_TOKENS + 7}


def same_words(_body: dict[str, Any]) -> None:
    """Leave it as it is: another quantization has the same vocabulary."""


@pytest.mark.parametrize("spoil", [other_words, other_length])
def test_tokens_of_another_vocabulary_are_not_compared(spoil: Spoil) -> None:
    result = of_two_models(spoil, A)
    assert (result.outcome, result.flips, result.invalid) == ("unmeasured", 0, 2)
    assert factor_roles(result) == {"model": "open"}


def test_another_quantization_is_compared() -> None:
    assert of_two_models(same_words, A).silent == ["model"]
    assert of_two_models(same_words, B).movers == ["model=large"]


def of_two_models(spoil: Spoil, given: Sequence[Candidates]) -> Result:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return CONTROL if ask.name == "control" else given if boot.model == "large" else A

    boots = boots_of(sweep(factors={"model": ["small", "large"]}), server)
    large = [
        boot.model_copy(update={"model": "large"}) if boot.name.startswith("model=large") else boot
        for boot in boots
    ]
    return judge(spoilt(large, spoil, boot="model=large"))


def test_an_intervention_names_the_pins_that_it_changed() -> None:
    one = {"set": {"engine": "other"}, "predict": {"same_as": {}}, "because": BECAUSE}
    boots = boots_of(sweep(factors=WARM, interventions={"elsewhere": one}), warm_flips)
    boots = [
        boot.model_copy(update={"engine": "other"}) if boot.name.startswith("elsewhere") else boot
        for boot in boots
    ]
    assert judge(boots).interventions[0].settings == ["engine=other"]


def test_no_flip_is_no_result_where_nothing_could_flip() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates] | Mapping[str, Any] | None:
        return warm_flips(boot, ask) if ask.name in ("cold", "control") else None

    result = judge(boots_of(sweep(factors=WARM), server))
    assert (result.outcome, result.flips, result.innocent) == ("unmeasured", 0, [])


def test_what_a_server_used_otherwise_beside_the_declared_change_is_named() -> None:
    baseline = make_boot(effective={"flash_attn_used": "off", "cache_type_v": "f16"})
    cell = make_boot(
        settings=ServerSettings(cache_type_v="q8_0"),
        effective={"flash_attn_used": "on", "cache_type_v": "q8_0"},
    )
    assert also_changed(cell, baseline) == {"flash_attn_used": ("off", "on")}


def test_a_setting_that_came_to_the_baselines_own_is_no_further_change() -> None:
    baseline = make_boot(effective={"flash_attn_used": "on", "flash_attn": "auto"})
    cell = make_boot(
        settings=ServerSettings(cache_type_v="q8_0"),
        effective={"flash_attn_used": "on", "flash_attn": "on", "cache_type_v": "q8_0"},
    )
    assert also_changed(cell, baseline) == {}


def test_a_declared_change_is_no_further_change() -> None:
    baseline = make_boot(effective={"flash_attn_used": "on"})
    cell = make_boot(
        settings=ServerSettings(flash_attn="off"), effective={"flash_attn_used": "off"}
    )
    assert also_changed(cell, baseline) == {}
