"""A llama-server that the user has: used in place, its program and libraries verified."""

from __future__ import annotations

from pathlib import Path

from generator import pin_types
from generator.engines.base import LoadedFile, Obtained
from generator.engines.native import NativeEngine
from generator.errors import FetchError
from generator.models.store import Store


def obtain(pin: pin_types.PathEngine, store: Store, root: Path) -> Obtained:
    """Verify the user's program and the libraries beside it.

    Raises:
        FetchError: It is not there, or is not what was pinned.
    """
    program = root / Path(pin.path).expanduser()
    files = {program: pin.sha256} | {
        program.parent / name: digest for name, digest in pin.libraries.items()
    }
    for path, expected in files.items():
        if not path.is_file():
            raise FetchError(
                f"{pin.name}: there is no file at {path}.",
                "Put it there, or mend the pin in receipts/pins/engines.yaml.",
            )
        found = store.digest(path)
        if found != expected:
            raise FetchError(
                f"{pin.name}: {path.name} is not the file that was pinned.",
                "Pin the engine that is there, once you have seen what changed: --repin.",
                [f"expected sha256 {expected}", f"found    sha256 {found}"],
            )
    return Obtained(
        engine=NativeEngine(program),
        version=pin.version,
        build=pin.build,
        origin_sha256=pin.sha256,
        files=tuple(
            LoadedFile(path.name, path.stat().st_size, digest) for path, digest in files.items()
        ),
        built={},
    )
