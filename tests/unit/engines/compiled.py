"""Small real programs in place of llama-server, with shared libraries beside them."""

from __future__ import annotations

import subprocess
from pathlib import Path

# a run path as the linkers of today write it: LD_LIBRARY_PATH goes before it
RUN_PATH = "-Wl,--enable-new-dtags,-rpath,$ORIGIN"
_SOURCES = Path(__file__).parent / "native"


def compile_server(folder: Path, build: int) -> Path:
    """Make a llama-server of that build in a new folder, laid out as llama.cpp's releases are."""
    folder.mkdir(parents=True)
    versioned = f"libllama.so.0.0.{build}"
    compile_library(folder / versioned, build, "-Wl,-soname,libllama.so.0")
    (folder / "libllama.so.0").symlink_to(versioned)
    (folder / "libllama.so").symlink_to("libllama.so.0")
    compile_library(folder / "libggml-cpu-stub.so", build)
    program = folder / "llama-server"
    compile_program(program, build, folder, RUN_PATH)
    return program


def compile_program(path: Path, build: int, libraries: Path, *options: str) -> None:
    """Make the program alone, with a library that lies elsewhere."""
    _compile(path, build, "server.c", f"-L{libraries}", "-lllama", "-ldl", *options)


def compile_library(path: Path, build: int, *options: str) -> None:
    """Make one shared library."""
    _compile(path, build, "library.c", "-shared", "-fPIC", *options)


def _compile(path: Path, build: int, source: str, *options: str) -> None:
    command = ["cc", "-O1", f"-DBUILD={build}", str(_SOURCES / source), "-o", str(path), *options]
    subprocess.run(command, check=True)
