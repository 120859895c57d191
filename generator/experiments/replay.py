"""The kind `replay`: a fixed seed asked again and again, to see whether the answer repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from generator import analysis
from generator.answers import failures, read_answers
from generator.declaration import Experiment, Resolved
from generator.experiments.kind import Kind, one_boot
from generator.plan import Boot
from generator.receipt import BootRecord
from generator.schema import Count, Model


class Replay(Experiment):
    """Ask the same *runs* times with one seed; a drawn seed would replay nothing."""

    kind: Literal["replay"]
    runs: Annotated[int, Field(ge=2, le=10_000)]


class Run(Model):
    """One replay, compared with the first."""

    ask: str
    seed: int | None
    text: str
    tokens: Count
    tokens_per_second: float
    same_bytes: bool
    same_tokens: bool
    divergence: analysis.Divergence | None
    cache_n: Count
    valid: bool


class Result(Model):
    """Whether all answers are the same in bytes and in tokens, and how fast each was."""

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    identical: Count | None
    identical_bytes: bool | None
    identical_tokens: bool | None
    distinct: Count | None
    tokens_per_second: analysis.Spread | None
    runs: list[Run]


def expand(resolved: Resolved[Replay]) -> tuple[Boot, ...]:
    """Plan one boot with all replays in it."""
    return one_boot(resolved, resolved.spec.runs)


def analyse(boots: Sequence[BootRecord]) -> Result:
    """Compare every answer with the first valid one."""
    answers, failed = read_answers(boots), failures(boots)
    counted = [answer for answer in answers if answer.valid]
    baseline = counted[0] if counted else None
    runs = [
        Run(
            ask=answer.ask,
            seed=answer.seed,
            text=answer.text,
            tokens=answer.predicted_n,
            tokens_per_second=round(answer.tokens_per_second, 2),
            same_bytes=answer.text == baseline.text if baseline else False,
            same_tokens=answer.ids == baseline.ids if baseline else False,
            divergence=analysis.divergence(baseline, answer) if baseline else None,
            cache_n=answer.cache_n,
            valid=answer.valid,
        )
        for answer in answers
    ]
    valid = [run for run in runs if run.valid]
    comparable = len(valid) > 1
    return Result(
        asked=len(answers) + failed,
        answered=len(answers),
        failed=failed,
        invalid=len(answers) - len(counted),
        identical=sum(run.same_bytes and run.same_tokens for run in valid) if comparable else None,
        identical_bytes=all(run.same_bytes for run in valid) if comparable else None,
        identical_tokens=all(run.same_tokens for run in valid) if comparable else None,
        distinct=len(analysis.groups(counted)) if counted else None,
        tokens_per_second=analysis.spread([run.tokens_per_second for run in valid]),
        runs=runs,
    )


KIND = Kind("replay", Replay, Result, expand, analyse)
