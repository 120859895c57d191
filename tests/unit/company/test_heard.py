"""How long rounds took: what was sent at once from the first sending to the last answer."""

from __future__ import annotations

import pytest

from generator.company.heard import Heard, seconds, slots_used
from tests.factory import completion_response, make_ask


def heard(started_s: float, wall_s: float, together: str | None) -> Heard:
    ask = make_ask(completion_response(), together=together)
    outcome = ask.outcome.model_copy(update={"wall_s": wall_s})
    started = f"2026-01-02T03:04:{started_s:06.3f}Z"
    record = ask.model_copy(update={"started": started, "outcome": outcome})
    return Heard("text", 1, record, None)


@pytest.mark.parametrize(
    ("asks", "took"),
    [
        ([(1.0, 2.0)], 2.0),
        ([(1.0, 2.0), (1.0, 5.0), (1.0, 3.0)], 5.0),
        ([(1.5, 5.0), (1.0, 1.0), (2.0, 2.0)], 5.5),
        ([(3.0, 0.5), (1.0, 0.5)], 2.5),
    ],
)
def test_a_round_lasts_from_its_first_sending_to_its_last_answer(
    asks: list[tuple[float, float]], took: float
) -> None:
    together = [heard(*ask, "crowd") for ask in asks]
    assert seconds([together]) == pytest.approx(took)
    assert seconds([together, together]) == pytest.approx(2 * took)


def test_asks_in_a_row_last_as_long_as_all_of_them() -> None:
    assert seconds([[heard(1.0, 2.0, None), heard(30.0, 5.0, None)]]) == pytest.approx(7.0)


def test_slots_are_counted_once_each_and_only_if_all_are_known() -> None:
    def of(slot: object) -> Heard:
        ask = make_ask({**completion_response(), "id_slot": slot})
        return Heard("text", 1, ask, None)

    assert slots_used([of(0), of(1), of(0)]) == 2
    assert slots_used([of(0), of(None)]) is None
    assert slots_used([]) is None
