"""`prefix`: which cached openings leave the cold answer as it is, and when that cannot be told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from generator.experiments.prefix import KIND, cut_at, expand
from generator.plan import Ask, Boot, Derived
from generator.prefixes.result import Result
from generator.receipt import MismatchRecord
from generator.settings import Sampling
from tests.factory import make_ask
from tests.unit.experiments.prefixing import (
    PROMPT,
    Count,
    Server,
    boots_for,
    boots_of,
    cached,
    prefix,
    shape,
    state,
)
from tests.unit.experiments.sweeping import DRIFTED, A, B, calm, response


def judged(server: Server, count: Count = cached, **fields: Any) -> Result:
    return KIND.analyse(boots_of(server, count, **fields))


# --- the plan


def test_every_opening_has_a_boot_and_a_twin_and_the_long_ones_a_cold_server_too() -> None:
    boots = {boot.name: boot for boot in expand(prefix())}
    assert list(boots) == [
        "cold",
        "cached-8",
        "cached-30",
        "as-cold-30",
        "cached-99",
        "as-cold-99",
        "unused",
        "cold again",
        "cached-8 again",
        "cached-30 again",
        "as-cold-30 again",
        "cached-99 again",
        "as-cold-99 again",
        "unused again",
    ]
    for name in list(boots)[:7]:
        one, two = boots[name], boots[f"{name} again"]
        asked = [ask for ask in one.asks if ask.name != "control"]
        assert (asked, one.server, one.derived) == (list(two.asks), two.server, two.derived)
    assert [(a.name, a.cache) for a in boots["cold"].asks] == [("cold", "cold"), ("control", "any")]
    assert [(a.name, a.cache) for a in boots["cached-8"].asks] == [
        ("opening", "cold"),
        ("whole", "any"),
    ]
    opening, whole = boots["cached-8"].asks
    assert (opening.body["prompt"], opening.body["n_predict"]) == ("one two", 1)
    assert whole.body == boots["cold"].asks[0].body
    assert all(boot.server.cache_prompt for boot in boots.values())


def test_a_cold_server_is_given_the_batches_that_the_cache_leaves() -> None:
    boots = {boot.name: boot for boot in expand(prefix())}
    assert boots["as-cold-30"].derived == (Derived("n_ubatch", "cached-30", "opening", 0),)
    assert boots["as-cold-99"].derived == (Derived("n_ubatch", "cached-99", "opening", -1),)


def test_the_cache_is_filled_and_not_used() -> None:
    opening, whole = {boot.name: boot for boot in expand(prefix())}["unused"].asks
    assert (opening.body["prompt"], opening.body["cache_prompt"]) == (PROMPT, True)
    assert (whole.name, whole.cache, whole.body["cache_prompt"]) == ("whole", "cold", False)


@pytest.mark.parametrize(
    ("text", "length", "cut"),
    [
        ("one two", 1, 1),
        ("one two", 3, 3),
        ("one two", 5, 3),
        ("one two", 6, 3),
        ("one two", 7, 7),
        ("one two", 99, 7),
        (" one", 2, 2),
        ("一二三四", 3, 3),
    ],
)
def test_an_opening_is_cut_where_a_word_ends(text: str, length: int, cut: int) -> None:
    assert cut_at(text, length) == cut


@given(st.text("ab ", min_size=1), st.integers(1, 20))
def test_an_opening_is_never_empty_and_never_longer_than_declared(text: str, length: int) -> None:
    cut = cut_at(text, length)
    assert 1 <= cut <= length
    assert cut == len(text) or cut == length or text[cut] == " "


@pytest.mark.parametrize(
    "fields", [{"lengths": []}, {"lengths": [0]}, {"lengths": [5, 5]}, {"lengths": ["5"]}]
)
def test_lengths_that_make_no_sense_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        prefix(**fields)


def test_what_would_move_tokens_by_itself_is_refused() -> None:
    spec = prefix().spec
    assert spec.objections(Sampling(seed=1)) == []
    assert [where for where, *_ in spec.objections(Sampling(seed="drawn"))] == [
        ("sampling", "seed")
    ]
    assert [where for where, *_ in spec.objections(Sampling(seed=43))] == [("control", "seed")]


# --- the verdict


def test_openings_that_move_nothing() -> None:
    result = judged(calm)
    assert (result.outcome, result.compared, result.flips, result.drifts) == ("same", 3, 0, 0)
    assert (result.same, result.aa_identical, result.detector_works) == (3, True, True)
    assert [(row.characters, row.opening_tokens) for row in result.rows] == [
        (8, 2),
        (30, 6),
        (99, 10),
    ]
    assert [(row.cache_n, row.prompt_n) for row in result.rows] == [(2, 8), (6, 4), (9, 1)]
    assert all(row.valid and row.bitwise and row.place is None for row in result.rows)
    assert (result.prompt_tokens, result.largest_drift, result.largest_place) == (10, 0.0, None)
    assert (result.unused_is_cold, result.interventions_as_predicted) == (True, 2)
    assert (result.cause, [row.telling for row in result.rows]) == ("open", [None, False, False])


def test_the_shape_of_the_batch_is_shown_to_be_the_cause() -> None:
    result = judged(shape)
    assert (result.outcome, result.cause, result.flips, result.same) == ("flips", "shown", 1, 2)
    assert [row.group for row in result.rows] == ["A", "A", "B"]
    assert [(row.width, row.width_group) for row in result.rows] == [
        (None, None),
        (6, "A"),
        (9, "B"),
    ]
    assert [row.as_predicted for row in result.rows] == [None, True, True]
    assert [row.telling for row in result.rows] == [None, False, True]
    assert result.first_flip is not None
    assert (result.first_flip.token, result.first_flip.chosen) == (1, "x")
    drift = result.rows[2].drift
    assert drift is not None
    assert drift.gap == pytest.approx(0.01)
    assert drift.moved == pytest.approx(0.04)
    assert result.best_changed == 0.5
    assert [(group.group, group.answers) for group in result.outputs] == [("A", 5), ("B", 2)]


def test_what_lies_in_the_cache_is_blamed_if_the_same_batches_give_the_cold_answer() -> None:
    result = judged(state)
    assert (result.outcome, result.cause, result.flips) == ("flips", "contradicted", 3)
    assert (result.interventions_failed, result.interventions_as_predicted) == (2, 0)
    assert result.unused_is_cold is True


def test_a_cache_that_acts_without_being_used_contradicts_the_shape() -> None:
    result = judged(lambda boot, ask: B if "unused" in boot.name else shape(boot, ask))
    assert (result.unused_is_cold, result.cause) == (False, "contradicted")


def test_an_intervention_that_does_not_repeat_decides_nothing() -> None:
    result = judged(lambda boot, ask: B if boot.name == "unused" else shape(boot, ask))
    assert (result.unused_is_cold, result.cause, result.aa_identical) == (None, "open", False)
    result = judged(lambda boot, ask: A if boot.name == "as-cold-99 again" else shape(boot, ask))
    assert [row.as_predicted for row in result.rows] == [None, True, None]
    assert (result.cause, result.aa_identical) == ("open", False)


def test_drift_is_told_from_a_flip() -> None:
    result = judged(lambda boot, ask: DRIFTED if state(boot, ask) is B else calm(boot, ask))
    assert (result.outcome, result.flips, result.drifts, result.same) == ("drifts", 0, 3, 0)
    assert result.largest_drift == pytest.approx(0.1)
    place = result.largest_place
    assert place is not None
    assert (place.token, place.text, place.cold, place.cached) == (1, "b", -0.69, -0.692)


def test_a_cold_answer_that_does_not_repeat_is_no_baseline() -> None:
    result = judged(lambda boot, ask: B if boot.name == "cold again" else shape(boot, ask))
    assert (result.outcome, result.aa_identical) == ("unstable", False)
    assert (result.compared, result.flips, result.same, result.first_flip) == (None,) * 4


def test_an_opening_that_does_not_repeat_is_not_counted() -> None:
    result = judged(lambda boot, ask: B if boot.name == "cached-8 again" else shape(boot, ask))
    assert (result.outcome, result.compared, result.aa_identical) == ("flips", 2, False)
    assert [row.state for row in result.rows] == ["unstable", "stable", "stable"]
    assert (result.rows[0].group, result.rows[0].same_tokens) == ("A", None)


def test_a_detector_that_sees_no_difference_concludes_nothing() -> None:
    result = judged(lambda _boot, _ask: A)
    assert (result.outcome, result.detector_works) == ("detector_broken", False)
    assert (result.compared, result.flips) == (None, None)


@pytest.mark.parametrize("off", [-2, 1])
def test_a_cache_that_is_not_used_as_intended_makes_a_cell_invalid(off: int) -> None:
    def count(boot: Boot, ask: Ask) -> int:
        return cached(boot, ask) + (off if boot.name == "cached-30" and ask.name == "whole" else 0)

    result = judged(shape, count)
    assert (result.invalid, result.compared) == (1, 2)
    row = result.rows[1]
    assert (row.valid, row.state, row.same_tokens, row.group) == (False, "unmeasured", None, None)
    assert (row.opening_tokens, row.cache_n) == (6, 6 + off)
    assert row.as_predicted is None


def test_no_use_of_the_cache_is_not_as_intended() -> None:
    result = judged(calm, lambda _boot, _ask: 0)
    assert (result.outcome, result.invalid, result.compared) == ("unmeasured", 6, 0)
    assert result.cause == "open"


def test_a_token_that_merges_with_what_follows_is_not_shared() -> None:
    def count(boot: Boot, ask: Ask) -> int:
        return max(0, cached(boot, ask) - (boot.name.startswith("cached-30")))

    result = judged(calm, count)
    assert (result.invalid, result.compared) == (0, 3)
    assert (result.rows[1].opening_tokens, result.rows[1].cache_n) == (6, 5)
    assert (result.rows[1].width, result.rows[1].as_predicted) == (6, None)


def test_a_width_that_the_engine_lowered_proves_nothing() -> None:
    boots = boots_of(shape)
    lowered = MismatchRecord(name="n_ubatch", declared=9, effective=8)
    boots = [
        boot.model_copy(update={"mismatches": [lowered]}) if boot.name == "as-cold-99" else boot
        for boot in boots
    ]
    result = KIND.analyse(boots)
    assert (result.interventions_total, result.interventions_open) == (2, 1)
    assert (result.rows[2].as_predicted, result.rows[2].width_group, result.cause) == (
        None,
        None,
        "open",
    )


def test_without_the_cold_answer_nothing_is_compared() -> None:
    result = judged(lambda boot, ask: None if ask.name == "cold" else shape(boot, ask))
    assert (result.outcome, result.compared, result.prompt_tokens) == ("unmeasured", None, None)
    assert (result.cause, result.unused_is_cold) == ("open", None)


@pytest.mark.parametrize("missing", ["control", "opening"])
def test_what_is_missing_is_not_made_up(missing: str) -> None:
    result = judged(lambda boot, ask: None if ask.name == missing else calm(boot, ask))
    assert result.outcome == "unmeasured"
    assert not result.compared
    assert all(row.valid is None for row in result.rows) is (missing == "opening")


def test_short_openings_have_no_cold_server() -> None:
    result = judged(calm, lengths=[8])
    assert (result.interventions_total, result.rows[0].width) == (0, None)


def test_nothing_answered_is_nothing_measured() -> None:
    result = judged(lambda _boot, _ask: None)
    assert (result.outcome, result.asked, result.failed) == ("unmeasured", 23, 23)
    assert (result.aa_identical, result.detector_works, result.outputs) == (None, None, [])
    assert {row.state for row in result.rows} == {"unmeasured"}


def test_no_boots_are_no_measurement() -> None:
    result = KIND.analyse([])
    assert (result.outcome, result.cause, result.rows) == ("unmeasured", "untested", [])


def test_a_cold_answer_that_does_not_repeat_contradicts_no_cause() -> None:
    def server(boot: Boot, ask: Ask) -> Any:
        return B if boot.name == "cold" and ask.name == "cold" else shape(boot, ask)

    result = judged(server)
    assert (result.outcome, result.cause) == ("unstable", "open")
    assert (result.unused_is_cold, result.interventions_failed) == (None, 0)


def test_a_detector_that_sees_nothing_shows_no_cause() -> None:
    def server(boot: Boot, ask: Ask) -> Any:
        return A if ask.name == "control" else shape(boot, ask)

    result = judged(server)
    assert (result.outcome, result.cause) == ("detector_broken", "open")
    assert result.interventions_open == result.interventions_total


def test_a_rest_that_needs_several_batches_is_of_another_shape() -> None:
    # of thirty characters six words are read, and the four that are left two at a time
    narrow = KIND.analyse(boots_for(prefix(lengths=[30], server={"n_ubatch": 2}), shape))
    assert [row.as_predicted for row in narrow.rows] == [None]
    assert [row.as_predicted for row in judged(shape, lengths=[30]).rows] == [True]

    def long_words(boot: Boot, ask: Ask) -> int:
        # half of the characters, and a third of the tokens
        return 3 if cached(boot, ask) else 0

    def widths(boot: Boot, ask: Ask) -> Any:
        return DRIFTED if boot.name.startswith("as-cold") else shape(boot, ask)

    boots = boots_of(widths, long_words, lengths=[30])
    for index, boot in enumerate(boots):
        if boot.name.startswith("as-cold"):
            narrow_settings = {**boot.settings, "n_ubatch": 3}
            boots[index] = boot.model_copy(update={"settings": narrow_settings})
        elif boot.name.startswith("cached"):
            opening = make_ask(response(A, cache_n=0, prompt_n=3), name="opening")
            boots[index] = boot.model_copy(update={"asks": [opening, *boot.asks[1:]]})
    result = KIND.analyse(boots)
    assert [(row.valid, row.width, row.as_predicted) for row in result.rows] == [(True, 3, None)]
    assert result.cause == "open"


def test_a_cache_that_no_opening_filled_was_not_left_unused() -> None:
    def server(boot: Boot, ask: Ask) -> Any:
        return None if (boot.name, ask.name) == ("unused", "opening") else shape(boot, ask)

    assert judged(server).unused_is_cold is None


@pytest.mark.parametrize(("fall", "rise", "token"), [(0.3, 0.1, 0), (0.1, 0.3, 2)])
def test_the_place_of_the_largest_change_may_be_a_fall_or_a_rise(
    fall: float, rise: float, token: int
) -> None:
    moved = ({"a": -0.1 - fall, "y": -2.5}, A[1], {"c": -0.5 + rise, "z": -1.9})
    cold = (A[0], A[1], {"c": -0.5, "z": -1.9})

    def server(boot: Boot, ask: Ask) -> Any:
        answer = shape(boot, ask)
        return calm(boot, ask) if ask.name == "control" else moved if answer is B else cold

    place = judged(server).largest_place
    assert place is not None
    assert place.token == token
    assert abs(place.cached - place.cold) == pytest.approx(0.3)
