"""Limits in time: how long one ask may take, and what to fear of more threads than CPUs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from generator.host import Host
from generator.plan import Ask, Boot, Plan

# A token needs the whole model from memory once: a slow machine reads a gigabyte a second.
BYTES_PER_S = 1e9
ASK_FLOOR_S = 300.0
# load that the rest of a quiet system may cause
BESIDES = 0.5


@dataclass(frozen=True)
class Limits:
    """How long things may take, in seconds; what is not set goes by the model's size.

    Attributes:
        start_s: From a server's start until it is ready.
        ask_s: From sending an ask to the last byte of its answer.
    """

    start_s: float | None = None
    ask_s: float | None = None

    def of_ask(self, boot: Boot, ask: Ask, model_bytes: int, host: Host) -> float:
        """Return how long an ask may take, in seconds.

        By default five minutes, and for every token of prompt and answer the time that a slow
        machine needs to read the model; all of it as often as threads outnumber the CPUs, and for
        each of the asks that are sent together.

        Args:
            boot: The boot that it belongs to.
            ask: The ask.
            model_bytes: The model's size.
            host: The machine.
        """
        if self.ask_s is not None:
            return self.ask_s
        prompt = str(ask.body.get("prompt") or ask.body.get("messages"))
        capped = int(ask.body.get("n_predict") or ask.body.get("max_tokens") or boot.server.n_ctx)
        tokens = min(len(prompt) + capped, boot.server.n_ctx)
        company = sum(1 for other in boot.asks if other.together == ask.together)
        share = company if ask.together is not None else 1
        crowd = max(1.0, _threads(boot) / usable_cpus(host))
        return (ASK_FLOOR_S + tokens * model_bytes / BYTES_PER_S) * crowd * share


def usable_cpus(host: Host) -> float:
    """Return how many CPUs' worth of time this process may use."""
    return min(host.usable, host.cpu_limit or host.usable)


def overload(loads: Iterable[float], host: Host, threads: int) -> float | None:
    """Return the highest load if the machine was too busy to time anything, else None.

    A server that is measured keeps its own threads busy, so a load as high as they or the CPUs are
    many, and half of one more for the rest of the system, is a quiet machine's.

    Args:
        loads: Loads over one minute, before or after a boot.
        host: The machine.
        threads: The most threads that a server was given.
    """
    highest = max(loads, default=0.0)
    return highest if highest > max(usable_cpus(host), threads) + BESIDES else None


def crowding(plan: Plan, host: Host) -> list[str]:
    """Say where a plan wants more threads than there are CPUs, a line for each number of them."""
    usable = usable_cpus(host)
    wanted: dict[int, list[str]] = {}
    for boot in plan.boots:
        if _threads(boot) > usable:
            wanted.setdefault(_threads(boot), []).append(boot.name)
    return [
        f"{plan.experiment}, boot {', '.join(boots)}: {threads} threads on {usable:g} usable CPUs"
        " can all but hang an engine, for they wait for each other; declare no more threads than"
        " CPUs, or expect to wait"
        for threads, boots in wanted.items()
    ]


def _threads(boot: Boot) -> int:
    return max(boot.server.threads, boot.server.threads_batch)
