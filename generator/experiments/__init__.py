"""The kinds of experiment: every module in this folder that defines `KIND` is one."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from generator.declaration import Experiment, Resolved
from generator.experiments.kind import Kind
from generator.plan import Plan


@cache
def kinds() -> dict[str, Kind[Any, Any]]:
    """Return every kind by its name, in alphabetical order."""
    found: dict[str, Kind[Any, Any]] = {}
    for module in pkgutil.iter_modules(__path__):
        kind = getattr(importlib.import_module(f"{__name__}.{module.name}"), "KIND", None)
        if isinstance(kind, Kind):
            found[kind.name] = kind
    return dict(sorted(found.items()))


def plan_experiment(resolved: Resolved[Experiment]) -> Plan:
    """Expand an experiment to its boots and asks; pure."""
    kind = kinds()[resolved.spec.kind]
    return Plan(resolved.article, resolved.name, kind.name, kind.expand(resolved))
