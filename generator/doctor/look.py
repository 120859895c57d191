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
from generator.doctor import room
from generator.doctor.engines import builds
from generator.doctor.view import Absence, Clock, View
from generator.engines.obtain import present
from generator.engines.toolchain import find_toolchain, try_compiler
from generator.errors import FetchError
from generator.models.store import Store
from generator.pins import Pins

PROGRAMS = ("git", "curl", "jq")
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
    engines = sorted({e.engine for e in experiments})
    path = environment.get("PATH")
    absent = _absences(pins.engines.values(), store, root)
    return View(
        host=host.probe(),
        load=host.load()[0],
        available_bytes=host.available_bytes(),
        project_free=shutil.disk_usage(root).free,
        store_free=shutil.disk_usage(store.root if store else root).free,
        store_fault=fault,
        absent=absent,
        absent_bytes=sum(room.of_model(model, store) for model in models)
        + sum(room.of_engine(pins.engine(name)) for name in engines if _mendable(absent, name)),
        compiler=_compiler([pin.name for pin in pins.engines.values() if builds(pin)], absent),
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


def _mendable(absent: Mapping[str, Absence], name: str) -> bool:
    return name in absent and absent[name].mendable


def _compiler(built: Sequence[str], absent: Mapping[str, Absence]) -> str | Absence | None:
    """Try what would build the first engine that is yet to be built."""
    for name in built:
        if name not in absent:
            continue
        try:
            tools = find_toolchain(name)
            with tempfile.TemporaryDirectory() as folder:
                try_compiler(tools, (), Path(folder), name)
        except FetchError as error:
            remedy = "; ".join([error.remedy, *error.details])
            return Absence(error.what, remedy, mendable=False)
        return tools.versions["compiler"]
    return None


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
