"""The kind `panel`: several prompts asked cold at several thread counts, on two boots each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from generator import analysis
from generator.answers import Answer, failures, read_answers
from generator.declaration import UNFIXED_SEED, Experiment, Objection, Resolved
from generator.experiments.kind import Kind, ask_of
from generator.plan import Boot
from generator.receipt import BootRecord
from generator.schema import Count, Model
from generator.settings import Sampling

AGAIN = "-again"


class Panel(Experiment):
    """Ask every prompt once a boot, at each thread count on one boot and again on a second.

    The second boot is the control: a build that does not repeat itself cannot be compared with
    another one, nor a thread count with another.
    """

    several_prompts: ClassVar[bool] = True

    kind: Literal["panel"]
    threads: Annotated[list[Annotated[int, Field(ge=1, le=1024)]], Field(min_length=1)]

    @field_validator("threads")
    @classmethod
    def _distinct(cls, threads: list[int]) -> list[int]:
        if len(set(threads)) < len(threads):
            raise ValueError("a thread count is named twice → name each once")
        return threads

    def objections(self, sampling: Sampling) -> list[Objection]:
        """Refuse seeds that differ from ask to ask: they would move tokens themselves."""
        return [] if isinstance(sampling.seed, int) else [UNFIXED_SEED]


class Row(Model):
    """One ask; *repeats* compares it with its control, *same* with the first thread count.

    Null stands where there is nothing to compare.
    """

    prompt: str
    threads: Count
    text: str
    valid: bool
    prompt_n: Count
    tokens_per_second: float
    repeats: bool | None
    repeats_bitwise: bool | None
    same: bool | None
    bitwise: bool | None
    divergence: analysis.Divergence | None


class Tally(Model):
    """Pairs of answers that were compared: how many there are, and how many agree."""

    compared: Count
    same: Count
    differ: Count
    bitwise: Count


class Result(Model):
    """Whether the build repeats itself, and whether the thread count moves tokens.

    Attributes:
        control: Each ask beside the same ask on a second fresh boot; null if none can be compared.
        across_threads: Each ask beside the one at the first thread count; null likewise.
        first_flip: Of the latter, the one that parts at the earliest token.
        smallest_gap: The smallest lead of a best candidate over the second where a token flipped,
            in nats; `largest_gap` the largest.
    """

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    control: Tally | None
    across_threads: Tally | None
    first_flip: analysis.Divergence | None
    smallest_gap: float | None
    largest_gap: float | None
    rows: list[Row]


def expand(resolved: Resolved[Panel]) -> tuple[Boot, ...]:
    """Plan two boots for each thread count, every prompt in each, with the prompt cache off."""
    server = resolved.server.model_copy(update={"cache_prompt": False})
    uncached = replace(resolved, server=server)
    return tuple(
        Boot(
            name=f"t{threads}{suffix}",
            engine=resolved.engine,
            model=resolved.model,
            server=server.model_copy(update={"threads": threads, "threads_batch": threads}),
            asks=tuple(
                ask_of(uncached, name, "cold", prompt=prompt)
                for name, prompt in resolved.prompts.items()
            ),
        )
        for threads in resolved.spec.threads
        for suffix in ("", AGAIN)
    )


def analyse(boots: Sequence[BootRecord]) -> Result:
    """Compare every ask with its control and with the first thread count."""
    answers, failed = read_answers(boots), failures(boots)
    valid = {(a.boot, a.ask): a for a in answers if a.valid}
    threads = {boot.name: int(boot.settings["threads"]) for boot in boots}
    first = boots[0].name if boots else ""
    rows = [
        _row(answer, threads[answer.boot], valid, first)
        for answer in answers
        if not answer.boot.endswith(AGAIN)
    ]
    flips = [row.divergence for row in rows if row.divergence is not None]
    gaps = [flip.gap for flip in flips if flip.gap is not None]
    return Result(
        asked=len(answers) + failed,
        answered=len(answers),
        failed=failed,
        invalid=len(answers) - len(valid),
        control=_tally((row.repeats, row.repeats_bitwise) for row in rows),
        across_threads=_tally((row.same, row.bitwise) for row in rows),
        first_flip=min(flips, key=lambda flip: flip.token, default=None),
        smallest_gap=min(gaps, default=None),
        largest_gap=max(gaps, default=None),
        rows=rows,
    )


def _row(answer: Answer, threads: int, valid: Mapping[tuple[str, str], Answer], first: str) -> Row:
    control = valid.get((answer.boot + AGAIN, answer.ask))
    baseline = None if answer.boot == first else valid.get((first, answer.ask))
    repeated = analysis.compare(answer, control) if control and answer.valid else None
    found = analysis.compare(baseline, answer) if baseline and answer.valid else None
    return Row(
        prompt=answer.ask,
        threads=threads,
        text=answer.text,
        valid=answer.valid,
        prompt_n=answer.prompt_n,
        tokens_per_second=round(answer.tokens_per_second, 2),
        repeats=repeated.same_tokens if repeated else None,
        repeats_bitwise=repeated.bitwise if repeated else None,
        same=found.same_tokens if found else None,
        bitwise=found.bitwise if found else None,
        divergence=found.divergence if found else None,
    )


def _tally(pairs: Iterable[tuple[bool | None, bool | None]]) -> Tally | None:
    """Count pairs by (same tokens, bitwise); those that were not compared are left out."""
    compared = [pair for pair in pairs if pair[0] is not None]
    if not compared:
        return None
    same = sum(bool(tokens) for tokens, _ in compared)
    return Tally(
        compared=len(compared),
        same=same,
        differ=len(compared) - same,
        bitwise=sum(bool(bits) for _, bits in compared),
    )


KIND = Kind("panel", Panel, Result, expand, analyse)
