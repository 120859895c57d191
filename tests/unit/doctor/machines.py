"""Machines and needs for tests: all well unless a test says otherwise."""

from __future__ import annotations

from typing import Any

from generator.doctor import Diagnosis, Needs, View, diagnose
from generator.doctor.look import PROGRAMS
from generator.doctor.needs import EngineNeed
from generator.doctor.view import Clock
from generator.pin_types import (
    Archive,
    EnginePin,
    PathEngine,
    SourceEngine,
    UrlEngine,
    WheelArtifact,
    WheelEngine,
)
from tests.factory import make_host

NOW = 1_770_000_000.0
WRITTEN_AT = "2026-02-02T02:40:00Z"  # the same moment
SYSTEM = "CPU : SSE3 = 1 | AVX2 = 1 | FMA = 1 | LLAMAFILE = 1 | OPENMP = 1 | REPACK = 1"
ISA = ["sse4_2", "avx", "avx2", "bmi2", "f16c", "fma"]

WHEEL = WheelEngine(
    name="some-wheel",
    type="wheel",
    title="A wheel",
    license="MIT",
    distribution="some",
    version="1.7",
    build=7,
    artifacts={
        "linux-x86_64": WheelArtifact(
            wheel="some.whl",
            bytes=1,
            sha256="a" * 64,
            record_sha256="b" * 64,
            library="some.so",
            library_bytes=1,
            library_sha256="c" * 64,
        )
    },
)
PATH = PathEngine(
    name="some-path",
    type="path",
    title="A program",
    path="llama-server",
    sha256="d" * 64,
    build=7,
    version="7",
)
SOURCE = SourceEngine(
    name="some-source",
    type="source",
    title="A source",
    license="MIT",
    distribution="some",
    version="7.0",
    build=7,
    bytes=1,
    sha256="e" * 64,
    folder="some/llama.cpp",
)
RELEASE = UrlEngine(
    name="some-release",
    type="url",
    title="A release",
    license="MIT",
    build=7,
    archives={
        "linux-x86_64": Archive(
            urls=("http://a/b.tar.gz",), bytes=9, sha256="f" * 64, member="bin/llama-server"
        )
    },
)


def make_needs(*engines: EngineNeed, **fields: Any) -> Needs:
    """Return what a small experiment needs; *fields* replace parts of it."""
    values: dict[str, Any] = {
        "threads": 2,
        "model": "some-model",
        "model_bytes": 1_000_000_000,
        "peak_bytes": 0,
        "engines": engines,
        "written_at": WRITTEN_AT,
    }
    return Needs(**(values | fields))


def wheel_need(*, declared: bool = True, system: str | None = SYSTEM) -> EngineNeed:
    """Return the need of the wheel."""
    return EngineNeed(WHEEL, declared, system)


def need_of(pin: EnginePin, *, declared: bool = True, system: str | None = SYSTEM) -> EngineNeed:
    """Return the need of any engine."""
    return EngineNeed(pin, declared, system)


def make_view(**fields: Any) -> View:
    """Return a machine that lacks nothing; *fields* replace parts of it, or of its host."""
    machine = make_host().model_copy(update={"isa": ISA})
    host = {name: fields.pop(name) for name in list(fields) if name in type(machine).model_fields}
    values: dict[str, Any] = {
        "host": machine.model_copy(update=host),
        "load": 0.0,
        "available_bytes": 8_000_000_000,
        "project_free": 50_000_000_000,
        "store_free": 50_000_000_000,
        "store_fault": None,
        "absent": {},
        "absent_bytes": 0,
        "compiler": None,
        "programs": {name: f"/usr/bin/{name}" for name in PROGRAMS},
        "browser": "/usr/bin/chromium",
        "cjk_fonts": 3,
        "environment": {},
        "socks": False,
        "clock": Clock(now=NOW, file=NOW, commit=NOW),
    }
    return View(**(values | fields))


def found(needs: Needs, view: View) -> dict[str, Diagnosis]:
    """Return all diagnoses by name."""
    return {diagnosis.name: diagnosis for diagnosis in diagnose(needs, view)}
