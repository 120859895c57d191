"""What a kind of experiment is: a schema, a plan, an analysis and its figures, in one file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from generator.declaration import Experiment, Resolved
from generator.figures import Data
from generator.plan import Ask, Boot, Cache, DrawnSeed, EngineSeed, FixedSeed, Seed
from generator.receipt import BootRecord
from generator.schema import Model
from generator.settings import sampling_fields

E = TypeVar("E", bound=Experiment)
A = TypeVar("A", bound=Model)


def no_figures(_analysis: Model) -> Mapping[str, Data]:
    """Draw nothing: the kind's template shows all there is."""
    return {}


@dataclass(frozen=True)
class Kind(Generic[E, A]):
    """A kind of experiment.

    Attributes:
        name: The word for it in declarations; its template is `templates/experiments/<name>.md.j2`.
        experiment: The schema of its entry in a declaration.
        analysis: The schema of its result.
        expand: Makes the ordered boots of an experiment.
        analyse: Reads the boots of a receipt; pure.
        figures: What is drawn of a result, or can be downloaded, by name.
    """

    name: str
    experiment: type[E]
    analysis: type[A]
    expand: Callable[[Resolved[E]], tuple[Boot, ...]]
    analyse: Callable[[Sequence[BootRecord]], A]
    figures: Callable[[A], Mapping[str, Data]] = no_figures


def seed_of(resolved: Resolved[Any]) -> Seed:
    """Return where an experiment's seeds come from."""
    match resolved.sampling.seed:
        case "drawn":
            return DrawnSeed()
        case "engine":
            return EngineSeed()
        case number:
            return FixedSeed(number)


def ask_of(
    resolved: Resolved[Any],
    name: str,
    cache: Cache,
    *,
    prompt: str | None = None,
    together: str | None = None,
) -> Ask:
    """Make one ask, of the experiment's (first) prompt unless another is given.

    Token ids and the two best candidates of every position are always asked for: without them
    nobody can say which token moved, or how close it was.
    """
    sampling, text = resolved.sampling, resolved.prompt if prompt is None else prompt
    watched = sampling.model_copy(update={"n_probs": max(2, sampling.n_probs)})
    body: dict[str, Any] = {
        "cache_prompt": resolved.server.cache_prompt,
        "stream": False,
        **sampling_fields(watched, resolved.spec.endpoint),
    }
    if resolved.spec.endpoint == "chat":
        body["messages"] = [{"role": "user", "content": text}]
    else:
        body["prompt"] = text
        body["return_tokens"] = True
    return Ask(name, resolved.spec.endpoint, body, seed_of(resolved), cache, together)


def serial_asks(resolved: Resolved[Any], count: int) -> tuple[Ask, ...]:
    """Make *count* equal asks for one boot: cold, then warm if there is a prompt cache."""
    caches: list[Cache] = ["warm" if resolved.server.cache_prompt else "cold"] * count
    caches[0] = "cold"
    return tuple(ask_of(resolved, str(index), cache) for index, cache in enumerate(caches, start=1))


def one_boot(resolved: Resolved[Any], count: int) -> tuple[Boot, ...]:
    """Make the plan of most kinds: one boot which is asked *count* times."""
    asks = serial_asks(resolved, count)
    return (Boot("main", resolved.engine, resolved.model, resolved.server, asks),)
