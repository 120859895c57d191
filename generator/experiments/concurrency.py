"""The kind `concurrency`: asks sent at once, at several numbers of slots, and each one alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generator.company.declared import Concurrency
from generator.company.flocks import Sent, identical, mixed, openings
from generator.company.heard import AGAIN, ALONE, CONTROL
from generator.company.judge import judge
from generator.company.result import Result
from generator.declaration import Resolved
from generator.experiments.kind import Kind, ask_of
from generator.plan import Ask, Boot, Cache
from generator.settings import ServerSettings

HTTP_THREADS = 4
"""What llama-server adds to its slots by itself; with fewer, asks wait before they are queued."""


def expand(resolved: Resolved[Concurrency]) -> tuple[Boot, ...]:
    """Plan a server for each number of slots, and then the twins, which are asked alone only."""
    spec, extent = resolved.spec, resolved.spec.extent
    flocks = [_flock(resolved, extent.asks, number) for number in range(1, extent.rounds + 1)]
    once = list({sent.name: sent for sent in _looked_at(resolved, flocks)}.values())
    boots: list[Boot] = []
    twins: list[Boot] = []
    for slots in extent.slots:
        variant = replace(resolved, server=_server(resolved.server, slots))
        asks = [_ask(variant, f"{ALONE} {sent.name}", sent) for sent in once]
        name = "serial" if spec.mode == "serial" else f"slots-{slots}"
        company = [*_company(variant, flocks), *_control(variant, once, boots)]
        boots.append(_boot(variant, name, [*asks, *company]))
        twins.append(_boot(variant, name + AGAIN, asks))
    return (*boots, *twins)


def _server(declared: ServerSettings, slots: int) -> ServerSettings:
    """Return a server of *slots*, each of which gets the declared context."""
    contexts = 1 if declared.kv_unified else slots
    return declared.model_copy(
        update={
            "n_parallel": slots,
            "n_ctx": declared.n_ctx * contexts,
            "threads_http": max(declared.threads_http, slots + HTTP_THREADS),
        }
    )


def _flock(resolved: Resolved[Concurrency], asks: int, number: int) -> list[Sent]:
    """Return what is sent in one round."""
    spec, (name, text) = resolved.spec, next(iter(resolved.prompts.items()))
    match spec.mode:
        case "serial" | "identical":
            return identical(name, text, asks)
        case "prefix":
            return openings(text, spec.lengths, asks)
        case "mixed":
            others = list(resolved.prompts.values())[1:] or [text]
            return mixed(name, text, others, asks, str(number if spec.fresh else 1))


def _looked_at(resolved: Resolved[Concurrency], flocks: Sequence[Sequence[Sent]]) -> list[Sent]:
    """Return the texts that are asked alone too: a neighbour that comes once is not."""
    needle = next(iter(resolved.prompts))
    passing = resolved.spec.mode == "mixed" and resolved.spec.fresh
    found = [sent for sent in flocks[0] if not passing or sent.name == needle]
    return sorted(found, key=lambda sent: sent.name != needle)


def _company(variant: Resolved[Concurrency], flocks: Sequence[Sequence[Sent]]) -> list[Ask]:
    """Plan all rounds, each sent at once, or one after the other if asks are serial."""
    serial = variant.spec.mode == "serial"
    return [
        _ask(
            variant,
            f"{number}/{index} {sent.name}",
            sent,
            together=None if serial else f"round-{number}",
        )
        for number, flock in enumerate(flocks, start=1)
        for index, sent in enumerate(flock, start=1)
    ]


def _control(
    variant: Resolved[Concurrency], once: Sequence[Sent], before: Sequence[Boot]
) -> list[Ask]:
    """Plan the negative control, on the first server: of a text that is asked alone, the longest.

    Only the seed and the temperature may tell it apart. Of neighbours that are looked at too, none
    is meant: the prompt itself comes first.
    """
    if before:
        return []
    control = variant.spec.control.model_dump()
    hot = replace(variant, sampling=variant.sampling.model_copy(update=control))
    openings_only = variant.spec.mode == "prefix"
    sent = max(once, key=lambda one: len(one.text)) if openings_only else once[0]
    return [ask_of(hot, CONTROL, _cache(variant), prompt=sent.text)]


def _ask(
    variant: Resolved[Concurrency], name: str, sent: Sent, *, together: str | None = None
) -> Ask:
    return ask_of(variant, name, _cache(variant), prompt=sent.text, together=together)


def _cache(variant: Resolved[Concurrency]) -> Cache:
    return "any" if variant.server.cache_prompt else "cold"


def _boot(variant: Resolved[Concurrency], name: str, asks: Sequence[Ask]) -> Boot:
    return Boot(name, variant.engine, variant.model, variant.server, tuple(asks))


KIND = Kind("concurrency", Concurrency, Result, expand, judge)
