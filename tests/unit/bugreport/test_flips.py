"""Which pair of asks is a flip worth reporting, whatever kind of experiment it comes from."""

from __future__ import annotations

import pytest

from generator.bugreport.flips import Flip, named_flip, plainest_flip
from generator.errors import InputError
from generator.receipt import MismatchRecord, Receipt
from tests.unit.bugreport.flipping import REQUEST, asked, boot_of, cold_and_warm, receipt_of

ONE, TWO = [" a", " b", " c"], [" a", " b", " d"]
EARLY = [" x", " b", " c"]


def names(flip: Flip) -> tuple[str, str, int]:
    return flip.left.name, flip.right.name, flip.divergence.token


def no_flip(receipt: Receipt) -> str:
    with pytest.raises(InputError) as caught:
        plainest_flip(receipt, "some.json")
    (fault,) = caught.value.faults
    assert fault.file == "some.json"
    assert "receipts hunt" in caught.value.remedy
    return fault.problem


def test_the_flip_at_the_earliest_token_is_found() -> None:
    assert names(plainest_flip(cold_and_warm(), "x")) == ("main/1", "main/2", 1)
    receipt = receipt_of(
        boot_of(asked("1", ONE), asked("2", TWO), name="a"), boot_of(asked("1", EARLY), name="b")
    )
    assert names(plainest_flip(receipt, "x")) == ("a/1", "b/1", 0)


def test_a_flip_with_fewer_differing_settings_is_told_rather_than_an_earlier_one() -> None:
    narrow = boot_of(asked("1", EARLY), name="b", n_ubatch=64)
    both = boot_of(asked("1", EARLY), name="c", n_ubatch=64, threads=1)
    equal = boot_of(asked("1", ONE), asked("2", TWO), name="a")
    assert names(plainest_flip(receipt_of(equal, narrow), "x")) == ("a/1", "a/2", 2)
    single = boot_of(asked("1", ONE), name="a")
    flip = plainest_flip(receipt_of(both, single, narrow), "x")
    assert names(flip) == ("a/1", "b/1", 0)
    assert flip.differing == {"n_ubatch": [512, 64]}


def test_of_equal_ones_the_flip_that_takes_the_fewest_asks_is_found() -> None:
    first = boot_of(asked("1", ONE), asked("2", ONE), asked("3", TWO), name="a")
    second = boot_of(asked("1", TWO), name="b")
    assert names(plainest_flip(receipt_of(first, second), "x")) == ("a/1", "b/1", 2)
    one_server = boot_of(asked("1", ONE), asked("2", TWO), name="a")
    assert names(plainest_flip(receipt_of(one_server, second), "x")) == ("a/1", "a/2", 2)


def test_an_answer_that_ends_earlier_is_a_flip() -> None:
    flip = plainest_flip(receipt_of(boot_of(asked("1", ONE), asked("2", ONE[:2]))), "x")
    assert (flip.divergence.token, flip.divergence.chosen) == (2, None)


@pytest.mark.parametrize(
    "other",
    [
        {**REQUEST, "prompt": "Other"},
        {**REQUEST, "seed": 43},
        {**REQUEST, "cache_prompt": False},
    ],
)
def test_unequal_requests_are_not_compared(other: dict[str, object]) -> None:
    assert "no two equal asks" in no_flip(
        receipt_of(boot_of(asked("1", ONE), asked("2", TWO, request=other)))
    )


def test_dice_are_not_compared_but_seeds_are() -> None:
    rolled = {"prompt": "Say", "temperature": 0.8}
    asks = [asked("1", ONE, request=rolled), asked("2", TWO, request=rolled)]
    no_flip(receipt_of(boot_of(*asks)))
    seeded = {**rolled, "seed": 7}
    asks = [asked("1", ONE, request=seeded), asked("2", TWO, request=seeded)]
    assert names(plainest_flip(receipt_of(boot_of(*asks)), "x"))[2] == 2


def test_other_pins_and_templates_are_not_compared() -> None:
    left, right = boot_of(asked("1", ONE), name="a"), boot_of(asked("1", TWO), name="b")
    for update in ({"engine": "another"}, {"model": "another"}):
        no_flip(receipt_of(left, right.model_copy(update=update)))
    no_flip(receipt_of(left, boot_of(asked("1", TWO), name="b", chat_template="other")))


def test_asks_after_a_failure_cannot_be_asked_again() -> None:
    no_flip(receipt_of(boot_of(asked("1", ONE), asked("2", None), asked("3", TWO))))


def test_asks_whose_cache_was_not_as_planned_do_not_count() -> None:
    cold = asked("2", TWO).model_copy(update={"cache": "warm"})
    no_flip(receipt_of(boot_of(asked("1", ONE), cold)))


def test_asks_whose_response_reports_something_else_than_was_asked_do_not_count() -> None:
    odd = [MismatchRecord(name="seed", declared=1, effective=2)]
    other = asked("2", TWO).model_copy(update={"mismatches": odd})
    receipt = receipt_of(boot_of(asked("1", ONE), other))
    no_flip(receipt)
    with pytest.raises(InputError, match=r"main/2 reports another seed than was asked"):
        named_flip(receipt, "x", "main/1", "main/2")


def test_the_same_tokens_are_no_flip() -> None:
    no_flip(receipt_of(boot_of(asked("1", ONE), asked("2", ONE))))
    no_flip(receipt_of(boot_of()))


def test_company_counts_as_asked_before() -> None:
    asks = [asked(str(n), ONE, together="all") for n in range(3)]
    flip = plainest_flip(receipt_of(boot_of(*asks, asked("4", TWO))), "x")
    assert [len(side.before) for side in (flip.left, flip.right)] == [2, 3]
    assert [len(side.earlier) for side in (flip.left, flip.right)] == [0, 3]
    assert [len(side.company) for side in (flip.left, flip.right)] == [2, 0]


def test_two_asks_can_be_named_even_if_their_requests_differ() -> None:
    other = asked("2", TWO, request={**REQUEST, "cache_prompt": False})
    receipt = receipt_of(boot_of(asked("1", ONE), other, asked("3", EARLY)))
    assert names(named_flip(receipt, "x", "main/1", "main/2")) == ("main/1", "main/2", 2)


@pytest.mark.parametrize(
    ("left", "right", "problem", "remedy"),
    [
        ("mainz/1", "main/2", "no ask was answered as 'mainz/1'", "did you mean `main/1`?"),
        ("main/1", "main/3", "no ask was answered as 'main/3'", "did you mean"),
        ("main/1", "main/1", "have the same tokens", "whose tokens differ"),
        ("main/1", "main/4", "cannot be asked again", "name another ask"),
        ("main/1", "engine/1", "engine tiny-engine and engine another", "of one engine"),
        ("main/1", "model/1", "model tiny-model and model another", "of one model"),
        ("main/1", "template/1", "chat template of the model and chat template other", "of one"),
    ],
)
def test_names_that_cannot_be_meant(left: str, right: str, problem: str, remedy: str) -> None:
    receipt = receipt_of(
        boot_of(asked("1", ONE), asked("2", ONE), asked("3", None), asked("4", TWO)),
        boot_of(asked("1", TWO), name="engine").model_copy(update={"engine": "another"}),
        boot_of(asked("1", TWO), name="model").model_copy(update={"model": "another"}),
        boot_of(asked("1", TWO), name="template", chat_template="other"),
    )
    with pytest.raises(InputError) as caught:
        named_flip(receipt, "some.json", left, right)
    (fault,) = caught.value.faults
    assert problem in fault.problem
    assert remedy in fault.remedy
