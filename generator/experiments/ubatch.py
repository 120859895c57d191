"""The kind `ubatch`: micro-batch widths, each on a fresh boot, asked cold and then warm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, field_validator

from generator import analysis
from generator.answers import Answer, failures, read_answers
from generator.declaration import UNFIXED_SEED, Experiment, Objection, Resolved
from generator.experiments.kind import Kind, serial_asks
from generator.plan import Boot, Cache
from generator.receipt import BootRecord
from generator.schema import Count, Model
from generator.settings import Sampling


class Ubatch(Experiment):
    """Ask *asks* times at each width: the first ask after a boot is cold, the others are warm.

    Without a warm control at every width, a change of width cannot be told from a cold start.
    """

    kind: Literal["ubatch"]
    widths: Annotated[list[Annotated[int, Field(ge=1, le=65_536)]], Field(min_length=2)]
    asks: Annotated[int, Field(ge=2, le=100)]

    @field_validator("widths")
    @classmethod
    def _distinct(cls, widths: list[int]) -> list[int]:
        if len(set(widths)) < len(widths):
            raise ValueError("a width is named twice → name each width once")
        return widths

    def objections(self, sampling: Sampling) -> list[Objection]:
        """Refuse seeds that differ from ask to ask: they would move tokens themselves."""
        return [] if isinstance(sampling.seed, int) else [UNFIXED_SEED]


class Row(Model):
    """One ask, compared with the first width's cold ask; null where there is nothing to compare."""

    n_ubatch: Count
    ask: str
    planned: Cache
    cache_n: Count
    prompt_n: Count
    valid: bool
    text: str
    same_tokens: bool | None
    bitwise: bool | None
    divergence: analysis.Divergence | None


class Result(Model):
    """Which asks leave the baseline, and whether cache or width did it.

    Attributes:
        prompt_tokens: The prompt's length; null if the cold baseline is missing.
        flips: How many valid asks differ in tokens from the baseline; null unless every width has
            a cold ask.
        cache_flips: At how many widths a warm ask differs in tokens from the cold one; null unless
            every width has both.
        width_flips: How many asks differ in tokens from the first width's ask of the same cache;
            null unless every width has both.
        width_drifts: The same, counting a difference in any log probability.
        warm_unanimous: Whether all warm asks have the same tokens.
        first_flip: The flip at the earliest token.
    """

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    prompt_tokens: Count | None
    flips: Count | None
    cache_flips: Count | None
    width_flips: Count | None
    width_drifts: Count | None
    warm_unanimous: bool | None
    first_flip: analysis.Divergence | None
    rows: list[Row]


def expand(resolved: Resolved[Ubatch]) -> tuple[Boot, ...]:
    """Plan a boot for each width."""
    return tuple(
        Boot(
            name=f"ub-{width}",
            engine=resolved.engine,
            model=resolved.model,
            server=resolved.server.model_copy(
                update={"n_ubatch": width, "n_batch": max(width, resolved.server.n_batch)}
            ),
            asks=serial_asks(resolved, resolved.spec.asks),
        )
        for width in resolved.spec.widths
    )


def analyse(boots: Sequence[BootRecord]) -> Result:
    """Compare every ask with the cold baseline, and like with like across widths."""
    widths = {boot.name: int(boot.settings["n_ubatch"]) for boot in boots}
    planned: dict[tuple[str, str], Cache] = {
        (boot.name, ask.name): ask.cache for boot in boots for ask in boot.asks
    }
    answers, failed = read_answers(boots), failures(boots)
    valid = [a for a in answers if a.valid]
    cold = [a for a in valid if planned[a.boot, a.ask] == "cold"]
    warm = [a for a in valid if planned[a.boot, a.ask] == "warm"]
    first = {a.boot: a for a in reversed(cold)}  # without a prompt cache, a boot has several
    baseline = first.get(boots[0].name) if boots else None
    rows = [_row(a, baseline, widths[a.boot], planned[a.boot, a.ask]) for a in answers]
    flipped = [row.divergence for row in rows if row.same_tokens is False and row.divergence]
    pairs = _pairs_across_widths(cold, warm)
    complete = baseline is not None and len(first) == len(boots)
    controlled = complete and len({a.boot for a in warm}) == len(boots)
    return Result(
        asked=len(answers) + failed,
        answered=len(answers),
        failed=failed,
        invalid=len(answers) - len(valid),
        prompt_tokens=baseline.prompt_n if baseline else None,
        flips=len(flipped) if complete else None,
        cache_flips=len({a.boot for a in warm if not analysis.same_tokens(first[a.boot], a)})
        if controlled
        else None,
        width_flips=_count(pairs, bitwise=False) if controlled else None,
        width_drifts=_count(pairs, bitwise=True) if controlled else None,
        warm_unanimous=all(analysis.same_tokens(warm[0], a) for a in warm) if warm else None,
        first_flip=min(flipped, key=lambda flip: flip.token, default=None),
        rows=rows,
    )


def _row(answer: Answer, baseline: Answer | None, width: int, planned: Cache) -> Row:
    comparison = analysis.compare(baseline, answer) if baseline and answer.valid else None
    return Row(
        n_ubatch=width,
        ask=answer.ask,
        planned=planned,
        cache_n=answer.cache_n,
        prompt_n=answer.prompt_n,
        valid=answer.valid,
        text=answer.text,
        same_tokens=comparison.same_tokens if comparison else None,
        bitwise=comparison.bitwise if comparison else None,
        divergence=comparison.divergence if comparison else None,
    )


def _pairs_across_widths(
    cold: Sequence[Answer], warm: Sequence[Answer]
) -> list[tuple[Answer, Answer]]:
    """Pair each ask with the first width's ask of the same cache."""
    return [
        (asks[0], other)
        for asks in (cold, warm)
        if asks
        for other in asks[1:]
        if other.boot != asks[0].boot
    ]


def _count(pairs: Sequence[tuple[Answer, Answer]], *, bitwise: bool) -> int:
    comparisons = [analysis.compare(left, right) for left, right in pairs]
    return sum(not (c.bitwise if bitwise else c.same_tokens) for c in comparisons)


KIND = Kind("ubatch", Ubatch, Result, expand, analyse)
