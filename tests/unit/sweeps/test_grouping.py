"""Letters of outputs: one for each, however many there are, and a number for each variant."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from generator.answers import Answer, read_answers
from generator.sweeps.grouping import Grouping
from tests.factory import TokenLike, completion_response, make_boot


def answers(*given: Sequence[TokenLike]) -> list[Answer]:
    return read_answers([make_boot([completion_response(tokens) for tokens in given])])


@pytest.mark.parametrize(
    ("index", "letter"),
    [(0, "A"), (1, "B"), (25, "Z"), (26, "AA"), (27, "AB"), (51, "AZ"), (52, "BA"), (701, "ZZ")],
)
def test_letters_go_on_as_the_columns_of_a_sheet(index: int, letter: str) -> None:
    given = answers(*[[f"t{number}"] for number in range(index + 1)])
    grouping = Grouping(given)
    assert grouping.name(given[index]) == letter
    assert grouping.groups(given[0])[index].group == letter


def test_no_two_outputs_share_a_letter() -> None:
    given = answers(*[[f"t{number}"] for number in range(750)])
    grouping = Grouping(given)
    names = [grouping.name(answer) for answer in given]
    assert len(set(names)) == 750
    assert names == sorted(names, key=lambda name: (len(name), name))


def test_variants_of_one_output_are_numbered_in_the_order_in_which_they_came() -> None:
    given = answers(["a", "b"], ["a", ("b", -0.25, -1.5)], ["x"], ["a", "b"])
    grouping = Grouping(given)
    assert [grouping.name(answer) for answer in given] == ["A1", "A2", "B", "A1"]
    first, other = grouping.groups(given[0])
    assert (first.group, first.answers, first.variants, first.text) == ("A", 3, 2, "ab")
    assert (other.group, other.answers, other.variants, other.text) == ("B", 1, 1, "x")
    assert first.divergence is None
    assert other.divergence is not None
    assert other.divergence.token == 0


def test_without_a_baseline_nothing_is_said_of_where_an_output_leaves_it() -> None:
    given = answers(["a", "b"], ["a", "c"])
    groups = Grouping(given).groups(None)
    assert [(g.divergence, g.gap, g.moved) for g in groups] == [(None, None, None)] * 2
