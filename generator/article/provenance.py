"""What stands behind an article: every model, engine, machine and version in its receipts, once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from generator.host import machine
from generator.receipt import Receipt


def provenance(receipts: Iterable[Receipt]) -> dict[str, list[Any]]:
    """Collect what pins the receipts, without repetition, in the order in which it is met."""
    found: dict[str, dict[Any, Any]] = {
        key: {}
        for key in (
            *("models", "engines", "chat_templates", "hosts", "threads", "generators"),
            *("machines", "dates", "gpu_layers"),
        )
    }
    for receipt in receipts:
        found["models"] |= {model.sha256: model for model in receipt.models.values()}
        found["engines"] |= {engine.pin: engine for engine in receipt.engines.values()}
        found["chat_templates"] |= {file.sha256: file for file in receipt.chat_templates.values()}
        key = machine(receipt.host).model_dump_json()
        found["machines"] |= {key: receipt.host.cpu}
        found["hosts"].setdefault(f"{key} {receipt.host.os}", receipt.host)
        found["dates"] |= {receipt.measured_on: receipt.measured_on}
        found["gpu_layers"] |= {
            layers: layers for boot in receipt.boots if (layers := boot.settings["n_gpu_layers"])
        }
        found["threads"] |= {
            boot.settings["threads"]: boot.settings["threads"] for boot in receipt.boots
        }
        version = receipt.generator.version
        if receipt.generator.commit:
            version += f" ({receipt.generator.commit[:7]}{'+' if receipt.generator.dirty else ''})"
        elif receipt.generator.commit_unknown:
            version += f" ({receipt.generator.commit_unknown})"
        found["generators"] |= {version: version}
    return {key: list(values.values()) for key, values in found.items()}
