"""The search stops at the first flip that fresh servers show, and makes its prompt shorter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from generator.cli.hunting import nothing
from generator.hunt.search import MOST_SHORTENINGS, Hunt, Hunted, Stage
from generator.hunt.trial import Trial, Verdict
from tests.unit.hunt.flipping import COLD_WARM, sides_of

Judge = Callable[[str, bool], Verdict]


@dataclass
class Bench:
    """Tries prompts by a rule, and hears what the search tells."""

    judge: Judge
    told: list[tuple[Stage, int, Verdict]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def try_(self, prompt: str, *, fresh: bool) -> tuple[Trial, bool]:
        self.prompts.append(prompt)
        verdict = self.judge(prompt, fresh)
        length = None if verdict == "uncompared" else len(prompt.split())
        return Trial(verdict=verdict, prompt_tokens=length, seconds=0.0), False

    def tried(self, stage: Stage, number: int, trial: Trial, *, known: bool) -> None:
        assert not known
        self.told.append((stage, number, trial.verdict))

    def run(self, pool: Iterable[str], limit: int = 100, **changes: Any) -> Hunted:
        hunt = {"tried": self.try_, "watcher": self, "out_of_time": lambda: False, "limit": limit}
        return Hunt(**{**hunt, **changes}).run(pool)


def saying(word: str) -> Judge:
    return lambda prompt, _fresh: "flip" if word in prompt else "same"


def test_the_first_prompt_that_flips_ends_the_search() -> None:
    bench = Bench(saying("x"))
    hunted = bench.run(["a", "b", "x", "x y"])
    assert (hunted.ended, hunted.prompt, hunted.tally.prompts) == ("found", "x", 3)
    assert bench.told[:4] == [
        ("search", 1, "same"), ("search", 2, "same"), ("search", 3, "flip"), ("fresh", 1, "flip"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "word", "shortest"),
    [
        ("one two three four five x seven", "x", "x"),
        ("1. one\n2. two\n3. x\n4. four\n\nThe end", "x", "3. x"),
        ("1. one\n\nThe x end", "x", "The x end"),
        ("x", "x", "x"),
    ],
)
def test_a_prompt_is_shortened_to_what_its_flip_needs(
    prompt: str, word: str, shortest: str
) -> None:
    hunted = Bench(saying(word)).run([prompt])
    assert hunted.prompt == shortest
    assert hunted.first is not None
    assert hunted.first.prompt_tokens == len(prompt.split())


def test_shortening_keeps_what_is_needed_together() -> None:
    def both(prompt: str, _fresh: bool) -> Verdict:
        return "flip" if {"x", "y"} <= set(prompt.split()) else "same"

    words = [f"w{n}" for n in range(30)]
    words[3], words[27] = "x", "y"
    assert Bench(both).run([" ".join(words)]).prompt == "x y"


def test_shortening_does_not_go_on_for_ever() -> None:
    def whole(prompt: str, _fresh: bool) -> Verdict:
        return "flip" if len(prompt.split()) >= 200 else "same"

    bench = Bench(whole)
    hunted = bench.run([" ".join(["w"] * 200)])
    assert hunted.trial is not None
    assert hunted.trial.prompt_tokens == 200
    assert len([stage for stage, _, _ in bench.told if stage == "shorten"]) == MOST_SHORTENINGS


def test_a_flip_that_fresh_servers_do_not_show_is_no_find() -> None:
    bench = Bench(lambda prompt, fresh: "same" if fresh and "y" not in prompt else "flip")
    hunted = bench.run(["x", "y"])
    assert (hunted.prompt, hunted.tally.unconfirmed) == ("y", 1)


def test_a_short_prompt_that_fresh_servers_do_not_show_gives_way_to_a_longer_one() -> None:
    def judge(prompt: str, fresh: bool) -> Verdict:
        return "flip" if "x" in prompt and (not fresh or len(prompt.split()) >= 3) else "same"

    hunted = Bench(judge).run(["x b c d e f g h"])
    assert hunted.prompt is not None
    assert len(hunted.prompt.split()) == 4
    hunted = Bench(lambda p, fresh: "same" if fresh and p != "x b" else "flip").run(["x b"])
    assert hunted.prompt == "x b"


def test_a_limit_ends_it() -> None:
    hunted = Bench(saying("x")).run((f"p {n}" for n in count()), limit=7)
    assert (hunted.ended, hunted.prompt, hunted.tally.prompts) == ("limit", None, 7)


def test_time_ends_it_between_two_prompts() -> None:
    ticks = count()
    hunted = Bench(saying("x")).run(["a", "b", "c"], out_of_time=lambda: next(ticks) >= 2)
    assert (hunted.ended, hunted.tally.prompts) == ("time", 2)


def test_when_time_is_up_a_find_is_not_shortened_any_more() -> None:
    ticks = count()
    hunted = Bench(saying("x")).run(["a b c x"], out_of_time=lambda: next(ticks) >= 1)
    assert hunted.prompt == "a b c x"


def test_nothing_found_is_told_in_figures() -> None:
    verdicts: dict[str, Verdict] = {"d": "drift", "u": "uncompared", "s": "same", "f": "flip"}
    bench = Bench(lambda p, fresh: "same" if fresh else verdicts[p[0]])
    hunted = bench.run(["s", "s s", "d d d", "u", "f f"])
    assert nothing(hunted, sides_of(*COLD_WARM)) == (
        "Nothing found between cache=cold and cache=warm: 5 prompts of 1 to 3 tokens were tried, "
        "all there are; 2 gave the same to the last bit, 1 the same tokens with other "
        "probabilities, 1 flipped, but not on fresh servers, 1 could not be compared."
    )
    empty = Bench(saying("x")).run(["a"], out_of_time=lambda: True)
    assert nothing(empty, sides_of(*COLD_WARM)) == (
        "Nothing found between cache=cold and cache=warm: 0 prompts were tried until the time was "
        "up; 0 gave the same to the last bit, 0 the same tokens with other probabilities."
    )
