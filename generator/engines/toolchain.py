"""The tools that build an engine: found on this machine, named exactly, and tried before use."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.errors import FetchError

INSTALL = (
    "Debian, Ubuntu: apt-get install g++ cmake ninja-build",
    "Fedora: dnf install gcc-c++ libstdc++-static cmake ninja-build",
    "macOS: xcode-select --install; then brew install cmake ninja",
    "cmake and ninja also come by pip: pip install cmake ninja",
)
OTHERWISE = (
    "or measure with the embedded engine, which needs no compiler: --engine NAME, a pin of type"
    " `wheel` in receipts/pins/engines.yaml"
)
# What llama.cpp is written in, and what older libraries of C++ lack.
TRIAL = """\
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
int main() {
    int value = 0;
    const std::string_view text = "7";
    std::from_chars(text.data(), text.data() + text.size(), value);
    std::optional<std::filesystem::path> path = std::filesystem::path("a");
    return path->empty() || value != 7;
}
"""
# Of the environment nothing else reaches a compiler, so that it cannot change what is built.
KEPT_ENVIRONMENT = ("PATH", "HOME", "LD_LIBRARY_PATH", "DEVELOPER_DIR", "SDKROOT")
_LIMIT_S = 60.0
_MOST_LINES = 6


@dataclass(frozen=True)
class Toolchain:
    """The tools, and how each calls itself.

    Attributes:
        cc: The C compiler's path; `cxx`, `cmake` and `ninja` likewise.
        versions: What of them may change the result, by name: a receipt records it.
        ninja_version: What may not.
    """

    cc: str
    cxx: str
    cmake: str
    ninja: str
    versions: Mapping[str, str]
    ninja_version: str


def find_toolchain(label: str) -> Toolchain:
    """Find the tools, those beside our Python first.

    Args:
        label: What is to be built.

    Raises:
        FetchError: One is missing; it names what to install.
    """
    names = {
        "cc": os.environ.get("CC", "cc"),
        "cxx": os.environ.get("CXX", "c++"),
        "cmake": "cmake",
        "ninja": "ninja",
    }
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    found = {tool: shutil.which(name, path=path) for tool, name in names.items()}
    missing = [names[tool] for tool, place in found.items() if place is None]
    if missing:
        raise FetchError(
            f"{label} is built from source, and {', '.join(missing)} cannot be found here.",
            f"Install what is missing, {OTHERWISE}.",
            INSTALL,
        )
    cc, cxx, cmake, ninja = (str(found[tool]) for tool in names)
    return Toolchain(
        cc=cc,
        cxx=cxx,
        cmake=cmake,
        ninja=ninja,
        versions={
            "c_compiler": _first_line(label, cc, "--version"),
            "compiler": _first_line(label, cxx, "--version"),
            **({"linker": _first_line(label, cxx, "-Wl,--version")} if _on_linux() else {}),
            "libc": " ".join(platform.libc_ver()).strip() or platform.platform(),
            "cmake": _first_line(label, cmake, "--version").removeprefix("cmake version "),
        },
        ninja_version=_first_line(label, ninja, "--version"),
    )


def try_compiler(tools: Toolchain, flags: Sequence[str], folder: Path, label: str) -> None:
    """Compile and link a small program as the engine will be.

    Args:
        tools: The compilers.
        flags: The compiler's and the linker's options.
        folder: Where to do it.
        label: What is to be built.

    Raises:
        FetchError: It cannot; the compiler is too old, or half installed.
    """
    source = folder / "trial.cpp"
    source.write_text(TRIAL, encoding="ascii")
    command = [tools.cxx, "-std=c++17", *flags, str(source), "-o", str(folder / "trial")]
    done = _run(label, command)
    if done.returncode != 0:
        raise FetchError(
            f"{label} cannot be built with {tools.versions['compiler']}: it does not compile"
            " a small program of C++17.",
            f"Install a whole and newer one (gcc from 9 or clang from 10), {OTHERWISE}.",
            [*_said(done)[:_MOST_LINES], *INSTALL],
        )


def build_environment(**more: str) -> dict[str, str]:
    """Return what of our environment a build may see, and *more*."""
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    return {**kept, "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0", **more}


def _on_linux() -> bool:
    return sys.platform == "linux"


def _first_line(label: str, program: str, *arguments: str) -> str:
    done = _run(label, [program, *arguments])
    if done.returncode != 0 or not done.stdout.strip():
        raise FetchError(
            f"{label} is built from source, and {program} {' '.join(arguments)} fails.",
            f"Mend or install it, {OTHERWISE}.",
            [*_said(done)[:_MOST_LINES], *INSTALL],
        )
    return done.stdout.strip().splitlines()[0]


def _said(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]


def _run(label: str, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=build_environment(),
            timeout=_LIMIT_S,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(
            f"{label} is built from source, and {command[0]} cannot be run: {error}.",
            f"Mend or install it, {OTHERWISE}.",
            INSTALL,
        ) from error
