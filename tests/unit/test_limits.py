"""Limits grow with what there is to do, and what is set wins over all of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.limits import ASK_FLOOR_S, Limits, crowding, overload
from generator.plan import Ask, Boot, FixedSeed, Plan
from generator.settings import ServerSettings
from tests.factory import make_host

ASK = Ask("1", "completion", {"prompt": "x" * 100, "n_predict": 100}, FixedSeed(1), "cold")
HOST = make_host()
GB = 1_000_000_000


def boot(threads: int = 2, n_ctx: int = 4096, asks: tuple[Ask, ...] = (ASK,)) -> Boot:
    server = ServerSettings(threads=threads, threads_batch=1, n_ctx=n_ctx)
    return Boot("main", "e", "m", server, asks)


def of(boot: Boot, ask: Ask = ASK, model_bytes: int = GB) -> float:
    return Limits().of_ask(boot, ask, model_bytes, HOST)


def test_every_token_takes_the_time_to_read_the_model() -> None:
    assert of(boot()) == pytest.approx(ASK_FLOOR_S + 200)
    assert of(boot(), model_bytes=4 * GB) == pytest.approx(ASK_FLOOR_S + 800)


def test_no_more_tokens_than_the_context_holds_are_reckoned_with() -> None:
    assert of(boot(n_ctx=50)) == pytest.approx(ASK_FLOOR_S + 50)


def test_a_chat_is_reckoned_by_its_messages() -> None:
    body = {"messages": [{"role": "user", "content": "x" * 100}], "max_tokens": 100}
    chat = replace(ASK, endpoint="chat", body=body)
    assert of(boot(), chat) > ASK_FLOOR_S + 200


def test_crowded_cpus_and_company_take_longer() -> None:
    assert of(boot(threads=8)) == pytest.approx(4 * of(boot()))
    together = tuple(replace(ASK, name=name, together="all") for name in "123")
    assert of(boot(asks=together), together[0]) == pytest.approx(3 * of(boot()))


def test_what_is_set_wins() -> None:
    assert Limits(ask_s=7.0).of_ask(boot(threads=8), ASK, GB, HOST) == 7.0


def test_only_more_threads_than_cpus_are_warned_of() -> None:
    plan = Plan("a", "x", "repeat", (boot(), boot(8), replace(boot(8), name="other"), boot(3)))
    first, second = crowding(plan, HOST)
    assert first.startswith("x, boot main, other: 8 threads on 2 usable CPUs")
    assert second.startswith("x, boot main: 3 threads")
    limited = HOST.model_copy(update={"cpu_limit": 0.5})
    assert "2 threads on 0.5 usable CPUs" in crowding(plan, limited)[0]


@pytest.mark.parametrize(
    ("loads", "threads", "busy"),
    [
        ([], 2, None),
        ([0.1, 1.9, 2.4], 2, None),
        ([0.1, 3.1], 2, 3.1),
        ([3.1], 4, None),  # its own threads, of which `crowding` warns
        ([5.0, 9.0], 4, 9.0),
    ],
)
def test_a_load_above_cpus_and_own_threads_is_too_high_to_time_anything(
    loads: list[float], threads: int, busy: float | None
) -> None:
    assert overload(loads, make_host(), threads) == busy
