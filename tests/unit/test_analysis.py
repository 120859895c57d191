"""The measures: what is the same, what differs and where, and who stands apart."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from generator import analysis
from generator.answers import Answer, read_answers
from tests.factory import TokenLike, chat_response, completion_response, make_ask, make_boot


def _answers(*outputs: Sequence[TokenLike]) -> list[Answer]:
    return read_answers([make_boot([completion_response(tokens) for tokens in outputs])])


def _answer(tokens: Sequence[TokenLike], text: str | None = None) -> Answer:
    (answer,) = read_answers([make_boot([completion_response(tokens, text=text)])])
    return answer


def _untold(text: str) -> Answer:
    response = completion_response([], text=text)
    (answer,) = read_answers([make_boot([response])])
    return answer


WORDS = st.lists(st.sampled_from("ab"), max_size=5)
OUTPUTS = st.lists(WORDS, max_size=6)


# --- groups


def test_groups_come_largest_first_then_by_their_first_ask() -> None:
    found = analysis.groups(_answers("x", "y", "z", "y"))
    assert [group.asks for group in found] == [["2", "4"], ["1"], ["3"]]
    assert [group.size for group in found] == [2, 1, 1]


def test_the_same_text_after_other_thinking_is_another_output() -> None:
    asks = [chat_response("", thinking=thinking, stop="length") for thinking in ("a", "b", "a")]
    answers = read_answers([make_boot([make_ask(ask, name=str(n)) for n, ask in enumerate(asks)])])
    assert [group.asks for group in analysis.groups(answers)] == [["0", "2"], ["1"]]


def test_texts_that_only_look_alike_are_different() -> None:
    assert len(analysis.groups([_answer([], "é"), _answer([], "e\u0301")])) == 2


@given(OUTPUTS)
def test_groups_part_all_answers(outputs: list[list[str]]) -> None:
    found = analysis.groups(_answers(*outputs))
    asks = sorted(ask for group in found for ask in group.asks)
    assert asks == sorted(str(index) for index in range(1, len(outputs) + 1))
    assert len(found) == len({"".join(output) for output in outputs})
    assert [group.size for group in found] == sorted((g.size for g in found), reverse=True)


# --- divergence


def test_equal_answers_do_not_diverge() -> None:
    left, right = _answers("abc", "abc")
    assert analysis.divergence(left, right) is None


def test_the_first_differing_token_is_named() -> None:
    left, right = _answers(["ab", ("c", -0.5, -0.75), "d"], ["ab", "x", "d"])
    found = analysis.divergence(left, right)
    assert found is not None
    assert (found.token, found.character) == (1, 2)
    assert (found.baseline, found.chosen, found.gap) == ("c", "x", 0.25)
    assert [(c.text, c.logprob) for c in found.candidates] == [("c", -0.5), ("not c", -0.75)]


def test_an_answer_that_ends_early_has_chosen_nothing() -> None:
    longer, shorter = _answers("abc", "ab")
    found = analysis.divergence(longer, shorter)
    assert found is not None
    assert (found.token, found.baseline, found.chosen) == (2, "c", None)
    back = analysis.divergence(shorter, longer)
    assert back is not None
    assert (back.token, back.baseline, back.chosen) == (2, None, "c")
    assert (back.gap, back.candidates) == (None, [])


def test_the_same_tokens_with_another_text_diverge_in_characters_only() -> None:
    left, right = _answer("ab", "ab"), _answer("ab", "aX")
    found = analysis.divergence(left, right)
    assert found is not None
    assert (found.token, found.character, found.baseline, found.chosen) == (2, 1, None, None)
    assert analysis.compare(left, right).same_tokens


def test_an_emoji_before_the_difference_is_one_character() -> None:
    left, right = _answers(["😀", "a"], ["😀", "b"])
    found = analysis.divergence(left, right)
    assert found is not None
    assert (found.token, found.character) == (1, 1)


# --- comparison


def test_one_log_probability_is_a_drift_and_no_flip() -> None:
    left, right = _answers([("a", -0.5, -1.0)], [("a", -0.5000001, -1.0)])
    found = analysis.compare(left, right)
    assert (found.bitwise, found.same_tokens, found.divergence) == (False, True, None)


def test_without_tokens_nothing_is_bitwise_and_the_text_decides() -> None:
    assert not analysis.compare(_untold("a"), _untold("a")).bitwise
    assert analysis.compare(_untold("a"), _untold("a")).same_tokens
    different = analysis.compare(_untold("a"), _untold("b"))
    assert not different.same_tokens
    assert different.divergence is not None


@given(WORDS, WORDS)
def test_comparison_is_symmetric(one: list[str], two: list[str]) -> None:
    left, right = _answers(one, two)
    there, back = analysis.compare(left, right), analysis.compare(right, left)
    assert (there.bitwise, there.same_tokens) == (back.bitwise, back.same_tokens)
    assert there.same_tokens is (one == two)
    if there.divergence is None or back.divergence is None:
        assert there.divergence is back.divergence
    else:
        assert there.divergence.token == back.divergence.token
        assert there.divergence.character == back.divergence.character
        assert there.divergence.baseline == back.divergence.chosen
        index = there.divergence.token
        assert one[:index] == two[:index]
        assert one[index : index + 1] != two[index : index + 1]


@given(WORDS.filter(bool))
def test_an_answer_equals_itself(words: list[str]) -> None:
    (answer,) = _answers(words)
    assert analysis.compare(answer, answer) == analysis.Comparison(
        bitwise=True, same_tokens=True, divergence=None
    )


@given(WORDS, WORDS)
def test_a_shared_prefix_is_shared_and_no_longer(one: list[str], two: list[str]) -> None:
    length = analysis.shared_prefix(one, two)
    assert length == analysis.shared_prefix(two, one)
    assert one[:length] == two[:length]
    assert length in (len(one), len(two)) or one[length] != two[length]


# --- the one apart


def test_the_one_apart_is_found_with_what_it_shares() -> None:
    found = analysis.outlier(_answers("abcd", "abce", "xyz", "abf"))
    assert found is not None
    assert (found.ask, found.shared_tokens, found.others_share) == ("3", 0, 2)


def test_the_one_apart_may_share_an_opening() -> None:
    found = analysis.outlier(_answers("abcd", "abcd", "ax"))
    assert found is not None
    assert (found.ask, found.shared_tokens, found.others_share) == ("3", 1, 4)


def test_nobody_stands_apart_in_a_tie_or_in_small_company() -> None:
    assert analysis.outlier(_answers("a", "b", "c")) is None
    assert analysis.outlier(_answers("ab", "ab", "xy", "xy")) is None
    assert analysis.outlier(_answers("aa", "aa", "x", "y")) is None
    assert analysis.outlier(_answers("aa", "aa", "aa")) is None
    assert analysis.outlier(_answers("a", "b")) is None
    assert analysis.outlier(_answers("a")) is None
    assert analysis.outlier([]) is None


@given(OUTPUTS)
def test_the_one_apart_is_the_one_that_its_definition_names(outputs: list[list[str]]) -> None:
    found = analysis.outlier(_answers(*outputs))
    nearest = [
        max(
            (analysis.shared_prefix(one, two) for j, two in enumerate(outputs) if i != j),
            default=0,
        )
        for i, one in enumerate(outputs)
    ]
    if len(outputs) < 3 or nearest.count(min(nearest)) > 1:
        assert found is None
    else:
        assert found is not None
        assert int(found.ask) - 1 == nearest.index(min(nearest))
        assert found.shared_tokens == min(nearest)
        assert found.others_share == sorted(nearest)[1]


def test_thousands_of_answers_are_compared_at_once() -> None:
    outputs = [list(f"{index:b}"[::-1]) for index in range(1_000)]
    assert analysis.outlier(_answers(*outputs, ["z"])) is not None


# --- ranges and reasons


def test_a_spread_needs_values() -> None:
    assert analysis.spread([]) is None
    found = analysis.spread([0.3, 0.1, 0.2])
    assert found == analysis.Spread(smallest=0.1, largest=0.3, spread=0.2)
    assert analysis.spread([7]) == analysis.Spread(smallest=7, largest=7, spread=0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_a_spread_holds_all_values(values: list[float]) -> None:
    found = analysis.spread(values)
    assert found is not None
    assert all(found.smallest <= value <= found.largest for value in values)
    assert abs(found.largest - found.smallest - found.spread) < 1e-8


def test_reasons_to_stop_are_counted() -> None:
    responses = [completion_response(stop=stop) for stop in ("limit", "eos", "limit")]
    assert analysis.stops(read_answers([make_boot(responses)])) == {"eos": 1, "limit": 2}
