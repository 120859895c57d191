"""A small model for the tests of fetching, and what is left of it in a store."""

from __future__ import annotations

from pathlib import Path

from generator.models.store import Store
from generator.pin_types import ModelPin, UrlSource
from tests.unit.models.wheel_maker import digest

BODY = b"GGUF" + bytes(number * number % 251 for number in range(300_000))


def pin(*urls: str, body: bytes = BODY) -> ModelPin:
    """Pin a model at its address and mirrors."""
    return ModelPin(
        name="tiny",
        title="Tiny",
        license="MIT",
        file="tiny.gguf",
        quantization="F32",
        bytes=len(body),
        sha256=digest(body),
        source=UrlSource(type="url", urls=urls),
    )


def kept_files(store: Store) -> list[Path]:
    """Return every file that the store has of models, whole or not."""
    folders = ("sha256", "partial", "scratch")
    return [p for f in folders for p in (store.root / f).rglob("*") if p.is_file()]


def part_of(store: Store, content: bytes) -> Path:
    """Leave in the store what came of the model to an earlier process."""
    part = store.partial(digest(BODY))
    part.write_bytes(content)
    return part
