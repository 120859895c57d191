"""A prompt is tried on both sides with as few servers and asks as it takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.engines.effective import Mismatch
from generator.errors import EngineError
from generator.plan import Boot
from tests.factory import TokenLike
from tests.unit.hunt.flipping import COLD_WARM, Machine, trials_of


def by_width(prompt: str, _cache: str, boot: Boot) -> list[TokenLike]:
    return [" a", " c" if boot.server.n_ubatch == 64 and "flip" in prompt else " b"]


def test_cold_and_warm_share_a_server() -> None:
    machine = Machine()
    with trials_of(machine, *COLD_WARM) as trials:
        flip = trials.tried("please flip now", fresh=False)
        assert (flip.verdict, flip.prompt_tokens, flip.token) == ("flip", 3, 1)
        assert (flip.left, flip.right) == (" b", " c")
        assert trials.tried("a drift", fresh=False).verdict == "drift"
        assert trials.tried("nothing here", fresh=False).verdict == "same"
    assert len(machine.boots) == 1
    assert machine.asked == [
        ("please flip now", "cold"), ("please flip now", "warm"),
        ("a drift", "cold"), ("a drift", "warm"),
        ("nothing here", "cold"), ("nothing here", "warm"),
    ]  # fmt: skip


def test_the_sides_are_compared_in_their_order() -> None:
    with trials_of(Machine(), *reversed(COLD_WARM)) as trials:
        flip = trials.tried("please flip now", fresh=False)
    assert (flip.left, flip.right) == (" c", " b")


def test_other_settings_have_a_server_each_that_is_kept() -> None:
    machine = Machine(by_width)
    with trials_of(machine, "n_ubatch=512", "n_ubatch=64") as trials:
        verdicts = [trials.tried(p, fresh=False).verdict for p in ("flip it", "a", "a")]
    assert verdicts == ["flip", "same", "same"]
    assert [boot.server.n_ubatch for boot in machine.boots] == [512, 64]
    assert {cache for _, cache in machine.asked} == {"cold"}


def test_a_warm_side_alone_fills_its_cache_first() -> None:
    machine = Machine(by_width)
    sides = ("n_ubatch=512 cache=warm", "n_ubatch=64 cache=warm")
    with trials_of(machine, *sides) as trials:
        for fresh in (False, True):
            assert trials.tried("flip it", fresh=fresh).verdict == "flip"
    assert [cache for _, cache in machine.asked] == ["cold", "warm"] * 4


def test_fresh_servers_are_started_for_one_prompt_and_stopped() -> None:
    machine = Machine()
    with trials_of(machine, *COLD_WARM) as trials:
        trials.tried("one two", fresh=False)
        trials.tried("one two", fresh=True)
        trials.tried("one two", fresh=True)
        trials.tried("one two", fresh=False)
    assert len(machine.boots) == 4


def test_a_prompt_that_is_refused_costs_no_server() -> None:
    machine = Machine()
    with trials_of(machine, *COLD_WARM) as trials:
        for _ in range(5):
            trial = trials.tried("refuse this", fresh=False)
            assert (trial.verdict, trial.message) == ("uncompared", "http_status: HTTP 400")
        assert trials.tried("all fine", fresh=False).verdict == "same"
    assert len(machine.boots) == 1


def test_a_response_that_reports_something_else_than_was_asked_is_not_compared() -> None:
    machine = Machine(echo={"temperature": 0.3})
    with trials_of(machine, *COLD_WARM) as trials:
        trial = trials.tried("please flip now", fresh=True)
    assert trial.verdict == "uncompared"
    assert trial.message == "temperature was asked as 0.0 and is reported as 0.3"


def test_a_server_that_dies_is_started_again_but_not_for_ever() -> None:
    machine = Machine()
    with trials_of(machine, *COLD_WARM) as trials:
        for prompt in ("die", "die again"):
            trial = trials.tried(prompt, fresh=False)
            assert trial.verdict == "uncompared"
            assert "killed by SIGKILL" in str(trial.message)
        assert trials.tried("all fine", fresh=False).verdict == "same"
        trials.tried("die", fresh=False)
        trials.tried("die", fresh=False)
        with pytest.raises(EngineError, match="3 prompts in a row") as caught:
            trials.tried("die", fresh=False)
    assert "SIGKILL" in str(caught.value)
    assert len(machine.boots) == 5


def test_prompts_of_one_token_can_be_no_warmer_and_are_no_failures() -> None:
    machine = Machine()
    with trials_of(machine, *COLD_WARM) as trials:
        for word in ("one", "two", "three", "four"):
            assert trials.tried(word, fresh=False).verdict == "uncompared"
    assert len(machine.boots) == 1


def test_an_ask_that_is_not_as_warm_as_it_should_be_is_not_compared() -> None:
    machine = Machine()
    with trials_of(machine, *COLD_WARM) as trials:
        left, right = trials.sides
        off = right.server.model_copy(update={"cache_prompt": False})
        trials.sides = (replace(left, server=off), replace(right, server=off))
        trial = trials.tried("some words here", fresh=False)
    assert trial.message == "an ask was not warm: 0 tokens cached, 3 evaluated"


def test_answers_without_tokens_are_not_compared() -> None:
    with trials_of(Machine(lambda *_: []), *COLD_WARM) as trials:
        trial = trials.tried("some", fresh=False)
    assert trial.message == "the response holds no tokens"


def test_a_setting_that_the_engine_does_not_take_ends_the_hunt() -> None:
    machine = Machine(by_width)
    with trials_of(machine, "n_ubatch=512", "n_ubatch=64") as trials:
        launch = trials.launch

        def odd(boot: Boot) -> object:
            context = launch(boot)
            return _Odd(context, boot)

        trials.launch = odd  # type: ignore[assignment]
        with pytest.raises(EngineError, match="given n_ubatch=512 and uses 32"):
            trials.tried("some", fresh=False)


class _Odd:
    """A server that reports another width than it was given."""

    def __init__(self, context: object, boot: Boot) -> None:
        self.context, self.boot = context, boot

    def __enter__(self) -> object:
        server = self.context.__enter__()  # type: ignore[attr-defined]
        server.mismatches = (Mismatch("n_ubatch", self.boot.server.n_ubatch, 32),)
        return server

    def __exit__(self, *error: object) -> None:
        self.context.__exit__(*error)  # type: ignore[attr-defined]
