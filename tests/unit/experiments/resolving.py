"""An experiment ready to be planned, without a declaration on disk."""

from __future__ import annotations

from typing import Any, TypeVar

from generator.declaration import Experiment, Resolved
from generator.settings import Sampling, ServerSettings

E = TypeVar("E", bound=Experiment)


def resolved(
    schema: type[E],
    *,
    server: dict[str, Any] | None = None,
    sampling: dict[str, Any] | None = None,
    endpoint: str = "completion",
    **fields: Any,
) -> Resolved[E]:
    """Return an experiment of *schema* with a kind's own *fields*."""
    spec = schema.model_validate(
        {
            "kind": schema.__name__.lower(),
            "title": {"zh": "标题", "en": "A title"},
            **({} if "prompts" in fields else {"prompt": "Hello"}),
            "endpoint": endpoint,
            **fields,
        }
    )
    return Resolved(
        article="some-article",
        name="some-experiment",
        experiment="some-experiment",
        spec=spec,
        prompts={n: str(p.text) for n, p in spec.prompts.items()} or {"prompt": "Hello"},
        model="some-model",
        engine="some-engine",
        server=ServerSettings.model_validate(server or {}),
        sampling=Sampling.model_validate(sampling or {"seed": 42}),
    )
