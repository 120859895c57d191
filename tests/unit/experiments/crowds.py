"""Made-up servers for company: what each would answer, and the receipts' boots that come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from generator.company.declared import Concurrency
from generator.declaration import Resolved
from generator.experiments.concurrency import expand
from generator.plan import Ask, Boot
from generator.receipt import BootRecord
from tests.factory import make_ask, make_boot
from tests.unit.experiments.resolving import resolved
from tests.unit.experiments.sweeping import Candidates, calm, response

PROMPT_TOKENS = 152
Server = Callable[[Boot, Ask], "Sequence[Candidates] | None"]
"""Gives the positions of an answer, or None for a failure."""


def crowd(**fields: Any) -> Resolved[Concurrency]:
    """Return an experiment on company, by default of four copies at one and two slots."""
    given = {"mode": "identical", "slots": [1, 2], "asks": 4, **fields}
    server = {"n_ctx": 1024, "cache_prompt": False, **given.pop("server", {})}
    sampling = {"seed": 42, "temperature": 0.0}
    return resolved(Concurrency, server=server, sampling=sampling, **given)


def boots_of(experiment: Resolved[Concurrency], server: Server) -> list[BootRecord]:
    """Return the boots of *experiment* as *server* answers them, every prompt evaluated whole."""
    return [
        make_boot(
            [
                make_ask(
                    _response(server(boot, ask), index % boot.server.n_parallel),
                    name=ask.name,
                    cache=ask.cache,
                    together=ask.together,
                )
                for index, ask in enumerate(boot.asks)
            ],
            name=boot.name,
            settings=boot.server,
        )
        for boot in expand(experiment)
    ]


def _response(given: Sequence[Candidates] | None, slot: int) -> dict[str, Any] | None:
    if given is None:
        return None
    return {**response(given, cache_n=0, prompt_n=PROMPT_TOKENS), "id_slot": slot}


def crowded(*answers: Sequence[Candidates]) -> Server:
    """Return a server on which, with several slots, asks in company get these answers in turn."""

    def server(boot: Boot, ask: Ask) -> Sequence[Candidates]:
        if ask.together is None or boot.server.n_parallel == 1:
            return calm(boot, ask)
        number = int(ask.name.partition("/")[2].partition(" ")[0])
        return answers[(number - 1) % len(answers)]

    return server
