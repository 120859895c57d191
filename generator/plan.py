"""What will be asked: boots and their asks, in order, with a digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from generator.canonical import digest
from generator.settings import Endpoint, ServerSettings

Cache = Literal["cold", "warm", "any"]


@dataclass(frozen=True)
class FixedSeed:
    """The seed is declared and the same in every run."""

    value: int


@dataclass(frozen=True)
class DrawnSeed:
    """A fresh seed is drawn, sent and recorded for each ask, so that it can be replayed."""


@dataclass(frozen=True)
class EngineSeed:
    """No seed is sent: the engine rolls its own and does not tell, so nothing can be replayed."""


Seed = FixedSeed | DrawnSeed | EngineSeed


@dataclass(frozen=True)
class Ask:
    """One request.

    Attributes:
        name: Unique within its boot.
        endpoint: Which of the server's two endpoints is asked.
        body: The request without its seed.
        seed: Where the seed comes from.
        cache: What the prompt cache must hold for the ask to count: nothing (*cold*), all of the
            prompt but its last token (*warm*), or *any* part of it.
        together: Asks of a boot that share this word are sent at once; None is sent alone.
    """

    name: str
    endpoint: Endpoint
    body: Mapping[str, Any]
    seed: Seed
    cache: Cache
    together: str | None = None


@dataclass(frozen=True)
class Derived:
    """A setting whose value only another boot can tell.

    It is the number of prompt tokens that an ask of an earlier boot had evaluated, plus an offset,
    and at least 1: so a micro-batch can be made one token narrower than a prompt is long, by the
    server's own count.
    """

    setting: str
    boot: str
    ask: str
    offset: int


@dataclass(frozen=True)
class Boot:
    """One life of a server with fixed settings, and what it is asked, in order.

    Attributes:
        derived: Settings that are set by what an earlier boot told, before this one is launched.
    """

    name: str
    engine: str
    model: str
    server: ServerSettings
    asks: tuple[Ask, ...]
    derived: tuple[Derived, ...] = ()

    @property
    def divisible(self) -> bool:
        """Whether a second life of the server may go on where the first was cut off.

        True only if no ask depends on what an earlier one left in the cache, or on its company.
        """
        return all(ask.cache == "cold" and ask.together is None for ask in self.asks)

    @property
    def groups(self) -> tuple[tuple[Ask, ...], ...]:
        """The asks in the groups in which they are sent, most of them alone."""
        groups: list[tuple[Ask, ...]] = []
        for ask in self.asks:
            if ask.together is not None and groups and groups[-1][0].together == ask.together:
                groups[-1] += (ask,)
            else:
                groups.append((ask,))
        return tuple(groups)


@dataclass(frozen=True)
class Plan:
    """All boots of one experiment, in the order in which they are run."""

    article: str
    experiment: str
    kind: str
    boots: tuple[Boot, ...]

    @property
    def asks(self) -> int:
        """How many asks there are in all."""
        return sum(len(boot.asks) for boot in self.boots)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain data, as it is printed and digested."""
        return {
            "article": self.article,
            "experiment": self.experiment,
            "kind": self.kind,
            "boots": [
                {
                    "name": boot.name,
                    "engine": boot.engine,
                    "model": boot.model,
                    "server": boot.server.model_dump(mode="json"),
                    "derived": [asdict(derived) for derived in boot.derived],
                    "asks": [_ask_json(ask) for ask in boot.asks],
                }
                for boot in self.boots
            ],
        }

    @property
    def sha256(self) -> str:
        """The digest of the plan: two runs with one digest asked the same things."""
        return digest(self.as_json())


def _ask_json(ask: Ask) -> dict[str, Any]:
    return {**asdict(ask), "body": dict(ask.body), "seed": seed_word(ask.seed)}


def seed_word(seed: Seed) -> int | str:
    """Return *seed* as a declaration writes it: a number, `drawn` or `engine`."""
    match seed:
        case FixedSeed(value):
            return value
        case DrawnSeed():
            return "drawn"
        case EngineSeed():
            return "engine"
