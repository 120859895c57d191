"""What is hunted for, as the rest of the program knows it: an experiment, a plan, a key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from generator import __version__
from generator.bench import Bench
from generator.canonical import canonical, digest
from generator.declaration import Experiment, Prompt, Resolved
from generator.hunt.sides import Side
from generator.plan import Boot, Plan
from generator.schema import Bilingual
from generator.settings import Sampling

SEED, CANDIDATES = 42, 4


def resolve(article: str, sides: tuple[Side, Side], model: str, max_tokens: int) -> Resolved[Any]:
    """Return the experiment that asks what a hunt asks, without its prompt.

    Args:
        article: What the declaration of a find is called.
        sides: The two sides.
        model: The pinned model.
        max_tokens: How many tokens of each answer are compared.
    """
    spec = Experiment(
        kind="sweep",
        title=Bilingual(zh="?", en="?"),
        prompt=Prompt(text="?"),
        endpoint="completion",
    )
    return Resolved(
        article=article,
        name="found",
        experiment="found",
        spec=spec,
        prompts={"prompt": "?"},
        model=model,
        engine=sides[0].engine,
        server=sides[0].server,
        sampling=Sampling(temperature=0.0, seed=SEED, max_tokens=max_tokens, n_probs=CANDIDATES),
    )


def plan_of(resolved: Resolved[Any], sides: tuple[Side, Side]) -> Plan:
    """Return a plan that needs what a hunt needs: both sides' engines, and the model."""
    boots = [
        Boot(f"side {number}", side.engine, resolved.model, side.server, ())
        for number, side in enumerate(sides, start=1)
    ]
    return Plan(resolved.article, resolved.name, "sweep", tuple(boots))


def key_of(
    bench: Bench, resolved: Resolved[Any], sides: tuple[Side, Side], pool: int | Sequence[str]
) -> Mapping[str, Any]:
    """Return what makes two hunts the same, as plain data.

    Args:
        bench: With both engines and the model on it.
        resolved: What is asked.
        sides: The two sides.
        pool: The seed that prompts are made up by, or the prompts.
    """
    key = {
        "generator": __version__,
        "host": bench.host.model_dump(mode="json"),
        "model": bench.models[resolved.model][1].sha256,
        "engines": {
            side.engine: [file.sha256 for file in bench.engines[side.engine][1].files]
            for side in sides
        },
        "sides": [[s.engine, s.cache, s.server.model_dump(mode="json")] for s in sides],
        "sampling": resolved.sampling.model_dump(mode="json"),
        "pool": {"seed": pool} if isinstance(pool, int) else {"prompts": digest(list(pool))},
    }
    value: Mapping[str, Any] = json.loads(canonical(key))
    return value
