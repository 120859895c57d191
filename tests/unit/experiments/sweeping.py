"""Made-up servers for sweeps: what each would answer, and the receipts' boots that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from generator.declaration import Resolved
from generator.experiments.sweep import expand
from generator.plan import Ask, Boot
from generator.receipt import BootRecord
from generator.settings import ServerSettings
from generator.sweeps.declared import Sweep
from tests.factory import make_ask, make_boot, token_id
from tests.unit.experiments.resolving import resolved

PROMPT_TOKENS = 412
PREFIX_TOKENS = PROMPT_TOKENS // 10
Candidates = Mapping[str, float]
"""What is weighed at a position, with log probabilities; the best is chosen."""
Server = Callable[[Boot, Ask], "Sequence[Candidates] | Mapping[str, Any] | None"]
"""Gives the positions of an answer, a whole response, or None for a failure."""

NEAR: Candidates = {"b": -0.69, "x": -0.7}
A: Sequence[Candidates] = ({"a": -0.1, "y": -2.5}, NEAR, {"c": -0.2, "z": -1.9})
DRIFTED: Sequence[Candidates] = ({"a": -0.1001, "y": -2.4}, {"b": -0.692, "x": -0.698}, A[2])
B: Sequence[Candidates] = ({"a": -0.1, "y": -2.5}, {"x": -0.68, "b": -0.71}, {"q": -0.3, "r": -1.4})
C: Sequence[Candidates] = ({"y": -0.6, "a": -0.8}, {"p": -0.3, "s": -1.4}, {"t": -0.3, "u": -1.4})
CONTROL: Sequence[Candidates] = ({"w": -0.6, "a": -0.8}, {"v": -0.3, "s": -1.4})
FACTORS = {"cache": ["cold", "warm"], "n_ubatch": [512, 256], "flash_attn": ["auto", "off"]}


def response(
    positions: Sequence[Candidates], *, cache_n: int, prompt_n: int, speed: float = 50.0
) -> dict[str, Any]:
    """Return a response of `/completion` with these candidates at its positions."""
    chosen = [max(candidates, key=lambda text: candidates[text]) for candidates in positions]
    return {
        "content": "".join(chosen),
        "stop_type": "limit",
        "tokens": [token_id(text) for text in chosen],
        "completion_probabilities": [
            {
                **_candidate(text, candidates[text]),
                "top_logprobs": [_candidate(t, p) for t, p in candidates.items()],
            }
            for text, candidates in zip(chosen, positions, strict=True)
        ],
        "timings": {
            "cache_n": cache_n,
            "prompt_n": prompt_n,
            "predicted_n": len(chosen),
            "predicted_per_second": speed,
            "prompt_ms": 2.0 * prompt_n,
            "predicted_ms": 1000 * len(chosen) / speed,
        },
    }


def _candidate(text: str, logprob: float) -> dict[str, Any]:
    return {"id": token_id(text), "token": text, "bytes": list(text.encode()), "logprob": logprob}


def sweep(**fields: Any) -> Resolved[Sweep]:
    """Return a sweep, by default of the cache, the micro-batch and flash attention."""
    return resolved(
        Sweep, sampling={"seed": 42, "temperature": 0.0}, **{"factors": FACTORS, **fields}
    )


def boots_of(
    experiment: Resolved[Sweep], server: Server, effective: Mapping[str, Mapping[str, Any]] = {}
) -> list[BootRecord]:
    """Return the boots of *experiment* as *server* answers them.

    The cache is used as it is planned; a prefix is a tenth of the prompt.

    Args:
        experiment: The sweep.
        server: The made-up server.
        effective: What it reports of itself, by the settings of an arrangement.
    """
    return [
        make_boot(
            [
                make_ask(_answer(server(boot, ask), ask), name=ask.name, cache=ask.cache)
                for ask in boot.asks
            ],
            name=boot.name,
            settings=_settings(boot),
            effective=effective.get(boot.name.rpartition(" ")[0]),
        )
        for boot in expand(experiment)
    ]


def _settings(boot: Boot) -> ServerSettings:
    derived = {one.setting: PROMPT_TOKENS + one.offset for one in boot.derived}
    return boot.server.model_copy(update=derived)


def _answer(
    given: Sequence[Candidates] | Mapping[str, Any] | None, ask: Ask
) -> Mapping[str, Any] | None:
    if given is None or isinstance(given, Mapping):
        return given
    if ask.name == "prefix":
        return response(given, cache_n=0, prompt_n=PREFIX_TOKENS)
    cached = {"cold": 0, "warm": PROMPT_TOKENS - 1, "any": PREFIX_TOKENS}[ask.cache]
    return response(given, cache_n=cached, prompt_n=PROMPT_TOKENS - cached)


def calm(_boot: Boot, ask: Ask) -> Sequence[Candidates]:
    """Answer the same to everything but the control."""
    return CONTROL if ask.name == "control" else A


def warm_flips(boot: Boot, ask: Ask) -> Sequence[Candidates]:
    """Answer as the published anomaly has it: what counts is whether the last token is alone."""
    if ask.name == "control":
        return CONTROL
    alone = ask.cache == "warm" or any(one.offset == -1 for one in boot.derived)
    return B if alone else A
