"""The kind `repeat`: one prompt asked several times, to count the different answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from generator import analysis
from generator.answers import Answer, failures, read_answers
from generator.declaration import Experiment, Resolved
from generator.experiments.kind import Kind, one_boot
from generator.plan import Boot
from generator.receipt import BootRecord
from generator.schema import Count, Model


class Repeat(Experiment):
    """Ask the same *runs* times."""

    kind: Literal["repeat"]
    runs: Annotated[int, Field(ge=2, le=10_000)]


class Run(Model):
    """One row of the table of runs."""

    ask: str
    seed: int | None
    text: str
    tokens: Count
    stop: str
    cache_n: Count
    valid: bool


class Result(Model):
    """How many distinct outputs there were, which runs agree, and which one stands apart."""

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    distinct: Count | None
    groups: list[analysis.Group]
    outlier: analysis.Outlier | None
    apart: int | None
    shared_tokens: Count | None
    length: analysis.Spread | None
    stops: dict[str, int]
    runs: list[Run]


def expand(resolved: Resolved[Repeat]) -> tuple[Boot, ...]:
    """Plan one boot with all runs in it."""
    return one_boot(resolved, resolved.spec.runs)


def analyse(boots: Sequence[BootRecord]) -> Result:
    """Count distinct outputs and look for the one apart."""
    answers = read_answers(boots)
    counted = [answer for answer in answers if answer.valid]
    failed = failures(boots)
    apart = analysis.outlier(counted)
    grouped = analysis.groups(counted)
    return Result(
        asked=len(answers) + failed,
        answered=len(answers),
        failed=failed,
        invalid=len(answers) - len(counted),
        distinct=len(grouped) if counted else None,
        groups=grouped,
        outlier=apart,
        apart=None if len(counted) < 3 else int(apart is not None),  # noqa: PLR2004 - see outlier
        shared_tokens=_shared_by_all(counted),
        length=analysis.spread([len(answer.text) for answer in counted]),
        stops=analysis.stops(counted),
        runs=[
            Run(
                ask=answer.ask,
                seed=answer.seed,
                text=answer.text,
                tokens=answer.predicted_n,
                stop=answer.stop,
                cache_n=answer.cache_n,
                valid=answer.valid,
            )
            for answer in answers
        ],
    )


def _shared_by_all(answers: Sequence[Answer]) -> int | None:
    if len(answers) < 2:  # noqa: PLR2004 - one shares nothing with nobody
        return None
    first = answers[0]
    return min(analysis.shared_prefix(first.ids, other.ids) for other in answers[1:])


KIND = Kind("repeat", Repeat, Result, expand, analyse)
