"""What a sweep declares, and what is refused of it before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from generator.declaration import UNFIXED_SEED, Experiment, Objection
from generator.errors import near_miss
from generator.schema import Model, Name, NonEmpty, Wording
from generator.settings import SEED_MAX, Sampling
from generator.sweeps.designs import (
    BASELINE,
    CACHE,
    MAX_CELLS,
    PREFIX,
    Change,
    Design,
    Level,
    changed_at_once,
    count_arrangements,
    known_factors,
    level_fault,
    level_faults,
    written,
)

Where = tuple[str, ...]
# with another one of these, a prompt is read as another number of tokens
REREADS = frozenset({"model", "chat_template", "jinja"})


class FromPrompt(Model):
    """A setting that is the prompt's length in tokens, by the server's own count, plus this."""

    prompt_tokens: int


class Prediction(Model):
    """Which cell's answer must come out, bit for bit, or must not."""

    same_as: dict[NonEmpty, Level] | None = None
    unlike: dict[NonEmpty, Level] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Prediction:
        if (self.same_as is None) == (self.unlike is None):
            raise ValueError("a prediction is one cell → give either `same_as` or `unlike`")
        return self

    @property
    def cell(self) -> Mapping[str, Level]:
        """The levels of the cell that are named; all others are the baseline's."""
        return (self.same_as if self.same_as is not None else self.unlike) or {}


class Intervention(Model):
    """A cell that makes the suspected mechanism without the suspected state.

    Attributes:
        set: Settings of its own; all others are the baseline's.
        cache: Whether the first ask after a boot is looked at, or the second.
        reuse: Whether that ask may use the cache.
        predict: What must come out if the suspicion is right.
        because: The reasoning.
    """

    set: dict[NonEmpty, Level | FromPrompt] = Field(default_factory=dict)
    cache: Literal["cold", "warm"] = "cold"
    reuse: bool = True
    predict: Prediction
    because: Wording


class Control(Model):
    """The negative control: an ask that must not give the baseline's answer."""

    seed: Annotated[int, Field(ge=0, le=SEED_MAX)] = 43
    temperature: Annotated[float, Field(gt=0)] = 0.8


class Sweep(Experiment):
    """Change settings one at a time, in pairs or all together, and see which moves a token.

    Attributes:
        design: How many factors are changed at once.
        factors: Each factor's levels, the baseline's first.
        warm_asks: How often a warm server is asked, if the cache is a factor.
    """

    kind: Literal["sweep"]
    design: Design = "one-at-a-time"
    factors: Annotated[dict[NonEmpty, list[Level]], Field(min_length=1)]
    warm_asks: Annotated[int, Field(ge=1, le=20)] = 1
    interventions: dict[Name, Intervention] = Field(default_factory=dict)
    control: Control = Control()

    def objections(self, sampling: Sampling) -> list[Objection]:
        """Refuse what would move tokens by itself, and cells that make no sense."""
        return [
            *_sampling_objections(sampling, self.control),
            *_factor_objections(self),
            *_intervention_objections(self),
        ]


def _sampling_objections(sampling: Sampling, control: Control) -> Iterator[Objection]:
    if not isinstance(sampling.seed, int):
        yield UNFIXED_SEED
    elif sampling.seed == control.seed:
        problem = "the negative control has the seed of the others"
        yield ("control", "seed"), problem, "give it another one"
    if sampling.temperature != 0:
        problem = "above temperature 0 the dice move tokens, not the settings"
        yield ("sampling", "temperature"), problem, "set it to 0"


def _factor_objections(sweep: Sweep) -> Iterator[Objection]:
    for factor, levels in sweep.factors.items():
        for problem, remedy in level_faults(factor, levels):
            yield ("factors", factor), problem, remedy
    count = count_arrangements(sweep.factors, sweep.design)
    if count > MAX_CELLS:
        problem = f"{count:,} arrangements of the settings, each booted twice; at most {MAX_CELLS}"
        yield ("design",), problem, "name fewer levels, or change fewer factors at once"


def _intervention_objections(sweep: Sweep) -> Iterator[Objection]:
    for name, intervention in sweep.interventions.items():
        where = ("interventions", name)
        if name == BASELINE:
            yield where, "the baseline is no intervention", "give it another name"
        yield from _set_objections(intervention, (*where, "set"))
        if not intervention.set and intervention.reuse:
            yield where, "nothing is done", "set something, or `reuse: false`"
        if not intervention.reuse and intervention.cache == "cold":
            problem = "the first ask after a boot finds no cache to reuse"
            yield (*where, "reuse"), problem, "add `cache: warm`"
        yield from _prediction_objections(sweep, intervention.predict, (*where, "predict"))


def _set_objections(intervention: Intervention, where: Where) -> Iterator[Objection]:
    allowed = [factor for factor in known_factors() if factor != CACHE]
    for factor, level in intervention.set.items():
        if factor not in allowed:
            yield (*where, factor), f"unknown factor {factor!r}", near_miss(factor, allowed)
            continue
        if isinstance(level, FromPrompt):
            yield from _from_prompt_objections(intervention, factor, (*where, factor))
        number = 1 if isinstance(level, FromPrompt) else level
        for problem, remedy in level_fault(factor, number):
            yield (*where, factor), problem, remedy


def _from_prompt_objections(
    intervention: Intervention, factor: str, where: Where
) -> Iterator[Objection]:
    if factor == PREFIX:
        yield where, "a prefix is no number of tokens", "write a number of characters"
    for other in REREADS & intervention.set.keys():
        problem = f"the prompt's length is the baseline's, and another one with this {other}"
        yield where, problem, f"write a number, or leave out {other}"


def _prediction_objections(sweep: Sweep, predict: Prediction, where: Where) -> Iterator[Objection]:
    key = "same_as" if predict.same_as is not None else "unlike"
    for factor, level in predict.cell.items():
        levels = sweep.factors.get(factor)
        if levels is None:
            problem = f"{factor!r} is no factor of this sweep"
            yield (*where, key, factor), problem, near_miss(factor, sweep.factors)
        elif written(level) not in map(written, levels):
            problem = f"{level!r} is no level of {factor}"
            remedy = f"write one of: {', '.join(map(written, levels))}"
            yield (*where, key, factor), problem, remedy
    changed = [change for change in changes(sweep, predict.cell) if change.factor != CACHE]
    if len(changed) > changed_at_once(sweep.factors, sweep.design):
        problem = "this cell is not in the design, which does not change that much at once"
        yield (*where, key), problem, "predict another cell, or use `design: full`"


def changes(sweep: Sweep, levels: Mapping[str, Level]) -> list[Change]:
    """Return what *levels* change of the baseline, in the order of the sweep's factors."""
    return [
        Change(factor, levels[factor])
        for factor, known in sweep.factors.items()
        if factor in levels and written(levels[factor]) != written(known[0])
    ]
