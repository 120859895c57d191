"""Reading everything again that is kept and pinned, whatever was remembered of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generator.engines.obtain import obtain, present
from generator.errors import EngineError, FetchError
from generator.models.inventory import kept_at
from generator.models.progress import Progress
from generator.models.sources import expected
from generator.models.store import Store
from generator.pin_types import EnginePin, ModelPin
from generator.pins import Pins


@dataclass(frozen=True)
class Absent:
    """What is pinned and not here."""

    name: str


@dataclass(frozen=True)
class Good:
    """What is as it was pinned."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Changed:
    """What is not as it was pinned, and how."""

    name: str
    how: FetchError | EngineError


Found = Absent | Good | Changed


def recheck(pins: Pins, store: Store, root: Path, progress: Progress) -> Iterator[Found]:
    """Read every file of a pinned model or engine that is here, and compare it with its pin.

    Args:
        pins: What is pinned.
        store: Where fetched files are kept.
        root: What a relative path starts from.
        progress: Hears of the bytes.
    """
    anew = store.distrusting()
    for model in pins.models.values():
        yield from _model(model, anew, root, progress)
    for engine in pins.engines.values():
        yield _engine(engine, anew, root, progress)


def _model(pin: ModelPin, store: Store, root: Path, progress: Progress) -> Iterator[Found]:
    for file in pin.files:
        wanted = expected(pin, file)
        place = kept_at(file, store, root)
        if place is None:
            yield Absent(wanted.label)
            continue
        try:
            store.verify(place, wanted, progress)
        except FetchError as error:
            yield Changed(wanted.label, error)
        else:
            yield Good(wanted.label, file.bytes)


def _engine(pin: EnginePin, store: Store, root: Path, progress: Progress) -> Found:
    try:
        here = present(pin, store, root)
    except FetchError:  # it is pinned for other machines only
        here = False
    if not here:
        return Absent(pin.name)
    progress.start(f"{pin.name}: verifying", 0)
    try:
        files = obtain(pin, store, progress, root).files
    except (FetchError, EngineError) as error:
        return Changed(pin.name, error)
    finally:
        progress.done()
    return Good(pin.name, sum(file.bytes for file in files))
