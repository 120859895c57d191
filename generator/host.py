"""The machine: what may change an answer or its speed, and nothing that names anybody."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import psutil

from generator.schema import Count, Model, NonEmpty

# What ggml chooses its kernels by.
ISA_FLAGS = (
    *("ssse3", "sse4_1", "sse4_2", "avx", "avx2", "avx_vnni", "bmi2", "f16c", "fma"),
    *("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512_vnni"),
    *("avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"),
    *("asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2", "sme"),
)
NO_LIMIT = 1 << 60


class Host(Model):
    """A machine, as far as it matters to a measurement.

    Attributes:
        cpu: The processor's name.
        isa: Instruction sets that ggml makes use of and the processor has.
        cores: Physical cores; `threads` counts logical ones.
        usable: Logical processors that this process may run on.
        cpu_limit: Processors' worth of time that the cgroup grants, if it limits it.
        memory_bytes: Memory of the machine; `memory_limit_bytes` what the cgroup grants.
        governor: The frequency governor, or all of them if processors have different ones;
            `mhz_max` is the highest frequency. Both are null where they cannot be read.
    """

    cpu: NonEmpty
    isa: list[str]
    cores: Count | None
    threads: Count
    usable: Count
    cpu_limit: float | None
    memory_bytes: Count
    memory_limit_bytes: Count | None
    governor: str | None
    mhz_max: float | None
    arch: NonEmpty
    os: NonEmpty
    kernel: NonEmpty
    libc: NonEmpty
    python: NonEmpty


class Machine(Model):
    """What of a host may change the bits of an answer; two hosts that agree in it are one machine.

    Not among it are memory, frequency and load, which change speed alone, and the kernel and the
    names of the system's release, which a reboot of the same machine may renew.
    """

    cpu: NonEmpty
    isa: list[str]
    arch: NonEmpty
    usable: Count
    cpu_limit: float | None
    libc: NonEmpty


def machine(host: Host) -> Machine:
    """Return what of a host may change the bits of an answer; pure."""
    return Machine(
        cpu=host.cpu,
        isa=host.isa,
        arch=host.arch,
        usable=host.usable,
        cpu_limit=host.cpu_limit,
        libc=host.libc,
    )


def probe(root: Path = Path("/")) -> Host:
    """Read the machine.

    Args:
        root: Where `proc` and `sys` lie; tests bring their own.
    """
    info = _cpuinfo(root)
    flags = set(f"{info.get('flags', '')} {info.get('Features', '')}".split())
    threads = psutil.cpu_count(logical=True) or 1
    frequency = _read(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    return Host(
        cpu=info.get("model name") or platform.processor() or platform.machine(),
        isa=[flag for flag in ISA_FLAGS if flag in flags],
        cores=psutil.cpu_count(logical=False),
        threads=threads,
        usable=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads,
        cpu_limit=_cpu_limit(root),
        memory_bytes=psutil.virtual_memory().total,
        memory_limit_bytes=_memory_limit(root),
        governor=_governor(root),
        mhz_max=int(frequency) / 1000 if frequency else None,
        arch=platform.machine(),
        os=_os_name(),
        kernel=f"{platform.system()} {platform.release()}",
        libc=" ".join(platform.libc_ver()).strip() or "unknown",
        python=f"{platform.python_implementation()} {platform.python_version()}",
    )


def load() -> list[float]:
    """Return how many processes wanted to run, on average over the last 1, 5 and 15 minutes."""
    return [round(value, 2) for value in psutil.getloadavg()]


def available_bytes() -> int:
    """Return how much memory can be had without swapping."""
    return int(psutil.virtual_memory().available)


def _governor(root: Path) -> str | None:
    cpus = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return ", ".join(sorted({name for path in cpus if (name := _read(path))})) or None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _cpuinfo(root: Path) -> dict[str, str]:
    """Return what the first processor says of itself."""
    first = (_read(root / "proc/cpuinfo") or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _cgroups(root: Path) -> Sequence[Path]:
    """Return our control group and those above it: each may set a limit."""
    lines = (_read(root / "proc/self/cgroup") or "").splitlines()
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    top = root / "sys/fs/cgroup"
    return [top / own, *(parent for parent in (top / own).parents if parent.is_relative_to(top))]


def _cpu_limit(root: Path) -> float | None:
    limits: list[float] = []
    for group in _cgroups(root):
        quota, _, period = (_read(group / "cpu.max") or "max").partition(" ")
        if quota.isdigit() and period.isdigit():
            limits.append(int(quota) / int(period))
    old = root / "sys/fs/cgroup/cpu"
    quota, period = _read(old / "cpu.cfs_quota_us") or "", _read(old / "cpu.cfs_period_us") or ""
    if quota.isdigit() and period.isdigit():
        limits.append(int(quota) / int(period))
    return min(limits, default=None)


def _memory_limit(root: Path) -> int | None:
    values = [_read(group / "memory.max") for group in _cgroups(root)]
    values.append(_read(root / "sys/fs/cgroup/memory/memory.limit_in_bytes"))
    limits = [int(value) for value in values if value and value.isdigit()]
    return min((limit for limit in limits if limit < NO_LIMIT), default=None)


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.platform(terse=True)
