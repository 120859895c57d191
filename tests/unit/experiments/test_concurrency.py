"""`concurrency`: whether company moves a token, and when that cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from generator.company.declared import EXTENTS, Concurrency
from generator.company.result import Result
from generator.declaration import Resolved
from generator.experiments.concurrency import KIND, expand
from generator.plan import Ask, Boot
from generator.receipt import BootRecord, MismatchRecord
from generator.settings import Sampling
from tests.factory import completion_response, make_ask
from tests.unit.experiments.crowds import Server, boots_of, crowd, crowded
from tests.unit.experiments.resolving import resolved
from tests.unit.experiments.sweeping import CONTROL, DRIFTED, A, B, C, Candidates, calm

Answer = Sequence[Candidates] | None
TEXTS = {"needle": "Hello", "long": "x" * 90, "short": "y y"}


def judged(server: Server, **fields: Any) -> Result:
    return KIND.analyse(boots_of(crowd(**fields), server))


# --- the plan


def test_every_number_of_slots_has_a_server_and_a_twin_that_is_asked_alone() -> None:
    boots = expand(crowd())
    assert [boot.name for boot in boots] == ["slots-1", "slots-2", "slots-1 again", "slots-2 again"]
    assert [[ask.name for ask in boot.asks] for boot in boots] == [
        ["alone prompt", *(f"1/{n} prompt" for n in range(1, 5)), "control"],
        ["alone prompt", *(f"1/{n} prompt" for n in range(1, 5))],
        ["alone prompt"],
        ["alone prompt"],
    ]
    assert [len(group) for group in boots[1].groups] == [1, 4]
    assert {ask.cache for boot in boots for ask in boot.asks} == {"cold"}


def test_a_slot_gets_the_declared_context_and_nobody_waits_for_a_thread() -> None:
    servers = [boot.server for boot in expand(crowd(slots=[1, 8]))]
    assert [one.n_parallel for one in servers] == [1, 8, 1, 8]
    assert [one.n_ctx for one in servers] == [1024, 8192, 1024, 8192]
    assert [one.threads_http for one in servers] == [5, 12, 5, 12]
    assert all(one.cont_batching for one in servers)
    shared = expand(crowd(slots=[8], server={"kv_unified": True, "threads_http": 40}))
    assert {(boot.server.n_ctx, boot.server.threads_http) for boot in shared} == {(1024, 40)}


def test_only_the_control_is_asked_otherwise() -> None:
    asks = {ask.name: ask for ask in expand(crowd())[0].asks}
    control = asks.pop("control")
    assert len({str((ask.body, ask.seed)) for ask in asks.values()}) == 1
    assert (control.body["temperature"], control.together) == (0.8, None)


def test_asks_in_a_row_wait_for_each_other() -> None:
    boots = expand(resolved(Concurrency, mode="serial", server={"cache_prompt": False}))
    assert [boot.name for boot in boots] == ["serial", "serial again"]
    assert [len(group) for group in boots[0].groups] == [1] * 10
    assert boots[0].divisible


def test_a_needle_stands_among_neighbours_that_are_others_in_each_round() -> None:
    boot = expand(crowd(mode="mixed", prompts=TEXTS, rounds=2))[0]
    names = [ask.name.partition(" ")[2] for ask in boot.asks[1:-1]]
    assert sorted(names) == sorted(
        ["needle", "near-1-1", "near-1-2", "near-1-3", "needle", "near-2-1", "near-2-2", "near-2-3"]
    )
    assert boot.asks[0].name == "alone needle"
    assert [ask.together for ask in boot.asks[1:-1]] == ["round-1"] * 4 + ["round-2"] * 4
    assert all(str(ask.body["prompt"]) in TEXTS["long"] + TEXTS["short"] + "Hello"
               for ask in boot.asks)  # fmt: skip


def test_a_flock_that_comes_again_is_asked_alone_too() -> None:
    boot = expand(crowd(mode="mixed", prompts=TEXTS, rounds=2, fresh=False))[0]
    names = [ask.name for ask in boot.asks]
    assert names[0] == "alone needle"
    assert sorted(names[1:4]) == ["alone near-1-1", "alone near-1-2", "alone near-1-3"]
    first, second = ([n.partition(" ")[2] for n in names if n.startswith(r)] for r in ("1/", "2/"))
    assert first == second


def test_without_other_prompts_neighbours_are_pieces_of_the_needle() -> None:
    boot = expand(crowd(mode="mixed", prompts={"needle": "abc"}))[0]
    assert all(str(ask.body["prompt"]) in "abc" for ask in boot.asks)


def test_openings_are_sent_together_and_asked_alone() -> None:
    boot = expand(crowd(mode="prefix", lengths=[1, 3]))[0]
    assert [(ask.name, ask.body["prompt"]) for ask in boot.asks[:6]] == [
        ("alone first-1", "H"),
        ("alone first-3", "Hel"),
        ("1/1 first-1", "H"),
        ("1/2 first-3", "Hel"),
        ("1/3 first-1", "H"),
        ("1/4 first-3", "Hel"),
    ]


def test_with_the_cache_on_any_use_of_it_is_as_planned() -> None:
    boots = expand(crowd(server={"cache_prompt": True}))
    assert {ask.cache for boot in boots for ask in boot.asks} == {"any"}


@pytest.mark.parametrize("mode", ["serial", "identical", "mixed", "prefix"])
def test_the_full_size_is_one_word_away(mode: Any) -> None:
    small = resolved(Concurrency, mode=mode).spec.extent
    full = resolved(Concurrency, mode=mode, size="full").spec.extent
    assert (small, full) == (EXTENTS[mode, "small"], EXTENTS[mode, "full"])
    assert full.asks * full.rounds >= 1000
    assert small.asks * small.rounds * len(small.slots) <= 64
    said = resolved(Concurrency, mode=mode, size="full", asks=9, rounds=3).spec.extent
    assert (said.slots, said.asks, said.rounds) == (full.slots, 9, 3)


@pytest.mark.parametrize(
    "fields",
    [
        {"slots": []},
        {"slots": [2, 2]},
        {"slots": [0]},
        {"asks": 1},
        {"rounds": 0},
        {"lengths": [3, 3]},
        {"lengths": [0]},
        {"mode": "together"},
        {"size": "huge"},
        {"control": {"temperature": 0}},
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        crowd(**fields)


def test_what_would_move_tokens_by_itself_is_refused() -> None:
    spec = crowd().spec
    assert spec.objections(Sampling(seed=1)) == []
    assert [where for where, *_ in spec.objections(Sampling(seed="drawn"))] == [
        ("sampling", "seed")
    ]
    assert [where for where, *_ in spec.objections(Sampling(seed=43))] == [("control", "seed")]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"mode": "identical", "prompts": TEXTS}, ("prompts",)),
        ({"mode": "prefix", "prompts": TEXTS}, ("prompts",)),
        ({"mode": "serial", "slots": [4]}, ("slots",)),
    ],
)
def test_what_means_nothing_in_a_mode_is_refused(
    fields: dict[str, Any], where: tuple[str, ...]
) -> None:
    assert [one for one, *_ in crowd(**fields).spec.objections(Sampling(seed=1))] == [where]


# --- the verdict


def test_company_that_moves_nothing() -> None:
    result = judged(calm)
    assert (result.outcome, result.compared, result.flips, result.drifts) == ("same", 8, 0, 0)
    assert (result.detector_works, result.aa_identical) == (True, True)
    assert (result.slots_alone_same, result.slots_alone_bitwise) == (True, True)
    assert (result.unique, result.largest_drift, result.first_flip) == (1, 0.0, None)
    assert (result.asked, result.answered, result.failed, result.invalid) == (13, 13, 0, 0)
    assert [line.told[0].together for line in result.lines] == [{"A": 4}, {"A": 4}]


def test_company_that_moves_tokens() -> None:
    result = judged(crowded(A, B, DRIFTED, B))
    assert (result.outcome, result.compared, result.flips, result.drifts) == ("moves", 8, 2, 1)
    one, two = result.lines
    assert (one.slots, one.unique, one.moved, one.drifted) == (1, 1, 0, 0)
    assert (two.slots, two.unique, two.sizes, two.moved, two.drifted) == (2, 2, [2, 2], 1, 1)
    assert (two.same_as_alone, two.bitwise_as_alone, two.answers) == (2, 1, 4)
    assert two.shared_tokens == 1
    assert [(fork.token, fork.answers) for fork in two.split] == [("b", 2), ("x", 2)]
    assert two.told[0].alone == "A1"
    assert two.told[0].together == {"A1": 1, "A2": 1, "B": 2}
    assert result.first_flip is not None
    assert (result.first_flip.token, result.first_flip.chosen) == (1, "x")
    assert result.largest_drift == pytest.approx(0.1)
    groups = result.outputs[0].groups
    assert [(group.group, group.answers, group.variants) for group in groups] == [
        ("A", 8, 2),
        ("B", 2, 1),
    ]


def test_the_commonest_answers_come_first() -> None:
    line = judged(crowded(A, A, A, B, C, A), asks=6).lines[1]
    assert (line.unique, line.sizes, line.shared_tokens) == (3, [4, 1, 1], 0)
    assert [(fork.token, fork.answers) for fork in line.split] == [("a", 5), ("y", 1)]


def test_an_answer_that_ends_first_has_no_token_there() -> None:
    line = judged(crowded(A, A[:1])).lines[1]
    assert (line.shared_tokens, [fork.token for fork in line.split]) == (1, ["b", None])


def test_drift_is_told_from_a_flip() -> None:
    result = judged(crowded(DRIFTED))
    assert (result.outcome, result.flips, result.drifts, result.unique) == ("drifts", 0, 4, 1)
    assert (result.lines[1].moved, result.lines[1].drifted) == (0, 1)


def test_more_slots_alone_may_move_a_token_and_company_is_not_blamed_for_that() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        return B if boot.server.n_parallel > 1 else calm(boot, ask)

    result = judged(server)
    assert (result.outcome, result.flips) == ("same", 0)
    assert (result.slots_alone_same, result.slots_alone_bitwise) == (False, False)
    assert [line.told[0].alone for line in result.lines] == ["A", "B"]
    assert (result.unique, result.unique_anywhere) == (1, 2)


def test_one_number_of_slots_says_nothing_about_slots() -> None:
    result = judged(calm, slots=[2])
    assert (result.slots_alone_same, result.slots_alone_bitwise) == (None, None)


def test_what_does_not_repeat_alone_is_blamed_on_nobody() -> None:
    def server(boot: Boot, ask: Ask) -> Answer:
        return B if boot.name == "slots-2 again" else crowded(A, C)(boot, ask)

    result = judged(server)
    assert (result.outcome, result.aa_identical) == ("unstable", False)
    assert (result.compared, result.flips, result.drifts, result.first_flip) == (None,) * 4
    assert [line.alone_repeats for line in result.lines] == [True, False]


def test_a_detector_that_sees_no_difference_concludes_nothing() -> None:
    result = judged(lambda _boot, _ask: A)
    assert (result.outcome, result.detector_works) == ("detector_broken", False)
    assert (result.compared, result.flips) == (None, None)


@pytest.mark.parametrize("missing", ["control", "alone prompt"])
def test_without_a_control_or_anything_alone_nothing_is_measured(missing: str) -> None:
    result = judged(lambda boot, ask: None if ask.name == missing else calm(boot, ask))
    assert (result.outcome, result.flips) == ("unmeasured", None)
    assert result.failed == (1 if missing == "control" else 4)


def test_without_a_twin_nobody_is_blamed() -> None:
    result = judged(lambda boot, ask: None if boot.name.endswith("again") else calm(boot, ask))
    assert (result.outcome, result.aa_identical, result.compared) == ("unmeasured", None, None)


def test_without_company_nothing_is_measured() -> None:
    result = judged(lambda boot, ask: None if ask.together else calm(boot, ask))
    assert (result.outcome, result.unique, result.largest_drift) == ("unmeasured", None, None)
    assert [(line.unique, line.same_as_alone, line.moved) for line in result.lines] == [
        (None, None, None)
    ] * 2


def test_an_ask_alone_that_failed_leaves_its_line_uncompared() -> None:
    def server(boot: Boot, ask: Ask) -> Answer:
        lost = boot.name == "slots-2" and ask.name.startswith("alone")
        return None if lost else crowded(A, B)(boot, ask)

    result = judged(server)
    assert (result.outcome, result.compared, result.failed) == ("same", 4, 1)
    line = result.lines[1]
    assert (line.unique, line.same_as_alone, line.moved, line.largest_drift) == (2, *(None,) * 3)


def test_an_unplanned_cache_is_shown_and_not_counted() -> None:
    boots = boots_of(crowd(), crowded(B))
    spoiled = completion_response(["q"], cache_n=3, prompt_n=4)
    asks = [*boots[1].asks]
    asks[1] = make_ask(spoiled, name=asks[1].name, together=asks[1].together)
    boots[1] = boots[1].model_copy(update={"asks": asks})
    result = KIND.analyse(boots)
    assert (result.invalid, result.compared, result.flips) == (1, 7, 3)


def test_a_server_without_its_slots_counts_for_nothing() -> None:
    boots = boots_of(crowd(), crowded(B))
    refused = MismatchRecord(name="n_parallel", declared=2, effective=1)
    boots[1] = boots[1].model_copy(update={"mismatches": [refused]})
    result = KIND.analyse(boots)
    assert (result.outcome, result.compared, result.invalid) == ("same", 4, 5)
    assert result.lines[1].answers == 0


def test_a_needle_is_compared_and_its_neighbours_are_not() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        if "near" in ask.name:
            return C
        return calm(boot, ask) if ask.together is None else B

    result = judged(server, mode="mixed", prompts=TEXTS, rounds=2)
    assert (result.outcome, result.compared, result.flips) == ("moves", 4, 4)
    assert [one.prompt for one in result.outputs] == ["needle"]
    assert [(line.texts, line.answers, line.at_once, line.rounds) for line in result.lines] == [
        (1, 2, 4, 2)
    ] * 2
    assert {line.distinct_rounds for line in result.lines} == {None}


def test_rounds_of_one_flock_are_told_apart() -> None:
    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        second = ask.name.startswith("2/") and boot.server.n_parallel > 1
        return C if second and "near" in ask.name else calm(boot, ask)

    result = judged(server, mode="mixed", prompts=TEXTS, rounds=3, fresh=False)
    assert [line.distinct_rounds for line in result.lines] == [1, 2]
    assert [(line.texts, line.moved) for line in result.lines] == [(4, 0), (4, 3)]
    assert (result.compared, result.flips) == (24, 3)
    assert [len(one.groups) for one in result.outputs] == [1, 2, 2, 2]


def test_it_says_how_long_the_rounds_took_and_where_they_went() -> None:
    result = judged(calm, rounds=2)
    two = result.lines[1]
    assert (two.seconds, two.tokens_per_second) == (0.5, 48.0)  # two rounds of 0.25 s, 24 tokens
    assert [line.slots_used for line in result.lines] == [1, 2]
    (serial,) = judged(calm, mode="serial", slots=None).lines
    assert (serial.boot, serial.at_once, serial.rounds, serial.seconds) == ("serial", 1, 1, 1.0)


def test_a_server_that_does_not_name_its_slots() -> None:
    boots = boots_of(crowd(), calm)
    for boot in boots:
        for ask in boot.asks:
            assert ask.outcome.status == "answered"
            ask.outcome.response.pop("id_slot")
    assert [line.slots_used for line in KIND.analyse(boots).lines] == [None, None]


def test_layers_on_a_gpu_are_named() -> None:
    assert judged(calm).gpu_layers is None
    boots = boots_of(crowd(server={"n_gpu_layers": 30}), calm)
    assert KIND.analyse(boots).gpu_layers == 30


def test_nothing_answered_is_nothing_measured() -> None:
    result = judged(lambda _boot, _ask: None)
    assert (result.outcome, result.asked, result.failed) == ("unmeasured", 13, 13)
    assert (result.unique, result.unique_anywhere, result.aa_identical) == (None, None, None)
    assert [(one.prompt, one.groups) for one in result.outputs] == [("prompt", [])]


def test_no_boots_are_no_measurement() -> None:
    result = KIND.analyse([])
    assert (result.outcome, result.lines, result.gpu_layers) == ("unmeasured", [], None)


def test_the_control_is_not_among_the_outputs() -> None:
    result = judged(calm)
    assert {group.text for group in result.outputs[0].groups} == {"abc"}
    assert CONTROL != A


@pytest.mark.parametrize("lengths", [[1, 4], [1, 4, 4000]])
def test_the_control_is_compared_with_its_own_prompt(lengths: list[int]) -> None:
    crowd_of = crowd(mode="prefix", lengths=lengths)
    control = next(ask for ask in expand(crowd_of)[0].asks if ask.name == "control")
    longest = max(str(ask.body["prompt"]) for ask in expand(crowd_of)[0].asks)
    assert control.body["prompt"] == longest

    def blind(_boot: Boot, ask: Ask) -> Answer:
        # each opening has an answer of its own, and the dice have none
        return B if ask.body["prompt"] == longest else A

    result = KIND.analyse(as_asked(crowd_of, blind))
    assert (result.outcome, result.detector_works) == ("detector_broken", False)


def test_a_control_without_its_prompts_answer_proves_nothing() -> None:
    experiment = crowd(mode="mixed", prompts=TEXTS, fresh=False)

    def server(_boot: Boot, ask: Ask) -> Answer:
        # another text was answered alone, and differs from the control whatever the dice do
        return None if ask.name == "alone needle" else B if ask.name.startswith("alone") else A

    result = KIND.analyse(as_asked(experiment, server))
    assert (result.outcome, result.detector_works) == ("unmeasured", None)


def as_asked(experiment: Resolved[Concurrency], server: Server) -> list[BootRecord]:
    """Return the boots of *experiment* with the prompts that were really sent."""
    prompts = {
        (boot.name, ask.name): ask.body["prompt"]
        for boot in expand(experiment)
        for ask in boot.asks
    }
    return [
        boot.model_copy(
            update={
                "asks": [
                    ask.model_copy(
                        update={"request": {**ask.request, "prompt": prompts[boot.name, ask.name]}}
                    )
                    for ask in boot.asks
                ]
            }
        )
        for boot in boots_of(experiment, server)
    ]


def test_company_is_not_blamed_for_a_text_that_was_not_asked_twice_alone() -> None:
    def server(boot: Boot, ask: Ask) -> Answer:
        return None if boot.name == "slots-2 again" else crowded(B)(boot, ask)

    result = judged(server)
    assert (result.outcome, result.compared, result.flips) == ("same", 4, 0)
    nobody = judged(lambda boot, ask: None if " again" in boot.name else calm(boot, ask))
    assert (nobody.outcome, nobody.compared) == ("unmeasured", None)


def test_answers_without_a_probability_are_not_the_same_to_the_last_bit() -> None:
    boots = boots_of(crowd(), calm)
    untold: dict[str, Any] = {"completion_probabilities": [], "tokens": []}
    boots = [
        boot.model_copy(
            update={
                "asks": [
                    make_ask(
                        {**ask.outcome.response, **untold},
                        name=ask.name,
                        cache=ask.cache,
                        together=ask.together,
                    )
                    for ask in boot.asks
                    if ask.outcome.status == "answered"
                ]
            }
        )
        for boot in boots
    ]
    result = KIND.analyse(boots)
    assert (result.outcome, result.aa_identical) == ("unmeasured", None)
    assert result.invalid == result.answered
