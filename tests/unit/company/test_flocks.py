"""Flocks: the same texts in every plan, long and short, with the needle somewhere among them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from generator.company.flocks import identical, mixed, openings

TEXTS = st.text(min_size=1, max_size=30)
NUMBERS = st.integers(1, 99).map(str)


def test_copies_are_copies() -> None:
    sent = identical("needle", "Hello", 3)
    assert [(one.name, one.text) for one in sent] == [("needle", "Hello")] * 3


def test_openings_come_in_turn() -> None:
    sent = openings("abcdef", [1, 3, 99], 5)
    assert [one.text for one in sent] == ["a", "abc", "abcdef", "a", "abc"]
    assert [one.name for one in sent] == ["first-1", "first-3", "first-99", "first-1", "first-3"]


@given(
    TEXTS, st.lists(TEXTS, min_size=1, max_size=3), st.integers(2, 9), st.text("0123", min_size=1)
)
def test_neighbours_are_pieces_of_the_others(
    text: str, others: list[str], asks: int, flock: str
) -> None:
    sent = mixed("needle", text, others, asks, flock)
    assert len(sent) == asks
    assert [one.text for one in sent if one.name == "needle"] == [text]
    near = [one for one in sent if one.name != "needle"]
    assert len({one.name for one in near}) == asks - 1
    for index, one in enumerate(near):
        assert one.text
        assert one.text in others[(index + 1) % len(others)]


def test_a_flock_is_the_same_wherever_it_is_planned() -> None:
    other = "The test compares two runs."
    sent = mixed("needle", "Hello", [other], 4, "1")
    assert sent == mixed("needle", "Hello", [other], 4, "1")
    expected = ["The test compares", "Th", " compares two runs.", "Hello"]
    assert [one.text for one in sent] == expected


def test_another_round_has_other_neighbours_and_the_needle_elsewhere() -> None:
    flocks = [mixed("needle", "Hello", ["x" * 500], 8, str(number)) for number in range(9)]
    assert len({tuple(one.text for one in sent) for sent in flocks}) == len(flocks)
    assert len({[one.name for one in sent].index("needle") for sent in flocks}) > 2


def test_neighbours_are_long_and_short() -> None:
    lengths = [len(one.text) for one in mixed("needle", "", ["x" * 1000], 40, "1")]
    assert max(lengths) > 800
    assert sorted(lengths)[3] < 200
