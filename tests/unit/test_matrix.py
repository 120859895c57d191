"""The matrix compares what was asked alike, and says so where it was not."""

from __future__ import annotations

from typing import Any

import pytest

from generator.matrix import compare_variants, render_matrix
from generator.receipt import Receipt
from tests.factory import TokenLike, completion_response, make_ask, make_boot, make_receipt

A: list[TokenLike] = ["a", "b", "c"]
DRIFT: list[TokenLike] = ["a", ("b", -0.25, -1.5), "c"]
FLIP: list[TokenLike] = ["a", "x", "c"]
OTHER: list[TokenLike] = ["y", "x", "c"]


def _receipt(
    *answers: list[TokenLike] | None, engine: str = "one", cache_n: int = 0, seed: int = 42
) -> Receipt:
    asks = [
        make_ask(
            None if tokens is None else completion_response(tokens, cache_n=cache_n),
            name=str(number),
            seed=seed,
        )
        for number, tokens in enumerate(answers, start=1)
    ]
    receipt = make_receipt("repeat", [make_boot(asks)])
    declared: dict[str, Any] = {"model": "some-model", "engine": engine}
    return receipt.model_copy(
        update={"declaration": receipt.declaration.model_copy(update={"experiment": declared})}
    )


@pytest.mark.parametrize(
    ("other", "counts"),
    [
        ([A, A], (2, 2, 0, 2, None)),
        ([A, DRIFT], (2, 2, 0, 1, None)),
        ([A, FLIP], (2, 1, 1, 1, 1)),
        ([OTHER, FLIP], (2, 0, 2, 0, 0)),
        ([A, None], (1, 1, 0, 1, None)),
    ],
)
def test_asks_are_compared_one_by_one(
    other: list[list[TokenLike] | None], counts: tuple[int, ...]
) -> None:
    matrix = compare_variants("e", {"e": _receipt(A, A), "e@two": _receipt(*other, engine="two")})
    assert (
        matrix.compared,
        matrix.same,
        matrix.differ,
        matrix.bitwise,
        matrix.first_flip,
    ) == counts
    assert [member.engine for member in matrix.members] == ["one", "two"]


def test_equal_answers_have_one_group_among_three() -> None:
    receipts = {"e": _receipt(A), "e@two": _receipt(FLIP), "e@three": _receipt(A)}
    (row,) = compare_variants("e", receipts).rows
    assert [cell.group for cell in row.cells] == [0, 1, 0]
    assert row.same is False


@pytest.mark.parametrize("other", [_receipt(A, seed=7), _receipt(A, cache_n=3)])
def test_what_was_asked_otherwise_or_warm_is_not_compared(other: Receipt) -> None:
    matrix = compare_variants("e", {"e": _receipt(A), "e@two": other})
    assert (matrix.compared, matrix.same, matrix.differ) == (0, 0, 0)
    assert [cell.group for cell in matrix.rows[0].cells] == [0, None]


def test_without_the_first_answer_nothing_is_compared() -> None:
    matrix = compare_variants("e", {"e": _receipt(None), "e@two": _receipt(A)})
    assert [cell.group for cell in matrix.rows[0].cells] == [None, None]
    assert matrix.compared == 0


def test_a_matrix_names_the_receipts_that_it_was_made_from() -> None:
    receipts = {"e": _receipt(A), "e@two": _receipt(FLIP)}
    matrix = compare_variants("e", receipts)
    digests = [member.receipt_sha256 for member in matrix.members]
    assert len(set(digests)) == 2
    assert all(digest in render_matrix(matrix) for digest in digests)


def on(receipt: Receipt, **facts: Any) -> Receipt:
    """Return *receipt* as if it had been measured on a machine with other *facts*."""
    return receipt.model_copy(update={"host": receipt.host.model_copy(update=facts)})


@pytest.mark.parametrize(
    "facts",
    [
        {"cpu": "Another CPU"},
        {"isa": ["avx2", "avx512f"]},
        {"usable": 1},
        {"cpu_limit": 0.5},
        {"libc": "glibc 2.40"},
        {"arch": "aarch64"},
    ],
)
def test_members_from_different_machines_are_no_evidence_about_builds(
    facts: dict[str, Any],
) -> None:
    other = on(_receipt(FLIP, FLIP, engine="two"), **facts)
    matrix = compare_variants("e", {"e": _receipt(A, A), "e@two": other})
    assert not matrix.one_machine
    assert (matrix.same, matrix.differ, matrix.bitwise, matrix.first_flip) == (None,) * 4
    assert [row.same for row in matrix.rows] == [False, False]


def test_a_reboot_of_the_same_machine_is_no_other_machine() -> None:
    other = on(_receipt(FLIP, A, engine="two"), kernel="Linux 6.2", os="Test OS 2", memory_bytes=1)
    matrix = compare_variants("e", {"e": _receipt(A, A), "e@two": other})
    assert matrix.one_machine
    assert matrix.differ == 1


def test_answers_to_other_prompts_are_not_compared() -> None:
    receipt = _receipt(A, A, engine="two")
    asks = [ask.model_copy(update={"prompt": "0" * 64}) for ask in receipt.boots[0].asks]
    boot = receipt.boots[0].model_copy(update={"asks": asks})
    matrix = compare_variants(
        "e", {"e": _receipt(A, A), "e@two": receipt.model_copy(update={"boots": [boot]})}
    )
    assert matrix.compared == 0
