"""The kind `sweep`: settings changed by design, to find which of them moves a token, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from generator.declaration import Resolved
from generator.experiments.kind import Kind, ask_of
from generator.figures import Data, Grid, Place, Places
from generator.plan import Ask, Boot, Cache, Derived
from generator.settings import ServerSettings
from generator.sweeps.cells import CONTROL
from generator.sweeps.declared import FromPrompt, Intervention, Sweep, changes
from generator.sweeps.designs import (
    BASELINE,
    CACHE,
    PREFIX,
    RUNS,
    Change,
    Level,
    arrangements,
    label,
)
from generator.sweeps.judge import judge
from generator.sweeps.result import Result


def expand(resolved: Resolved[Sweep]) -> tuple[Boot, ...]:
    """Plan every arrangement on a fresh boot, then all of them once more.

    The second round is the A/A control. It comes after the whole first one, so that a machine which
    changes slowly is not mistaken for one that repeats itself.
    """
    spec = resolved.spec
    arranged = arrangements(spec.factors, spec.design)
    boots: list[Boot] = []
    for run in RUNS:
        boots += [_arranged(resolved, changed, run) for changed in arranged]
        boots += [_intervened(resolved, name, run) for name in spec.interventions]
    return tuple(boots)


def _arranged(resolved: Resolved[Sweep], changed: Sequence[Change], run: str) -> Boot:
    """Plan a boot of the design: asked cold, then warm, and the baseline's for the control too."""
    variant, prefix = _variant(resolved, {change.factor: change.level for change in changed})
    asks = _opening(variant, prefix, "cold")
    if CACHE in variant.spec.factors:
        repeats = (f"warm-{number}" for number in range(2, variant.spec.warm_asks + 1))
        asks += [ask_of(variant, name, _later(variant)) for name in ("warm", *repeats)]
    if not changed:
        control = variant.spec.control.model_dump()
        sampling = variant.sampling.model_copy(update=control)
        asks.append(ask_of(replace(variant, sampling=sampling), CONTROL, "any"))
    name = f"{label(str(change) for change in changed)} {run}"
    return Boot(name, variant.engine, variant.model, variant.server, tuple(asks))


def _intervened(resolved: Resolved[Sweep], name: str, run: str) -> Boot:
    """Plan a boot of an intervention; its last ask is the one of which something is foretold."""
    one = resolved.spec.interventions[name]
    levels = {key: level for key, level in one.set.items() if not isinstance(level, FromPrompt)}
    variant, prefix = _variant(resolved, levels)
    foretold = f"{one.cache} {_prediction(resolved.spec, one)}"
    if one.cache == "cold":
        asks = _opening(variant, prefix, foretold)
    else:
        last = ask_of(variant, foretold, _later(variant) if one.reuse else "cold")
        if not one.reuse:
            last = replace(last, body={**last.body, "cache_prompt": False})
        asks = [*_opening(variant, prefix, "cold"), last]
    derived = tuple(
        Derived(key, f"{BASELINE} {RUNS[0]}", "cold", level.prompt_tokens)
        for key, level in one.set.items()
        if isinstance(level, FromPrompt)
    )
    boot = f"{name} {run}"
    return Boot(boot, variant.engine, variant.model, variant.server, tuple(asks), derived)


def _prediction(spec: Sweep, one: Intervention) -> str:
    word = "unlike" if one.predict.same_as is None else "as"
    return f"{word} {label(str(change) for change in changes(spec, one.predict.cell))}"


def _variant(resolved: Resolved[Sweep], levels: Mapping[str, Level]) -> tuple[Resolved[Sweep], int]:
    """Return the experiment with *levels*, else the baseline's, and the length of its prefix."""
    baseline = {factor: known[0] for factor, known in resolved.spec.factors.items()}
    chosen: dict[str, Level] = {**baseline, **levels}
    settings = {key: level for key, level in chosen.items() if key in ServerSettings.model_fields}
    variant = replace(
        resolved,
        engine=str(chosen.get("engine", resolved.engine)),
        model=str(chosen.get("model", resolved.model)),
        server=ServerSettings.model_validate({**resolved.server.model_dump(), **settings}),
    )
    return variant, int(chosen.get(PREFIX, 0))


def _opening(variant: Resolved[Sweep], prefix: int, name: str) -> list[Ask]:
    """Plan the first ask of a boot, after one for a prefix of its prompt if there is one."""
    if not prefix:
        return [ask_of(variant, name, "cold")]
    # sent for what it evaluates, not for what it answers
    short = replace(variant, sampling=variant.sampling.model_copy(update={"max_tokens": 1}))
    shared = ask_of(short, PREFIX, "cold", prompt=variant.prompt[:prefix])
    return [shared, ask_of(variant, name, "any" if variant.server.cache_prompt else "cold")]


def _later(variant: Resolved[Sweep]) -> Cache:
    """Return what the cache must hold for a repeated ask."""
    return "warm" if variant.server.cache_prompt else "cold"


def figures(result: Result) -> Mapping[str, Data]:
    """Draw gap and drift by position, where a cell was traced, and give the matrix as data."""
    rows = tuple(
        (line.settings, ask, str(boot), group or "")
        for line in result.lines
        for ask, groups in line.groups.items()
        for boot, group in enumerate(groups, start=1)
    )
    drawn: dict[str, Data] = {"matrix": Grid(("settings", "ask", "boot", "group"), rows)}
    if places := tuple(
        Place(step.token, step.gap, step.drift, marked=step.flip) for step in result.trace
    ):
        drawn["drift-and-gap"] = Places(places)
    return drawn


KIND = Kind("sweep", Sweep, Result, expand, judge, figures)
