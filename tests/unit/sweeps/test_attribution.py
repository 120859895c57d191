"""Who moved the token, on made-up outputs: movers, accomplices, the innocent and the remedies."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.sweeps.attribution import (
    GRAVITY,
    Output,
    Outputs,
    Role,
    flips,
    gravest,
    movers,
    removal,
    role,
    unexplained,
)
from generator.sweeps.designs import Cell

SETTINGS = ("a=1", "b=1", "c=1")
CELLS = [
    frozenset(chosen) for chosen in chain.from_iterable(combinations(SETTINGS, n) for n in range(4))
]


def cell(text: str) -> Cell:
    """Return a cell by the letters of what it sets: `ab` is `a=1 b=1`."""
    return frozenset(f"{letter}=1" for letter in text)


def outputs_of(table: Mapping[str, str]) -> Outputs:
    """Return outputs from words such as `A` or, with other probabilities, `A'`."""
    return {cell(text): Output(word.strip("'"), word) for text, word in table.items()}


def roles(table: Mapping[str, str], planned: str = "") -> dict[str, Role]:
    outputs = outputs_of(table)
    cells = [*outputs, *(cell(text) for text in planned.split())]
    settings = sorted(set(chain.from_iterable(cells)))
    return {s[0]: role(s, outputs, cells, movers(outputs)) for s in settings}


def test_one_setting_alone_moves_a_token() -> None:
    table = {"": "A", "a": "B", "b": "A'", "ab": "B'", "c": "A", "ac": "B", "bc": "A'"}
    assert movers(outputs_of(table)) == [cell("a")]
    assert roles(table) == {"a": "mover", "b": "drifts", "c": "silent"}


def test_two_settings_move_it_only_together() -> None:
    table = {"": "A", "a": "A", "b": "A'", "ab": "B", "c": "A"}
    assert movers(outputs_of(table)) == [cell("ab")]
    assert roles(table) == {"a": "joint", "b": "joint", "c": "silent"}


def test_a_setting_may_move_it_alone_and_help_another() -> None:
    table = {"": "A", "a": "B", "b": "A", "c": "A", "bc": "C", "ab": "B", "ac": "B"}
    assert movers(outputs_of(table)) == [cell("a"), cell("bc")]
    assert roles(table) == {"a": "mover", "b": "joint", "c": "joint"}


def test_where_a_token_moved_already_another_setting_may_choose_which() -> None:
    table = {"": "A", "a": "B", "b": "A", "ab": "C"}
    assert movers(outputs_of(table)) == [cell("a")]
    assert roles(table)["b"] == "alters"


def test_no_flip_has_no_mover() -> None:
    table = {"": "A", "a": "A'", "b": "A"}
    assert movers(outputs_of(table)) == []
    assert flips(outputs_of(table)) == []
    assert roles(table) == {"a": "drifts", "b": "silent"}


def test_a_flip_with_a_missing_part_is_pinned_on_nobody() -> None:
    table = {"": "A", "b": "A", "ab": "B"}
    assert movers(outputs_of(table)) == []
    assert unexplained(outputs_of(table), []) == [cell("ab")]
    assert roles(table, planned="a") == {"a": "alters", "b": "open"}


def test_a_missing_comparison_keeps_a_setting_from_being_acquitted() -> None:
    table = {"": "A", "a": "B", "b": "A"}
    assert roles(table)["b"] == "silent"
    assert roles(table, planned="ab")["b"] == "open"


def test_the_gravest_role_of_its_levels_is_a_factor_s() -> None:
    assert gravest(["silent", "drifts"]) == "drifts"
    assert gravest(["open", "silent"]) == "open"
    assert gravest(list(GRAVITY)) == "mover"


def test_a_remedy_is_tried_beside_the_movers() -> None:
    outputs = outputs_of({"": "A", "a": "B", "b": "A", "c": "C", "ab": "A", "bc": "A"})
    found = movers(outputs)
    remedy = removal("b=1", outputs, found)
    assert remedy is not None
    assert (remedy.removes, remedy.leaves, remedy.untried) == ((cell("a"), cell("c")), (), ())
    assert (remedy.bitwise, remedy.keeps_baseline) == (True, True)
    other = removal("a=1", outputs, found)
    assert other is None  # never tried beside c


def test_a_remedy_may_give_another_answer_and_leave_some_movers() -> None:
    outputs = outputs_of({"": "A", "a": "B", "b": "D", "c": "C", "ab": "D'", "bc": "E"})
    remedy = removal("b=1", outputs, [cell("a"), cell("c")])
    assert remedy is not None
    assert (remedy.removes, remedy.leaves) == ((cell("a"),), (cell("c"),))
    assert (remedy.bitwise, remedy.keeps_baseline) == (False, False)


def test_a_remedy_that_was_not_tried_with_all_says_so() -> None:
    outputs = outputs_of({"": "A", "a": "B", "b": "A", "c": "C", "ab": "A"})
    remedy = removal("b=1", outputs, movers(outputs))
    assert remedy is not None
    assert remedy.untried == (cell("c"),)


def test_a_level_is_no_remedy_for_another_level_of_its_factor() -> None:
    base: Cell = frozenset()
    outputs = {
        base: Output("A", "A"),
        frozenset({"a=1"}): Output("B", "B"),
        frozenset({"a=2"}): Output("A", "A"),
    }
    assert removal("a=2", outputs, movers(outputs)) is None


@pytest.mark.parametrize("missing", ["b", "ab"])
def test_what_was_not_measured_is_no_remedy(missing: str) -> None:
    table = {"": "A", "a": "B", "b": "A", "ab": "A"}
    del table[missing]
    outputs = outputs_of(table)
    assert removal("b=1", outputs, movers(outputs)) is None


WORDS = st.sampled_from(["A", "A'", "B", "B'", "C"])


@given(st.fixed_dictionaries(dict.fromkeys(CELLS, WORDS)))
def test_in_a_full_design_every_flip_has_its_smallest_cause(words: dict[Cell, str]) -> None:
    outputs = {key: Output(word.strip("'"), word) for key, word in words.items()}
    found = movers(outputs)
    assert unexplained(outputs, found) == []
    for mover in found:
        assert outputs[mover].tokens != outputs[frozenset()].tokens
        for part in CELLS:
            if part < mover:
                assert outputs[part].tokens == outputs[frozenset()].tokens
    for setting in SETTINGS:
        verdict = role(setting, outputs, CELLS, found)
        pairs = [(outputs[key - {setting}], outputs[key]) for key in CELLS if setting in key]
        assert (verdict == "silent") is all(one == two for one, two in pairs)
        innocent = all(one.tokens == two.tokens for one, two in pairs)
        assert (verdict in ("silent", "drifts")) is innocent


@given(st.dictionaries(st.sampled_from(CELLS), WORDS))
def test_with_cells_missing_nobody_innocent_is_blamed(words: dict[Cell, str]) -> None:
    known = {**words, frozenset(): "A"}
    outputs = {key: Output(word.strip("'"), word) for key, word in known.items()}
    found = movers(outputs)
    for flip in flips(outputs):
        explained = any(mover <= flip for mover in found)
        assert explained is (flip not in unexplained(outputs, found))
    for setting in SETTINGS:
        verdict = role(setting, outputs, CELLS, found)
        complete = all({key, key - {setting}} <= outputs.keys() for key in CELLS if setting in key)
        assert complete or verdict not in ("silent", "drifts")
