"""Times that run backwards in a receipt are found, and where."""

from __future__ import annotations

import pytest

from generator.clock import SetBack, set_back
from generator.receipt import Receipt
from tests.factory import completion_response, make_ask, make_boot, make_receipt


def receipt(started: str, life: str, asks: list[str], finished: str) -> Receipt:
    records = [
        make_ask(completion_response(), name=str(number)).model_copy(update={"started": time})
        for number, time in enumerate(asks, start=1)
    ]
    boot = make_boot(records)
    lives = [boot.lives[0].model_copy(update={"started": life})]
    boot = boot.model_copy(update={"lives": lives})
    return make_receipt("repeat", [boot], started=started, finished=finished)


T = "2026-01-02T03:04:{:06.3f}Z"


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        ([1, 2, 3, 4, 5], None),
        ([1, 1, 1, 1, 1], None),
        ([1.9, 1, 1, 1, 1], None),
        ([2, 1, 1, 1, 1], None),
        ([2.25, 1, 1, 1, 1], SetBack("the start of boot main", 1.25)),
        ([30, 2, 3, 4, 5], SetBack("the start of boot main", 28)),
        ([1, 30, 3, 40, 50], SetBack("boot main, ask 1", 27)),
        ([1, 2, 30, 4, 50], SetBack("boot main, ask 2", 26)),
        ([1, 2, 3, 40, 5], SetBack("the end", 35)),
    ],
)
def test_the_first_step_back_is_found(seconds: list[float], found: SetBack | None) -> None:
    started, life, first, second, finished = map(T.format, seconds)
    assert set_back(receipt(started, life, [first, second], finished)) == found
