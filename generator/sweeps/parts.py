"""The pieces of a sweep's result: lines, groups, rows, settings, remedies and interventions."""

from __future__ import annotations

from typing import Any, Literal

from generator.analysis import Divergence
from generator.schema import Count, Model
from generator.sweeps.attribution import Role
from generator.sweeps.cells import Expectation
from generator.sweeps.drift import Drift

State = Literal["stable", "unstable", "unmeasured"]


class Line(Model):
    """What the boots of one arrangement, or of one intervention, put out, ask by ask.

    Attributes:
        groups: For each ask, its output's group on each boot: equal letters are equal tokens, and
            equal numbers behind them equal probabilities. Null is a failure, or not counted.
    """

    settings: str
    intervention: bool
    groups: dict[str, list[str | None]]


class Group(Model):
    """One output, as tokens, and how it differs from the baseline's.

    Attributes:
        variants: How many different sets of probabilities came with these tokens.
        divergence: Where it leaves the baseline; null for the baseline's own.
        gap: By how much the baseline's token led this one's there; `moved` is by how much that lead
            had shrunk.
    """

    group: str
    text: str
    answers: Count
    variants: Count
    divergence: Divergence | None
    gap: float | None
    moved: float | None


class Row(Model):
    """One cell, compared with the baseline; null where there is nothing to compare.

    Attributes:
        state: *Stable* if fresh boots gave the same bit for bit, *unstable* if they did not,
            *unmeasured* if fewer than two answered.
        movers: The smallest sets of settings in it that move a token.
        seconds: A whole answer's median time by the server's clock.
    """

    settings: str
    state: State
    group: str | None
    same_tokens: bool | None
    bitwise: bool | None
    divergence: Divergence | None
    drift: Drift | None
    movers: list[str]
    cache_n: Count | None
    prompt_n: Count | None
    tokens_per_second: float | None
    seconds: float | None


class Setting(Model):
    """What one setting did, wherever it was set and nothing else was changed."""

    setting: str
    role: Role
    compared: Count
    flips: Count
    largest_drift: float | None


class Factor(Model):
    """What a factor did: the gravest of what its levels did."""

    factor: str
    role: Role
    settings: list[Setting]


class AlsoChanged(Model):
    """What a boot's server used otherwise than the baseline's, though nothing declared it."""

    boot: str
    setting: str
    baseline: Any
    used: Any


class Removal(Model):
    """A setting beside which movers were tried again, and what that costs.

    Attributes:
        removes: Movers that move nothing beside it; `leaves` those that do, `untried` the rest.
        bitwise: Whether what it removes leaves no trace in any probability either.
        keeps_baseline: Whether, alone, it gives the baseline's tokens.
        tokens_per_second: Speed of generation with the setting and the first mover that was tried;
            `tokens_per_second_without` with that mover alone.
        seconds: A whole answer's time with both; `seconds_without` with that mover alone.
    """

    setting: str
    removes: list[str]
    leaves: list[str]
    untried: list[str]
    bitwise: bool
    keeps_baseline: bool
    tokens_per_second: float | None
    tokens_per_second_without: float | None
    seconds: float | None
    seconds_without: float | None


class Intervention(Model):
    """A cell made to test a cause, and whether it came out as predicted.

    Attributes:
        settings: What its server was started with and the baseline's was not.
        plain_group: What the same ask puts out without the intervention.
        as_predicted: Null if a cell is missing or unstable, or if the answer is to be unlike
            another one that is the plain one anyway.
        telling: Whether there is a difference to test the prediction on: whether the predicted
            cell is the plain one itself, or differs from it in any bit.
    """

    name: str
    settings: list[str]
    state: str
    expects: Expectation
    predicted: str
    group: str | None
    plain_group: str | None
    predicted_group: str | None
    as_predicted: bool | None
    telling: bool | None
    cache_n: Count | None
    prompt_n: Count | None
