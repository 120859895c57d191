"""Receipts in which a token moves, for tests of bug reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from generator.engines.table import command_line
from generator.pin_types import ModelPin, PackageSource, UrlSource, WheelPart
from generator.receipt import AskRecord, BootRecord, Receipt
from generator.settings import ServerSettings
from tests.factory import (
    MODEL,
    CacheWord,
    TokenLike,
    completion_response,
    make_ask,
    make_boot,
    make_receipt,
)

REQUEST = {"prompt": "Say", "temperature": 0.0, "seed": 42, "cache_prompt": True}


def asked(
    name: str,
    tokens: Sequence[TokenLike] | None,
    *,
    cache: CacheWord = "cold",
    request: Mapping[str, Any] | None = None,
    together: str | None = None,
) -> AskRecord:
    """Return an ask that was answered with *tokens*, or failed if there are none."""
    counts = (9, 1) if cache == "warm" else (0, 10)
    response = tokens and completion_response(tokens, cache_n=counts[0], prompt_n=counts[1])
    ask = make_ask(response or None, name=name, cache=cache, together=together)
    return ask.model_copy(update={"request": dict(REQUEST if request is None else request)})


def boot_of(*asks: AskRecord, name: str = "main", **settings: Any) -> BootRecord:
    """Return a boot with the command line that its settings make."""
    full = ServerSettings.model_validate(settings)
    line = command_line(full, MODEL)
    return make_boot(asks, name=name, settings=full).model_copy(update={"command_line": line})


def receipt_of(*boots: BootRecord, **fields: Any) -> Receipt:
    """Return a receipt of *boots*."""
    return make_receipt("repeat", boots, **fields)


def cold_and_warm() -> Receipt:
    """Return the smallest receipt with a flip: at token 1, on one server."""
    return receipt_of(
        boot_of(
            asked("1", [" one", (" two", -0.5, -0.6)]),
            asked("2", [" one", " three", " four"], cache="warm"),
        )
    )


def model_pin(source: UrlSource | PackageSource, **fields: Any) -> ModelPin:
    """Return the pin of a model that can be had from *source*."""
    values: dict[str, Any] = {
        "name": "tiny", "title": "Tiny", "license": "MIT", "file": "tiny.gguf",
        "quantization": "Q4_1", "bytes": 4, "sha256": "a" * 64, "source": source,
    }  # fmt: skip
    return ModelPin(**(values | fields))


def packaged(*members: str) -> PackageSource:
    """Return a source of as many wheels as there are members."""
    return PackageSource(
        type="package",
        parts=tuple(
            WheelPart(
                distribution=f"some-part{n}", version="1.0", bytes=1, sha256=f"{n}" * 64, member=m
            )
            for n, m in enumerate(members, start=1)
        ),
    )
