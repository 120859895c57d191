"""A llama-server that the user has: used in place, its program and libraries verified."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.engines.base import LoadedFile, Obtained
from generator.engines.guarded import GuardedEngine
from generator.engines.loaded import is_the_engines
from generator.engines.native import NativeEngine
from generator.engines.probe import Probe, probe
from generator.errors import FetchError
from generator.models.store import Store
from generator.pin_changes import changes
from generator.pin_types import LOCAL_ENGINE, PathEngine

_UNPINNED = {"pinned": "when it was measured, by LLAMA_SERVER"}


def obtain(pin: PathEngine, store: Store, root: Path) -> Obtained:
    """Verify the user's program and the libraries that it loads.

    Raises:
        FetchError: It is not there, or is not what was pinned.
        EngineError: It cannot be run.
    """
    program = _program(pin.name, pin.path, root)
    found = store.digest(program)
    if found != pin.sha256:  # told before it is run
        lines = [f"expected sha256 {pin.sha256}", f"found    sha256 {found}"]
        raise _another(pin, f"{program.name} is not the program that was pinned", lines)
    there = _look(program, store)
    differences = changes(pin, _pin(there, pin.name, pin.title, pin.path))
    if differences:
        raise _another(pin, "it is not as pinned", [str(change) for change in differences])
    files = {program: pin.sha256} | dict(there.libraries.values())
    names = {program: program.name} | {p: name for name, (p, _) in there.libraries.items()}
    return Obtained(
        engine=GuardedEngine(
            inner=NativeEngine(program),
            label=pin.name,
            program=program,
            files=files,
            build=pin.build,
            digest=store.digest,
        ),
        version=pin.version,
        build=pin.build,
        origin_sha256=pin.sha256,
        files=tuple(
            LoadedFile(names[path], path.stat().st_size, digest) for path, digest in files.items()
        ),
        built={**there.seen.built, **(_UNPINNED if pin.name == LOCAL_ENGINE else {})},
    )


def pin_what_is_there(name: str, title: str, path: str, store: Store, root: Path) -> PathEngine:
    """Return the pin of a llama-server as it is now.

    Args:
        name: The pin's name.
        title: What it is called before a reader.
        path: Where it is; a relative one starts at *root*.
        store: Remembers digests.
        root: The project's root.

    Raises:
        FetchError: It is not there.
        EngineError: It cannot be run, or is no llama-server.
    """
    return _pin(_look(_program(name, path, root), store), name, title, path)


@dataclass(frozen=True)
class _There:
    """A program as it is now, and its libraries with their digests, by name."""

    sha256: str
    seen: Probe
    libraries: Mapping[str, tuple[Path, str]]


def _look(program: Path, store: Store) -> _There:
    seen = probe(program, {})
    return _There(
        store.digest(program),
        seen,
        {
            name: (path, store.digest(path))
            for name, path in sorted(seen.libraries.items())
            if is_the_engines(path, program)
        },
    )


def _pin(there: _There, name: str, title: str, path: str) -> PathEngine:
    return PathEngine(
        name=name,
        type="path",
        title=title,
        path=path,
        sha256=there.sha256,
        build=there.seen.build,
        version=there.seen.version,
        libraries={name: digest for name, (_, digest) in there.libraries.items()},
    )


def _program(name: str, path: str, root: Path) -> Path:
    place = root / Path(path).expanduser()
    if not place.is_file():
        raise FetchError(
            f"{name}: there is no file at {place}.",
            "Put it there, or mend the path in receipts/pins/engines.yaml.",
        )
    if not os.access(place, os.X_OK):
        raise FetchError(f"{name}: {place} may not be run.", f"Allow it: chmod +x {place}")
    program = place.resolve()
    with program.open("rb") as file:
        if file.read(2) == b"#!":
            raise FetchError(
                f"{name}: {place} is a script, so that its digest says nothing of the engine.",
                "Pin the llama-server program that it starts.",
            )
    return program


def _another(pin: PathEngine, how: str, lines: list[str]) -> FetchError:
    return FetchError(
        f"{pin.name}: {how}.",
        f"See what changed with `receipts pins update {pin.name}`, and pin it with --yes or by"
        " `receipts run --repin`.",
        lines,
    )
