"""What is pinned, one row a pin."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from generator.engines.obtain import present
from generator.engines.url import archive_here
from generator.errors import FetchError
from generator.models.engine_files import artifact_here
from generator.models.inventory import survey
from generator.models.store import Store
from generator.pin_types import EnginePin, PathEngine, SourceEngine, UrlEngine, WheelEngine
from generator.pins import Pins


@dataclass(frozen=True)
class Row:
    """One pin.

    Attributes:
        what: `engine` or `model`.
        type: Where it comes from.
        version: Its version, or a model's quantization.
        bytes: The size of what is fetched for this machine, or lies at the path; None if nothing.
        here: `here`, `absent`, or that it is not for this machine.
    """

    what: str
    name: str
    type: str
    title: str
    version: str
    bytes: int | None
    here: str


def overview(pins: Pins, store: Store, root: Path) -> list[Row]:
    """Describe every pin; nothing is verified.

    Args:
        pins: The pins.
        store: Where fetched files are kept.
        root: What a relative path starts from.
    """
    engines = [_engine(pin, store, root) for pin in pins.engines.values()]
    models = [
        Row(
            what="model",
            name=pin.name,
            type=pin.source.type,
            title=pin.title,
            version=pin.quantization,
            bytes=pin.total_bytes,
            here="here" if all(f.state == "here" for f in survey(pin, store, root)) else "absent",
        )
        for pin in pins.models.values()
    ]
    return [*engines, *models]


def _engine(pin: EnginePin, store: Store, root: Path) -> Row:
    try:
        size, here = _size(pin, root), "here" if present(pin, store, root) else "absent"
    except FetchError:
        size, here = None, "not for this machine"
    return Row(
        what="engine",
        name=pin.name,
        type=pin.type,
        title=pin.title,
        version=f"build {pin.build}" if isinstance(pin, UrlEngine) else pin.version,
        bytes=size,
        here=here,
    )


def _size(pin: EnginePin, root: Path) -> int | None:
    match pin:
        case WheelEngine():
            return artifact_here(pin).bytes
        case UrlEngine():
            return archive_here(pin).bytes
        case SourceEngine():
            return pin.bytes
        case PathEngine():
            path = root / Path(pin.path).expanduser()
            return path.stat().st_size if path.is_file() else None
        case _:
            assert_never(pin)
