"""Instruction sets: what an engine's build uses, and which of them a CPU lacks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# What a source engine of portable instructions is compiled for, by architecture.
PORTABLE: Mapping[str, tuple[str, ...]] = {
    "x86_64": ("sse4_2", "avx", "avx2", "bmi2", "fma", "f16c"),
    "aarch64": ("asimd", "asimddp", "asimdhp"),
}
# ggml's word in an engine's `system` line, and the flags of /proc/cpuinfo that it stands for
FLAGS: Mapping[str, tuple[str, ...]] = {
    "SSSE3": ("ssse3",),
    "AVX": ("avx",),
    "AVX_VNNI": ("avx_vnni",),
    "AVX2": ("avx2",),
    "F16C": ("f16c",),
    "FMA": ("fma",),
    "BMI2": ("bmi2",),
    "AVX512": ("avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"),
    "AVX512_VBMI": ("avx512vbmi",),
    "AVX512_VNNI": ("avx512_vnni",),
    "AVX512_BF16": ("avx512_bf16",),
    "AMX_INT8": ("amx_tile", "amx_int8"),
    "NEON": ("asimd",),
    "ARM_FMA": ("asimd",),
    "FP16_VA": ("asimdhp",),
    "MATMUL_INT8": ("i8mm",),
    "DOTPROD": ("asimddp",),
    "SVE": ("sve",),
    "SME": ("sme",),
}
_FEATURE = re.compile(r"\b([A-Z][A-Z0-9_]*) = 1\b")


def told(system: str) -> list[str]:
    """Return the CPU flags that a build's `system` line stands for.

    Args:
        system: Such as `CPU : AVX2 = 1 | FMA = 1 | OPENMP = 1`; what is no instruction set in it
            is left out.
    """
    words = _FEATURE.findall(system)
    return sorted({flag for word in words for flag in FLAGS.get(word, ())})


def lacking(wanted: Sequence[str], cpu: Sequence[str]) -> list[str]:
    """Return what a CPU lacks of the wanted flags."""
    return [flag for flag in wanted if flag not in cpu]
