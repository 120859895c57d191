"""Made-up servers for cached openings: a token a word, and what comes of each shape of batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from generator.declaration import Resolved
from generator.experiments.prefix import expand
from generator.plan import Ask, Boot
from generator.prefixes.declared import Prefix
from generator.receipt import BootRecord
from tests.factory import make_ask, make_boot
from tests.unit.experiments.resolving import resolved
from tests.unit.experiments.sweeping import B, Candidates, calm, response

PROMPT = "one two three four five six seven eight nine ten"
LENGTHS = [8, 30, 99]  # two words, six, and all ten
Answer = Sequence[Candidates] | None
Server = Callable[[Boot, Ask], Answer]
Count = Callable[[Boot, Ask], int]


def prefix(**fields: Any) -> Resolved[Prefix]:
    """Return an experiment on openings of two, six and all ten words."""
    given = {"lengths": LENGTHS, **fields}
    made = resolved(Prefix, sampling={"seed": 42, "temperature": 0.0}, **given)
    return replace(made, prompts={"prompt": PROMPT})


def words(ask: Ask) -> int:
    """Return how long an ask's prompt is, which is as many tokens."""
    return len(str(ask.body["prompt"]).split())


def cached(boot: Boot, ask: Ask) -> int:
    """Count as a server does: a word is a token, and the prompt's last is always evaluated."""
    if ask.name != "whole" or not ask.body["cache_prompt"]:
        return 0
    return min(words(boot.asks[0]), words(ask) - 1)


def boots_of(server: Server, count: Count = cached, **fields: Any) -> list[BootRecord]:
    """Return the boots of an experiment as *server* answers them, using the cache by *count*."""
    return boots_for(prefix(**fields), server, count)


def boots_for(
    experiment: Resolved[Prefix], server: Server, count: Count = cached
) -> list[BootRecord]:
    """Return the boots of *experiment*, likewise."""
    evaluated: dict[tuple[str, str], int] = {}
    boots = []
    for boot in expand(experiment):
        asks = []
        for ask in boot.asks:
            tokens, from_cache = words(ask), count(boot, ask)
            evaluated[boot.name, ask.name] = tokens - from_cache
            given = server(boot, ask)
            answer = response(given or (), cache_n=from_cache, prompt_n=tokens - from_cache)
            asks.append(make_ask(answer if given else None, name=ask.name, cache=ask.cache))
        widths = {d.setting: evaluated[d.boot, d.ask] + d.offset for d in boot.derived}
        settings = boot.server.model_copy(update=widths)
        boots.append(make_boot(asks, name=boot.name, settings=settings))
    return boots


def shape(boot: Boot, ask: Ask) -> Sequence[Candidates]:
    """Answer as the published anomaly has it: what counts is whether the last token is alone."""
    used = ask.name == "whole" and ask.body["cache_prompt"]
    alone = used and words(boot.asks[0]) == words(ask)
    one_short = any(one.offset == -1 for one in boot.derived)
    return B if alone or one_short else calm(boot, ask)


def state(boot: Boot, ask: Ask) -> Sequence[Candidates]:
    """Answer as if what lies in the cache were wrong, whatever the shape of the batch."""
    return B if ask.name == "whole" and ask.body["cache_prompt"] else calm(boot, ask)
