"""A small model for the tests of fetching, and what is left of it in a store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from generator.models.store import Store
from generator.pin_types import ModelPin, UrlSource, WheelEngine
from generator.pins import ENGINES_FILE, MODELS_FILE
from tests.unit.models.wheel_maker import digest

ROOT = Path(__file__).parents[3]
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


def project_of(root: Path, *pins: ModelPin | WheelEngine) -> Path:
    """Write a project which pins these models and engines."""
    folder = root / "project"
    (folder / "receipts" / "pins").mkdir(parents=True)
    for file, kind, key in (
        (ENGINES_FILE, WheelEngine, "engines"),
        (MODELS_FILE, ModelPin, "models"),
    ):
        pinned = {
            pin.name: pin.model_dump(mode="json", exclude={"name"})
            for pin in pins
            if isinstance(pin, kind)
        }
        (folder / file).write_text(yaml.safe_dump({key: pinned}))
    return folder


def receipts(project: Path, store: Store, *arguments: str) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "generator", "--root", str(project), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "RECEIPTS_CACHE": str(store.root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
