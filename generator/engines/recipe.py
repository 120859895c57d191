"""How llama-server is built: CMake's settings and the tools' options, naming no machine's paths."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.canonical import digest
from generator.pin_types import SourceEngine

# CMake quotes it: names of folders never pass through a shell's hands.
INCLUDED = Path(__file__).with_name("recipe.cmake")
TARGET = "llama-server"
COMMIT = "sdist"  # the distribution does not tell; without a word, CMake would ask git

_X86 = ("SSE42", "AVX", "AVX2", "BMI2", "FMA", "F16C")
_NOT_X86 = ("AVX_VNNI", "AVX512", "AVX512_VBMI", "AVX512_VNNI", "AVX512_BF16")
_AMX = ("AMX_TILE", "AMX_INT8", "AMX_BF16")
_ARM = {"GGML_CPU_ARM_ARCH": "armv8.2-a+dotprod+fp16"}
PORTABLE: Mapping[str, Mapping[str, str]] = {
    "x86_64": {f"GGML_{name}": "ON" for name in _X86}
    | {f"GGML_{name}": "OFF" for name in (*_NOT_X86, *_AMX)},
    "aarch64": _ARM,
    "arm64": _ARM,
}
"""The instructions that a portable build uses, by machine; elsewhere only what all have."""

# One program, the server on the CPU, that asks nobody for anything while it is built.
_SETTINGS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_SKIP_RPATH": "ON",
    "BUILD_SHARED_LIBS": "OFF",
    "LLAMA_BUILD_TOOLS": "ON",
    "LLAMA_BUILD_SERVER": "ON",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
    "LLAMA_BUILD_APP": "OFF",
    "LLAMA_BUILD_UI": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "LLAMA_ALL_WARNINGS": "OFF",
    "GGML_CCACHE": "OFF",
    "GGML_OPENMP": "OFF",
    "GGML_METAL": "OFF",
    "GGML_BLAS": "OFF",
    "GGML_ACCELERATE": "OFF",
}
# No number that is drawn for the link, and no library of C++ that may be missing elsewhere.
_LINKING: Mapping[str, tuple[str, ...]] = {
    "linux": ("-Wl,--build-id=none", "-static-libstdc++", "-static-libgcc", "-s"),
}


@dataclass(frozen=True)
class Recipe:
    """What decides the program, besides the source and the tools.

    Attributes:
        settings: CMake's.
        linking: The linker's options.
        included: A file for CMake: the compilers' further options.
        cpu: For a build that is for this CPU only, what this CPU has.
    """

    settings: Mapping[str, str]
    linking: tuple[str, ...]
    included: str
    cpu: tuple[str, ...]

    @property
    def flags(self) -> str:
        """The settings and options as one line, as a receipt records them."""
        settings = [f"-D{name}={value}" for name, value in sorted(self.settings.items())]
        return " ".join([*settings, *self.linking])

    def arguments(self, source: Path, build: Path) -> list[str]:
        """Return CMake's arguments.

        Args:
            source: llama.cpp's folder.
            build: The folder to build in.
        """
        settings = {
            **self.settings,
            "CMAKE_C_FLAGS": "",
            "CMAKE_CXX_FLAGS": "",
            "CMAKE_EXE_LINKER_FLAGS": " ".join(self.linking),
            "CMAKE_PROJECT_llama.cpp_INCLUDE": str(INCLUDED),
        }
        return ["-S", str(source), "-B", str(build), "-G", "Ninja"] + [
            f"-D{name}={value}" for name, value in settings.items()
        ]


def recipe_for(pin: SourceEngine, machine: str, isa: tuple[str, ...]) -> Recipe:
    """Return how *pin* is built.

    Args:
        pin: The engine.
        machine: As `platform.machine` says.
        isa: The instruction sets that this CPU has.
    """
    native = pin.instructions == "native"
    return Recipe(
        settings={
            **_SETTINGS,
            "LLAMA_BUILD_NUMBER": str(pin.build),
            "LLAMA_BUILD_COMMIT": COMMIT,
            "GGML_NATIVE": "ON" if native else "OFF",
            **({} if native else PORTABLE.get(machine, {})),
        },
        linking=_LINKING.get(sys.platform, ()),
        included=INCLUDED.read_text(encoding="utf-8"),
        cpu=isa if native else (),
    )


def build_key(pin: SourceEngine, recipe: Recipe, versions: Mapping[str, str]) -> str:
    """Return the digest of all that decides the program: source, recipe, and tools.

    Args:
        pin: The engine.
        recipe: How it is built.
        versions: The tools, by name, as they call themselves.
    """
    decides = {
        "source": pin.sha256,
        "folder": pin.folder,
        "flags": recipe.flags,
        "included": recipe.included,
        "cpu": list(recipe.cpu),
        "tools": dict(versions),
    }
    return digest(decides)
