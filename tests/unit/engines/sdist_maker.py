"""Small source distributions, laid out as the real one, of a server that builds in a second."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generator.models.store import Expected, Store
from generator.pin_types import SourceEngine
from tests.unit.models.wheel_maker import digest

VERSION = "7.0.0"
TOP = f"tiny_server-{VERSION}"
_SOURCES = Path(__file__).parent / "sources"
FILES = {
    "CMakeLists.txt": (_SOURCES / "CMakeLists.txt").read_text(),
    "main.cpp": (_SOURCES / "main.cpp").read_text(),
    "parsers/first.cpp": '#include <string>\nstd::string first() { return "1"; }\n',
    "parsers/second.cpp": '#include <string>\nstd::string second() { return "2"; }\n',
    "gate.sh": "exit 0\n",
}


def make_sdist(changes: Mapping[str, str] | None = None) -> bytes:
    """Return a distribution.

    Args:
        changes: Files of llama.cpp's folder to write otherwise.
    """
    ours = {f"llama.cpp/{name}": text for name, text in {**FILES, **(changes or {})}.items()}
    files = ours | {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: tiny-server\nVersion: {VERSION}\n",
        "pyproject.toml": '[build-system]\nrequires = ["nothing-that-exists"]\n'
        'build-backend = "setuptools.build_meta"\n',
        "setup.py": "raise SystemExit('code of the distribution was run')\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"{TOP}/{name}")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def pin_of(sdist: bytes, **changes: Any) -> SourceEngine:
    """Pin a distribution."""
    return SourceEngine.model_validate(
        {
            "name": "tiny",
            "type": "source",
            "title": "Tiny",
            "license": "MIT",
            "distribution": "tiny-server",
            "version": VERSION,
            "build": 7,
            "bytes": len(sdist),
            "sha256": digest(sdist),
            "folder": f"{TOP}/llama.cpp",
            **changes,
        }
    )


def stocked(root: Path, sdist: bytes) -> Store:
    """Return a new store that has the distribution already."""
    store = Store(root)
    made = root / "scratch" / "made"
    made.write_bytes(sdist)
    store.add(made, Expected("tiny", len(sdist), digest(sdist)), digest(sdist))
    return store
