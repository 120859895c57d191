"""The kind `replay`: a fixed seed asked again and again, to see whether the answer repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from generator import analysis
from generator.answers import Answer, failures, read_answers
from generator.declaration import UNFIXED_SEED, Experiment, Objection, Resolved
from generator.experiments.kind import Kind, one_boot
from generator.plan import Boot
from generator.receipt import BootRecord
from generator.schema import Count, Model
from generator.settings import Sampling


class Replay(Experiment):
    """Ask the same *runs* times with one seed; a drawn seed would replay nothing."""

    kind: Literal["replay"]
    runs: Annotated[int, Field(ge=2, le=10_000)]

    def objections(self, sampling: Sampling) -> list[Objection]:
        """Refuse seeds that differ from ask to ask."""
        return [] if isinstance(sampling.seed, int) else [UNFIXED_SEED]


class Run(Model):
    """One replay, compared with the first; null where there is nothing to compare.

    What used the cache otherwise than planned is not compared, nor is what the cap cut off while
    the model was thinking: nothing was answered, so no answer was repeated.
    """

    ask: str
    seed: int | None
    text: str
    tokens: Count
    tokens_per_second: float
    same_bytes: bool | None
    same_tokens: bool | None
    divergence: analysis.Divergence | None
    cache_n: Count
    valid: bool


class Result(Model):
    """Whether all answers are the same in bytes and in tokens, and how fast each was.

    Attributes:
        cap_eaten: How many valid asks the cap cut off before an answer.
        identical: How many compared answers equal the first; null if fewer than two are compared.
    """

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    cap_eaten: Count
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
    """Compare every answer with the first that can be compared."""
    answers, failed = read_answers(boots), failures(boots)
    valid = [answer for answer in answers if answer.valid]
    counted = [answer for answer in valid if not answer.cap_eaten]
    baseline = counted[0] if counted else None
    runs = [_run(answer, baseline) for answer in answers]
    compared = [run for run in runs if run.same_bytes is not None]
    comparable = len(compared) > 1
    return Result(
        asked=len(answers) + failed,
        answered=len(answers),
        failed=failed,
        invalid=len(answers) - len(valid),
        cap_eaten=len(valid) - len(counted),
        identical=sum(bool(run.same_bytes and run.same_tokens) for run in compared)
        if comparable
        else None,
        identical_bytes=all(run.same_bytes for run in compared) if comparable else None,
        identical_tokens=all(run.same_tokens for run in compared) if comparable else None,
        distinct=len(analysis.groups(counted)) if counted else None,
        tokens_per_second=analysis.spread([run.tokens_per_second for run in runs if run.valid]),
        runs=runs,
    )


def _run(answer: Answer, baseline: Answer | None) -> Run:
    against = baseline if answer.valid and not answer.cap_eaten else None
    return Run(
        ask=answer.ask,
        seed=answer.seed,
        text=answer.text,
        tokens=answer.predicted_n,
        tokens_per_second=round(answer.tokens_per_second, 2),
        same_bytes=answer.output == against.output if against else None,
        same_tokens=analysis.same_tokens(against, answer) if against else None,
        divergence=analysis.divergence(against, answer) if against else None,
        cache_n=answer.cache_n,
        valid=answer.valid,
    )


KIND = Kind("replay", Replay, Result, expand, analyse)
