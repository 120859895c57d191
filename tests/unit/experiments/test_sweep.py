"""`sweep`: the boots that it plans, and the verdict on made-up servers of every sort."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from generator.claims import expression_faults
from generator.experiments.sweep import KIND, expand
from generator.figures import Places
from generator.plan import Ask, Boot, Derived, FixedSeed
from generator.receipt import MismatchRecord
from generator.sweeps.judge import judge
from generator.sweeps.result import Result
from tests.unit.experiments.sweeping import (
    DRIFTED,
    FACTORS,
    PROMPT_TOKENS,
    A,
    B,
    C,
    Candidates,
    Server,
    boots_of,
    calm,
    response,
    sweep,
    warm_flips,
)

BECAUSE = {"zh": "因为", "en": "because"}
ALONE = {"set": {"n_ubatch": {"prompt_tokens": -1}}, "predict": {"same_as": {"cache": "warm"}}}
TWO_LAST = {"set": {"n_ubatch": {"prompt_tokens": -2}}, "predict": {"unlike": {"cache": "warm"}}}
UNUSED = {"cache": "warm", "reuse": False, "predict": {"same_as": {}}}
INTERVENTIONS = {
    name: {**fields, "because": BECAUSE}
    for name, fields in {"alone": ALONE, "two-last": TWO_LAST, "unused": UNUSED}.items()
}
PAIRS = {"n_ubatch": [512, 256], "flash_attn": ["auto", "off"], "repack": [True, False]}


def verdict(server: Server, **fields: Any) -> Result:
    return judge(boots_of(sweep(**fields), server))


def only_together(boot: Boot, ask: Ask) -> Sequence[Candidates]:
    narrow, plain = boot.server.n_ubatch == 256, boot.server.flash_attn == "off"
    return B if narrow and plain else calm(boot, ask)


def but(server: Server, name: str, ask: str, given: Any) -> Server:
    """Return *server*, except that one boot answers one ask otherwise."""

    def answer(boot: Boot, asked: Ask) -> Any:
        return given if (boot.name, asked.name) == (name, ask) else server(boot, asked)

    return answer


def attributed(result: Result) -> Mapping[str, object]:
    """Return everything that blames or acquits."""
    return {
        key: getattr(result, key)
        for key in ("flips", "drifts", "movers", "removers", "innocent", "silent", "idle",
                    "factors", "removals", "mechanism_told", "mechanism_holds", "first_flip")
    }  # fmt: skip


# ---- the plan ----


def test_every_arrangement_is_booted_and_then_all_once_more() -> None:
    names = [boot.name for boot in expand(sweep(interventions=INTERVENTIONS))]
    first = ["baseline", "n_ubatch=256", "flash_attn=off", "alone", "two-last", "unused"]
    assert names == [*(f"{name} a" for name in first), *(f"{name} b" for name in first)]


def test_twins_are_planned_alike() -> None:
    boots = expand(sweep(interventions=INTERVENTIONS))
    half = len(boots) // 2
    for one, two in zip(boots[:half], boots[half:], strict=True):
        assert (one.server, one.asks, one.derived) == (two.server, two.asks, two.derived)


def test_a_boot_is_asked_cold_then_warm_and_the_baseline_s_for_the_control() -> None:
    first, second, *_ = expand(sweep(warm_asks=2))
    assert [(ask.name, ask.cache) for ask in second.asks] == [
        ("cold", "cold"),
        ("warm", "warm"),
        ("warm-2", "warm"),
    ]
    *asks, control = first.asks
    assert [ask.name for ask in asks] == ["cold", "warm", "warm-2"]
    assert len({str(ask.body) for ask in asks}) == 1
    assert (control.name, control.cache, control.seed) == ("control", "any", FixedSeed(43))
    assert control.body["temperature"] == 0.8
    assert asks[0].body["temperature"] == 0
    assert asks[0].seed == FixedSeed(42)


def test_the_first_level_is_the_baseline_s_whatever_the_server_has() -> None:
    first, second = expand(sweep(factors={"n_ubatch": [128, 64]}))[:2]
    assert (first.server.n_ubatch, second.server.n_ubatch) == (128, 64)
    assert [ask.name for ask in second.asks] == ["cold"]


def test_without_a_prompt_cache_a_later_ask_is_cold_too() -> None:
    boots = expand(sweep(factors={"cache": ["cold", "warm"], "cache_prompt": [True, False]}))
    uncached = boots[1]
    assert not uncached.server.cache_prompt
    assert [(ask.name, ask.cache) for ask in uncached.asks] == [("cold", "cold"), ("warm", "cold")]
    assert {ask.body["cache_prompt"] for ask in uncached.asks} == {False}


def test_pins_are_factors() -> None:
    factors = {"engine": ["one", "two"], "model": ["small", "large"]}
    boots = expand(sweep(factors=factors, design="full"))
    assert [(boot.engine, boot.model) for boot in boots[:4]] == [
        ("one", "small"),
        ("two", "small"),
        ("one", "large"),
        ("two", "large"),
    ]


def test_a_prefix_is_asked_for_before() -> None:
    boot = expand(sweep(factors={"cache": ["cold", "warm"], "prefix": [0, 3, -1]}))[1]
    shared, cold, warm = boot.asks
    assert (shared.name, shared.cache, shared.body["prompt"]) == ("prefix", "cold", "Hel")
    assert shared.body["n_predict"] == 1
    assert (cold.name, cold.cache, cold.body["prompt"]) == ("cold", "any", "Hello")
    assert warm.cache == "warm"
    last = expand(sweep(factors={"prefix": [0, 3, -1]}))[2]
    assert last.asks[0].body["prompt"] == "Hell"


def test_a_width_by_the_prompt_s_length_is_derived_from_the_baseline() -> None:
    boots = {boot.name: boot for boot in expand(sweep(interventions=INTERVENTIONS))}
    assert boots["alone b"].derived == (Derived("n_ubatch", "baseline a", "cold", -1),)
    assert boots["two-last a"].derived[0].offset == -2
    assert [ask.name for ask in boots["alone a"].asks] == ["cold as cache=warm"]
    assert [ask.name for ask in boots["two-last a"].asks] == ["cold unlike cache=warm"]


def test_a_filled_cache_may_be_left_unused() -> None:
    boots = {boot.name: boot for boot in expand(sweep(interventions=INTERVENTIONS))}
    fill, unused = boots["unused a"].asks
    assert (fill.name, fill.body["cache_prompt"]) == ("cold", True)
    assert (unused.name, unused.cache) == ("warm as baseline", "cold")
    assert unused.body["cache_prompt"] is False
    assert boots["unused a"].server.cache_prompt


def test_an_intervention_may_have_a_prefix_and_settings_of_its_own() -> None:
    one = {"set": {"prefix": -1, "repack": False}, "predict": {"same_as": {"cache": "warm"}}}
    boot = expand(sweep(interventions={"other": {**one, "because": BECAUSE}}))[3]
    assert [ask.name for ask in boot.asks] == ["prefix", "cold as cache=warm"]
    assert [ask.cache for ask in boot.asks] == ["cold", "any"]
    assert not boot.server.repack


# ---- the verdict ----


def test_one_factor_moves_the_token_and_the_others_are_acquitted() -> None:
    result = verdict(warm_flips, factors={**FACTORS, "cache_prompt": [True, False]})
    assert (result.outcome, result.movers, result.interactions) == ("attributed", ["cache=warm"], 0)
    assert (result.cells, result.flips, result.drifts) == (8, 3, 0)
    assert (result.detector_works, result.aa_identical) == (True, True)
    assert result.innocent == result.silent == ["n_ubatch", "flash_attn"]
    assert result.removers == result.removers_of_all == ["cache_prompt=false"]
    assert result.prompt_tokens == PROMPT_TOKENS
    assert result.first_flip is not None
    assert (result.first_flip.token, result.first_flip.chosen) == (1, "x")
    assert (result.mechanism_told, result.mechanism_holds) == (3, True)
    assert [row.group for row in result.rows] == ["A", "B", "A", "B", "A", "B", "A", "A"]
    assert [row.movers for row in result.rows[:3]] == [[], ["cache=warm"], []]
    assert result.trace_of == "cache=warm"
    assert [(step.token, step.flip) for step in result.trace] == [(0, False), (1, True)]


def test_what_a_remedy_costs_is_told_by_the_server_s_clock() -> None:
    result = verdict(warm_flips, factors={"cache": ["cold", "warm"], "cache_prompt": [True, False]})
    assert result.removals is not None
    (remedy,) = result.removals
    assert (remedy.setting, remedy.removes, remedy.leaves) == (
        "cache_prompt=false",
        ["cache=warm"],
        [],
    )
    assert (remedy.keeps_baseline, remedy.bitwise) == (True, True)
    # 2 ms for each prompt token, and three tokens at 50 a second
    assert remedy.seconds == pytest.approx(2 * PROMPT_TOKENS / 1000 + 0.06)
    assert remedy.seconds_without == pytest.approx(0.002 + 0.06)
    assert remedy.tokens_per_second == remedy.tokens_per_second_without == 50


def test_two_factors_move_it_only_together() -> None:
    result = verdict(only_together, factors=PAIRS, design="pairs")
    assert (result.outcome, result.interactions) == ("interaction", 1)
    assert result.movers == ["n_ubatch=256 flash_attn=off"]
    assert result.factors is not None
    assert [(one.factor, one.role) for one in result.factors] == [
        ("n_ubatch", "joint"),
        ("flash_attn", "joint"),
        ("repack", "silent"),
    ]
    assert result.innocent == ["repack"]


@pytest.mark.parametrize(
    ("factor", "levels", "state", "value"),
    [
        ("repack", [True, False], "weights_repacked", False),
        ("flash_attn", ["auto", "on"], "flash_attn_used", "on"),
    ],
)
def test_a_setting_that_was_never_in_effect_is_not_acquitted(
    factor: str, levels: list[Any], state: str, value: object
) -> None:
    label = f"{factor}={str(levels[1]).lower()}"
    experiment = sweep(factors={"n_ubatch": [512, 256], factor: levels})

    def result(reported: object) -> Result:
        effective = {"baseline": {state: value}, label: {state: reported}}
        return judge(boots_of(experiment, calm, effective))

    same, other = result(value), result("something else")
    assert (same.idle, same.innocent, same.silent) == ([factor], ["n_ubatch"], ["n_ubatch"])
    assert (other.idle, other.silent) == ([], ["n_ubatch", factor])


def test_a_setting_that_moves_a_token_is_blamed_whatever_the_server_reports() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return B if not boot.server.repack else calm(boot, ask)

    effective = {
        "baseline": {"weights_repacked": False},
        "repack=false": {"weights_repacked": False},
    }
    result = judge(boots_of(sweep(factors={"repack": [True, False]}), server, effective))
    assert (result.movers, result.idle) == (["repack=false"], [])


def test_one_at_a_time_does_not_see_what_two_do_together() -> None:
    result = verdict(only_together, factors=PAIRS)
    assert (result.outcome, result.flips, result.movers) == ("no_flip", 0, [])


def test_a_warm_cache_may_be_an_accomplice() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        alone = ask.cache == "warm" and boot.server.flash_attn == "off"
        return B if alone else calm(boot, ask)

    result = verdict(server)
    assert (result.outcome, result.movers) == ("interaction", ["flash_attn=off cache=warm"])


def test_a_single_mover_and_an_interaction_are_both_named() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return C if not boot.server.repack else only_together(boot, ask)

    result = verdict(server, factors=PAIRS, design="pairs")
    assert (result.outcome, result.interactions) == ("attributed", 1)
    assert result.movers == ["repack=false", "n_ubatch=256 flash_attn=off"]


def test_nothing_is_attributed_from_a_cell_that_does_not_repeat() -> None:
    result = verdict(but(warm_flips, "n_ubatch=256 b", "cold", B))
    assert (result.outcome, result.movers) == ("attributed", ["cache=warm"])
    assert (result.unstable, result.aa_identical) == (1, False)
    row = result.rows[2]
    assert (row.settings, row.state, row.group) == ("n_ubatch=256", "unstable", None)
    assert (row.same_tokens, row.bitwise, row.drift) == (None, None, None)
    assert result.innocent == ["flash_attn"]
    assert result.factors is not None
    assert {one.factor: one.role for one in result.factors}["n_ubatch"] == "open"


def test_a_last_bit_that_does_not_repeat_is_instability_too() -> None:
    result = verdict(but(calm, "flash_attn=off b", "warm", DRIFTED))
    assert (result.unstable, result.outcome) == (1, "unstable")
    assert result.lines[2].groups["warm"] == ["A1", "A2"]


def test_a_baseline_that_does_not_repeat_blames_nobody() -> None:
    result = verdict(but(warm_flips, "baseline b", "cold", B), interventions=INTERVENTIONS)
    assert (result.outcome, result.detector_works) == ("unstable", True)
    assert set(attributed(result).values()) == {None}
    assert (result.cause, result.interventions_open) == ("open", 3)
    assert (result.trace_of, result.trace) == (None, [])
    assert {row.same_tokens for row in result.rows} == {None}


def test_no_flip_is_a_result() -> None:
    result = verdict(calm)
    assert (result.outcome, result.flips, result.movers) == ("no_flip", 0, [])
    assert result.silent == ["cache", "n_ubatch", "flash_attn"]
    assert (result.mechanism_told, result.mechanism_holds) == (0, None)
    assert (result.largest_drift, result.trace) == (0.0, [])
    assert set(KIND.figures(result)) == {"matrix"}


def test_the_matrix_can_be_downloaded() -> None:
    rows = list(csv.DictReader(io.StringIO(KIND.figures(verdict(warm_flips))["matrix"].csv())))
    assert rows[0] == {"settings": "baseline", "ask": "cold", "boot": "1", "group": "A"}
    told = {(row["settings"], row["ask"], row["boot"]): row["group"] for row in rows}
    assert len(told) == len(rows)
    assert {told["baseline", "warm", boot] for boot in "12"} == {"B"}


def test_a_drift_is_no_flip_and_is_drawn() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return DRIFTED if ask.cache == "warm" else calm(boot, ask)

    result = verdict(server)
    assert (result.outcome, result.flips, result.drifts) == ("no_flip", 0, 3)
    assert result.innocent == ["cache", "n_ubatch", "flash_attn"]
    assert result.silent == ["n_ubatch", "flash_attn"]
    assert (result.trace_of, result.rows[1].group) == ("cache=warm", "A2")
    figure = KIND.figures(result)["drift-and-gap"]
    assert isinstance(figure, Places)
    assert [place.marked for place in figure.places] == [False, False, False]


def test_a_detector_that_detects_nothing_withholds_everything() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return A if ask.name == "control" else warm_flips(boot, ask)

    result = verdict(server, interventions=INTERVENTIONS)
    assert (result.outcome, result.detector_works) == ("detector_broken", False)
    assert set(attributed(result).values()) == {None}
    assert result.interventions_open == result.interventions_total == 3
    assert result.lines[0].groups == {"cold": ["A", "A"], "warm": ["B", "B"]}


def test_one_of_two_controls_that_looks_like_the_baseline_is_enough() -> None:
    assert verdict(but(warm_flips, "baseline b", "control", A)).outcome == "detector_broken"


def test_without_a_control_or_a_baseline_nothing_is_measured() -> None:
    def no_control(boot: Boot, ask: Ask) -> Sequence[Candidates] | None:
        return None if ask.name == "control" else warm_flips(boot, ask)

    for server in (no_control, but(warm_flips, "baseline a", "cold", None)):
        result = verdict(server)
        assert result.outcome == "unmeasured"
        assert set(attributed(result).values()) == {None}


def test_failed_asks_leave_a_cell_unmeasured_and_its_settings_open() -> None:
    result = verdict(but(warm_flips, "flash_attn=off a", "cold", None))
    assert (result.failed, result.unmeasured, result.outcome) == (1, 1, "attributed")
    assert result.innocent == ["n_ubatch"]
    assert result.lines[2].groups["cold"] == [None, "A"]
    assert result.rows[4].state == "unmeasured"


def test_a_cache_that_is_not_used_as_planned_does_not_count() -> None:
    whole = response(A, cache_n=0, prompt_n=PROMPT_TOKENS)
    server = but(but(warm_flips, "n_ubatch=256 a", "warm", whole), "n_ubatch=256 b", "warm", whole)
    result = verdict(server)
    assert (result.invalid, result.failed, result.unmeasured) == (2, 0, 1)
    assert result.lines[1].groups["warm"] == [None, None]
    assert result.innocent == ["flash_attn"]


def test_a_setting_that_the_server_did_not_take_over_is_not_acquitted() -> None:
    boots = boots_of(sweep(), warm_flips)
    lowered = MismatchRecord(name="n_ubatch", declared=256, effective=512)
    other = MismatchRecord(name="n_ctx", declared=4096, effective=4352)
    boots = [
        boot.model_copy(
            update={"mismatches": [lowered, other] if "n_ubatch" in boot.name else [other]}
        )
        for boot in boots
    ]
    result = judge(boots)
    assert (result.invalid, result.unmeasured, result.outcome) == (4, 2, "attributed")
    assert result.innocent == ["flash_attn"]
    assert result.lines[1].groups == {"cold": [None, None], "warm": [None, None]}


def test_a_prefix_that_left_nothing_in_the_cache_does_not_count() -> None:
    factors = {"prefix": [0, 3]}
    assert verdict(calm, factors=factors).unmeasured == 0
    unshared = response(A, cache_n=0, prompt_n=PROMPT_TOKENS)
    result = verdict(but(calm, "prefix=3 a", "cold", unshared), factors=factors)
    assert (result.invalid, result.unmeasured) == (1, 1)


def test_an_intervention_whose_prefix_left_nothing_cannot_be_judged() -> None:
    one = {"set": {"prefix": -1}, "predict": {"same_as": {"cache": "warm"}}, "because": BECAUSE}
    unshared = response(A, cache_n=0, prompt_n=PROMPT_TOKENS)
    server = but(warm_flips, "shared a", "cold as cache=warm", unshared)
    result = verdict(server, interventions={"shared": one})
    assert (result.invalid, result.interventions_open) == (1, 1)


def test_a_flip_whose_parts_were_not_measured_is_attributed_to_nobody() -> None:
    server = but(only_together, "n_ubatch=256 a", "cold", None)
    result = verdict(server, factors=PAIRS, design="pairs")
    assert (result.outcome, result.movers, result.flips) == ("unattributed", [], 1)


def test_nothing_answered_is_nothing_measured() -> None:
    result = verdict(lambda _boot, _ask: None, interventions=INTERVENTIONS)
    assert (result.outcome, result.answered, result.failed) == ("unmeasured", 0, result.asked)
    assert (result.aa_identical, result.prompt_tokens, result.largest_drift) == (None, None, None)
    assert result.unmeasured == result.cells
    assert judge([]).outcome == "unmeasured"


def test_interventions_that_come_true_show_a_cause() -> None:
    result = verdict(warm_flips, interventions=INTERVENTIONS)
    assert (result.cause, result.interventions_total) == ("shown", 3)
    assert (result.interventions_as_predicted, result.interventions_failed) == (3, 0)
    alone, two_last, unused = result.interventions
    assert (alone.settings, alone.group, alone.predicted) == (["n_ubatch=411"], "B", "cache=warm")
    assert (alone.cache_n, alone.prompt_n, alone.telling) == (0, PROMPT_TOKENS, True)
    assert (two_last.group, two_last.predicted_group, two_last.as_predicted) == ("A", "B", True)
    assert (two_last.plain_group, two_last.telling) == ("A", True)
    assert (unused.state, unused.group, unused.telling) == ("warm", "A", True)


def test_an_intervention_that_does_not_come_true_contradicts_the_cause() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return A if boot.name.startswith("alone") else warm_flips(boot, ask)

    result = verdict(server, interventions=INTERVENTIONS)
    assert (result.outcome, result.cause) == ("attributed", "contradicted")
    assert (result.interventions_as_predicted, result.interventions_failed) == (2, 1)
    assert result.interventions[0].as_predicted is False


def test_equal_tokens_are_not_enough_for_a_prediction() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return DRIFTED if boot.name.startswith("unused") else warm_flips(boot, ask)

    assert verdict(server, interventions=INTERVENTIONS).interventions[2].as_predicted is False


def test_an_intervention_that_failed_leaves_the_cause_open() -> None:
    server = but(warm_flips, "alone b", "cold as cache=warm", None)
    result = verdict(server, interventions=INTERVENTIONS)
    assert (result.cause, result.interventions_open) == ("open", 1)


def test_without_a_flip_there_is_nothing_to_test_a_prediction_on() -> None:
    result = verdict(calm, interventions=INTERVENTIONS)
    assert (result.interventions_telling, result.interventions_failed) == (0, 0)
    # an answer unlike the warm one cannot be asked for where the warm one is the cold one
    assert [one.as_predicted for one in result.interventions] == [True, None, True]
    assert result.cause == "open"
    assert verdict(calm).cause == "untested"


def test_a_later_ask_can_be_judged_where_the_cache_is_no_factor() -> None:
    unused = {"unused": INTERVENTIONS["unused"]}
    result = verdict(warm_flips, factors={"n_ubatch": [512, 256]}, interventions=unused)
    assert (result.interventions[0].as_predicted, result.interventions[0].telling) == (True, None)
    assert (result.interventions[0].plain_group, result.cause) == (None, "open")


def test_that_nothing_changes_can_be_predicted_and_shows_no_cause() -> None:
    same = {"set": {"n_ubatch": {"prompt_tokens": 0}}, "predict": {"same_as": {}}}
    result = verdict(calm, interventions={"same-shape": {**same, "because": BECAUSE}})
    assert (result.interventions_as_predicted, result.interventions_telling) == (1, 1)
    assert result.cause == "open"


def test_a_remedy_not_tried_with_every_mover_says_so() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return C if boot.server.flash_attn == "off" else warm_flips(boot, ask)

    result = verdict(server, factors={**FACTORS, "cache_prompt": [True, False]})
    assert result.movers == ["cache=warm", "flash_attn=off"]
    assert result.removers == ["flash_attn=off", "cache_prompt=false"]
    assert result.removers_of_all == ["flash_attn=off"]
    assert result.removals is not None
    assert [(one.setting, one.keeps_baseline, one.untried) for one in result.removals] == [
        ("cache=warm", False, []),
        ("n_ubatch=256", True, ["flash_attn=off"]),
        ("flash_attn=off", False, []),
        ("cache_prompt=false", True, ["flash_attn=off"]),
    ]


def test_a_flip_without_a_drift_is_not_explained() -> None:
    given = response(A, cache_n=PROMPT_TOKENS - 1, prompt_n=1)
    second = given["completion_probabilities"][1]
    second.update({key: second["top_logprobs"][1][key] for key in ("id", "token", "logprob")})
    given["tokens"][1] = second["id"]

    def server(boot: Boot, ask: Ask) -> Any:
        return given if ask.cache == "warm" else calm(boot, ask)

    result = verdict(server)
    assert (result.outcome, result.mechanism_holds) == ("attributed", False)


def test_later_warm_asks_belong_to_the_warm_cell() -> None:
    result = verdict(but(warm_flips, "baseline a", "warm-2", A), warm_asks=2)
    assert (result.unstable, result.rows[1].state) == (1, "unstable")
    assert result.lines[0].groups["warm-2"] == ["A", "B"]


@pytest.mark.parametrize("ask", ["tepid", "cold like baseline"])
def test_names_that_are_not_ours_are_refused(ask: str) -> None:
    boots = boots_of(sweep(interventions=INTERVENTIONS), warm_flips)
    index = 3 if " " in ask else 1
    asks = [boots[index].asks[0].model_copy(update={"name": ask})]
    boots[index] = boots[index].model_copy(update={"asks": asks})
    with pytest.raises(ValueError, match="no ask of a sweep"):
        judge(boots)


def test_a_result_is_read_back_as_it_was_written() -> None:
    result = verdict(warm_flips, interventions=INTERVENTIONS)
    assert Result.model_validate(result.model_dump(mode="json")) == result


@pytest.mark.parametrize(
    "when",
    [
        'long.outcome == "attributed" and long.movers == ["cache=warm"]',
        '"n_ubatch" in long.innocent and "cache_prompt=false" in long.removers',
        'long.cause == "shown" and long.mechanism_holds and long.first_flip.token > 0',
        "long.detector_works and long.aa_identical and long.interventions_failed == 0",
    ],
)
def test_claims_can_look_at_the_verdict(when: str) -> None:
    assert expression_faults(when, {"long": Result}) == []
