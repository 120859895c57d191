"""llama.cpp's server built here, once, from a source distribution, and kept with how it was."""

from __future__ import annotations

import hashlib
import platform
import shutil
from pathlib import Path

from pydantic import ValidationError

from generator import host
from generator.canonical import pretty
from generator.engines.archive import unpack
from generator.engines.base import LoadedFile, Obtained
from generator.engines.build import Build
from generator.engines.build_lock import build_lock
from generator.engines.guarded import GuardedEngine
from generator.engines.native import NativeEngine
from generator.engines.probe import probe
from generator.engines.recipe import TARGET, build_key, recipe_for
from generator.engines.toolchain import find_toolchain, try_compiler
from generator.errors import FetchError
from generator.models.disk import disk_error
from generator.models.progress import Progress
from generator.models.sdist import fetch_sdist
from generator.models.store import Expected, Store
from generator.pin_types import Size, SourceEngine
from generator.schema import Model, NonEmpty, Sha256

RECORD = "built.json"
# What is unpacked, compiled and linked is about eight times the distribution.
ROOM_PER_BYTE = 10


class Built(Model):
    """What a build leaves beside its program.

    Attributes:
        bytes: The program's size.
        sha256: The program's digest.
        built: How it was built, as receipts record it.
    """

    bytes: Size
    sha256: Sha256
    built: dict[NonEmpty, str]


def obtain(pin: SourceEngine, store: Store, progress: Progress) -> Obtained:
    """Build the pinned engine, unless these tools have built it so before, and verify it.

    Raises:
        FetchError: It cannot be had or built, or has changed since it was.
        EngineError: It cannot be run.
    """
    place = _place(pin, store, progress)
    built = _read(place)
    program = (place / TARGET).resolve()
    store.verify(program, Expected(f"{pin.name}: {TARGET}", built.bytes, built.sha256), progress)
    return Obtained(
        engine=GuardedEngine(
            inner=NativeEngine(program),
            label=pin.name,
            program=program,
            files={program: built.sha256},
            build=pin.build,
            digest=store.digest,
        ),
        version=f"{pin.distribution} {pin.version}",
        build=pin.build,
        origin_sha256=pin.sha256,
        files=(LoadedFile(TARGET, built.bytes, built.sha256),),
        built=built.built,
    )


def finished(pin: SourceEngine, store: Store) -> list[Path]:
    """Return the folders of its finished builds for these instructions, the newest first."""
    records = list(store.engine_root(pin.sha256).glob(f"*/{RECORD}"))
    records.sort(key=lambda record: record.stat().st_mtime, reverse=True)
    folders = [record.parent for record in records]
    return [place for place in folders if _read(place).built["instructions"] == pin.instructions]


def _place(pin: SourceEngine, store: Store, progress: Progress) -> Path:
    """Return where the engine lies, built if need be."""
    recipe = recipe_for(pin, platform.machine(), tuple(host.probe().isa))
    try:
        tools = find_toolchain(pin.name)
    except FetchError:
        # Without tools nothing else can come out; what was built here is as good as ever.
        for place in finished(pin, store):
            return place
        raise
    key = build_key(pin, recipe, tools.versions)
    place = store.engine_root(pin.sha256) / key
    if place.is_dir():
        return place
    try:
        with build_lock(store.root / "locks" / f"{key}.lock", pin.name, progress) as lock:
            if not place.is_dir():
                folder = store.root / "builds" / key
                folder.mkdir(parents=True, exist_ok=True)
                store.ensure_space(ROOM_PER_BYTE * pin.bytes, pin.name)
                source = _source(pin, store, folder, progress)
                build = Build(pin.name, folder, source, recipe, tools, [lock])
                _build(pin, build, place, progress)
                shutil.rmtree(folder)
    except OSError as error:
        raise disk_error(pin.name, error) from error
    return place


def _source(pin: SourceEngine, store: Store, folder: Path, progress: Progress) -> Path:
    """Return llama.cpp's folder below *folder*, fetched and unpacked unless it is there."""
    tree = folder / "source"
    if not tree.is_dir():
        sdist = fetch_sdist(pin, store, progress)
        fresh = folder / "unpacking"
        shutil.rmtree(fresh, ignore_errors=True)
        progress.start(f"{pin.name}: unpacking", 0)
        try:
            unpack(sdist, fresh, pin.name)
        finally:
            progress.done()
        fresh.replace(tree)
    source = tree / pin.folder
    if not (source / "CMakeLists.txt").is_file():
        raise FetchError(
            f"{pin.name}: its distribution has no llama.cpp at {pin.folder}.",
            "Mend `folder` in receipts/pins/engines.yaml.",
        )
    return source


def _build(pin: SourceEngine, build: Build, place: Path, progress: Progress) -> None:
    """Build it, look at what came out, and put it in its place."""
    recipe, tools = build.recipe, build.tools
    try_compiler(tools, recipe.linking, build.folder, pin.name)
    build.run(progress)
    told = probe(build.program, {}).build
    if told != pin.build:
        raise FetchError(
            f"{pin.name} says that it is build {told}, and build {pin.build} is pinned.",
            "Mend `build` in receipts/pins/engines.yaml.",
        )
    content = build.program.read_bytes()
    if str(build.folder).encode() in content:
        raise FetchError(
            f"{pin.name} was built with the name of its folder inside, so no other machine would"
            " build the same.",
            "Set RECEIPTS_CACHE to a folder whose name has letters, digits and hyphens only.",
            [str(build.folder)],
        )
    fresh = build.folder / "finished"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    program = build.program.rename(fresh / TARGET)
    program.chmod(0o555)
    record = Built(
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        built={
            "instructions": pin.instructions,
            **tools.versions,
            "ninja": tools.ninja_version,
            "flags": recipe.flags,
            "recipe_cmake_sha256": hashlib.sha256(recipe.included.encode()).hexdigest(),
            **({"cpu": " ".join(recipe.cpu)} if recipe.cpu else {}),
        },
    )
    (fresh / RECORD).write_text(pretty(record.model_dump(mode="json")), encoding="utf-8")
    place.parent.mkdir(exist_ok=True)
    fresh.rename(place)


def _read(place: Path) -> Built:
    try:
        return Built.model_validate_json((place / RECORD).read_bytes())
    except (OSError, ValidationError) as error:
        raise FetchError(
            f"The record of how {place.parent.name[:12]}… was built cannot be read.",
            f"Remove {place} and run `receipts fetch`, which builds it again.",
            [str(error)],
        ) from error
