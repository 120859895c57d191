"""What was changed in a declaration since its receipts were measured: its plan, its conditions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from generator.claims import conditions
from generator.declaration import Declaration, Experiment, Resolved
from generator.experiments import plan_experiment
from generator.named_files import for_receipt
from generator.pin_changes import differences
from generator.plan import Ask, Plan
from generator.receipt import AskRecord, Receipt
from generator.text import short

_SHOWN, _MOST = 80, 8


@dataclass(frozen=True)
class Change:
    """One thing that is no longer as it was measured.

    Attributes:
        kind: A setting, or the condition of a claim that is another one, new, or gone.
        name: The setting's path in the experiment, or the claim's name.
        was: What was measured, as JSON, or the condition then; empty if there was none.
        now: What is declared now; empty if nothing is.
    """

    kind: Literal["setting", "condition", "added", "removed"]
    name: str
    was: str
    now: str

    def __str__(self) -> str:
        """Say it in words, as in `sampling.temperature was 0.7 and is now 0.9`."""
        match self.kind:
            case "setting":
                return f"{self.name} was {self.was or 'absent'} and is now {self.now or 'absent'}"
            case "condition":
                return f"the condition of the claim {self.name} was {self.was}, now {self.now}"
            case "added":
                return f"the claim {self.name} was added after measuring"
            case "removed":
                return f"the claim {self.name} was removed after measuring"


def stale(
    declaration: Declaration, receipts: Mapping[str, Receipt]
) -> dict[str, tuple[Change, ...]]:
    """Return what was changed since each receipt was measured; those that are current are left out.

    Args:
        declaration: The declaration as it is now.
        receipts: Receipts by the names of their experiments; pure.
    """
    found = {name: changes(declaration, name, receipt) for name, receipt in receipts.items()}
    return {name: changed for name, changed in found.items() if changed}


def changes(declaration: Declaration, name: str, receipt: Receipt) -> tuple[Change, ...]:
    """Compare one receipt with what its experiment, and the claims on it, are now; pure.

    Args:
        declaration: The declaration as it is now.
        name: The experiment's name.
        receipt: Its receipt.
    """
    resolved = as_run(declaration.experiments[name], receipt)
    return (*_settings(resolved, receipt), *_conditions(declaration, name, receipt))


def as_run(resolved: Resolved[Experiment], receipt: Receipt) -> Resolved[Experiment]:
    """Return the experiment with the pins that the run of *receipt* put in the declared place."""
    record = receipt.declaration.experiment
    replaced = record.get("replaced")
    if not isinstance(replaced, dict):
        return resolved
    pins = {
        key: str(record.get(key)) if key in replaced else getattr(resolved, key)
        for key in ("model", "engine")
    }
    return resolved.with_pins(**pins)


def _settings(resolved: Resolved[Experiment], receipt: Receipt) -> Iterator[Change]:
    plan = plan_experiment(resolved)
    if plan.sha256 == receipt.plan_sha256:
        return
    found = list(differences(receipt.declaration.experiment, resolved.as_json()))
    # the same declaration expands to another plan: another version of the program does that
    found = found or list(differences(_asked(receipt), _planned(plan)))
    for one in found[:_MOST]:
        path = ".".join(str(step) for step in one.path)
        yield Change("setting", path, _shown(one.old), _shown(one.new))
    if not found or len(found) > _MOST:
        was, now = receipt.plan_sha256[:12], plan.sha256[:12]
        yield Change("setting", "the plan's digest", was, now)


def _conditions(declaration: Declaration, name: str, receipt: Receipt) -> Iterator[Change]:
    known = conditions(declaration, name)
    claims = declaration.head.claims
    for claim in sorted(known.keys() | receipt.claims.keys()):
        was = receipt.claims.get(claim, "")
        now = claims[claim].when if claim in claims else ""
        if was == now:
            continue
        kind: Literal["condition", "added", "removed"] = (
            "removed" if not now else "condition" if was else "added"
        )
        yield Change(kind, claim, was, now)


def _shown(value: Any) -> str:
    return "" if value is None else short(json.dumps(value, ensure_ascii=False), _SHOWN)


def _asked(receipt: Receipt) -> dict[str, Any]:
    return {
        boot.name: {
            "engine": boot.engine,
            "model": boot.model,
            "settings": boot.settings,
            "asks": {ask.name: _ask(ask, ask.request) for ask in boot.asks},
        }
        for boot in receipt.boots
    }


def _planned(plan: Plan) -> dict[str, Any]:
    return {
        boot.name: {
            "engine": boot.engine,
            "model": boot.model,
            "settings": for_receipt(boot.server).model_dump(mode="json"),
            "asks": {ask.name: _ask(ask, ask.body) for ask in boot.asks},
        }
        for boot in plan.boots
    }


def _ask(ask: Ask | AskRecord, request: Mapping[str, Any]) -> dict[str, Any]:
    # a seed is drawn only when it is asked
    sent = {key: value for key, value in request.items() if key != "seed"}
    return {"endpoint": ask.endpoint, "cache": ask.cache, "together": ask.together, **sent}
