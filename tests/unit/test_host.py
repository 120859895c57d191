"""The machine is read quickly, within its limits, and names nobody."""

from __future__ import annotations

import getpass
import platform
import timeit
from pathlib import Path

import pytest

from generator.host import available_bytes, load, probe


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_this_machine_is_read_fast_and_without_names() -> None:
    assert min(timeit.repeat(probe, number=1, repeat=5)) < 0.2
    host = probe()
    text = host.model_dump_json()
    assert str(Path.home()) not in text.replace('"/"', "") or str(Path.home()) == "/"
    assert platform.node() not in text
    assert f'"{getpass.getuser()}"' not in text
    assert host.usable <= host.threads
    assert host.memory_bytes > 2**28


def test_processor_and_frequency_are_read(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        proc__cpuinfo="processor: 0\nmodel name : Some CPU\nflags : fma avx2\n\nmodel name : x",
        sys__devices__system__cpu__cpu0__cpufreq__scaling_governor="powersave\n",
        sys__devices__system__cpu__cpu0__cpufreq__cpuinfo_max_freq="3500000\n",
    )
    host = probe(root)
    assert (host.cpu, host.isa) == ("Some CPU", ["avx2", "fma"])
    assert (host.governor, host.mhz_max) == ("powersave", 3500.0)


def test_governors_that_differ_are_all_named(tmp_path: Path) -> None:
    governors = {"cpu0": "performance", "cpu1": "powersave", "cpu10": "performance"}
    root = write(
        tmp_path,
        **{
            f"sys__devices__system__cpu__{cpu}__cpufreq__scaling_governor": governor
            for cpu, governor in governors.items()
        },
    )
    assert probe(root).governor == "performance, powersave"


def test_memory_that_can_be_had_is_less_than_all() -> None:
    assert 0 < available_bytes() <= probe().memory_bytes


def test_arm_features_are_read(tmp_path: Path) -> None:
    root = write(tmp_path, proc__cpuinfo="processor\t: 0\nFeatures\t: fp asimd asimddp\n")
    assert probe(root).isa == ["asimd", "asimddp"]


def test_the_tightest_control_group_counts(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        proc__self__cgroup="0::/a/b\n",
        sys__fs__cgroup__a__b__cpuDOTmax="max 100000\n",
        sys__fs__cgroup__a__cpuDOTmax="150000 100000\n",
        sys__fs__cgroup__a__b__memoryDOTmax="2000\n",
        sys__fs__cgroup__a__memoryDOTmax="1000\n",
    )
    host = probe(root)
    assert (host.cpu_limit, host.memory_limit_bytes) == (1.5, 1000)


def test_old_control_groups_are_read(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        proc__self__cgroup="4:memory:/x\n",
        sys__fs__cgroup__cpu__cpuDOTcfs_quota_us="-1\n",
        sys__fs__cgroup__cpu__cpuDOTcfs_period_us="100000\n",
        sys__fs__cgroup__memory__memoryDOTlimit_in_bytes="9223372036854771712\n",
    )
    host = probe(root)
    assert (host.cpu_limit, host.memory_limit_bytes) == (None, None)


def test_a_machine_that_tells_nothing_is_no_error(tmp_path: Path) -> None:
    host = probe(tmp_path)
    assert (host.isa, host.cpu_limit, host.governor, host.mhz_max) == ([], None, None, None)
    assert host.cpu


def test_load_is_three_numbers() -> None:
    assert len([value for value in load() if value >= 0]) == 3


@pytest.mark.parametrize(
    ("inner", "outer", "old", "limit"),
    [
        ("50000 100000", "200000 100000", None, 0.5),
        ("200000 100000", "50000 100000", None, 0.5),
        ("200000 100000", "150000 100000", "100000", 1.0),
        ("200000 100000", "150000 100000", "400000", 1.5),
    ],
)
def test_of_several_processor_limits_the_tightest_counts(
    tmp_path: Path, inner: str, outer: str, old: str | None, limit: float
) -> None:
    root = write(
        tmp_path,
        proc__self__cgroup="0::/a/b\n",
        sys__fs__cgroup__a__b__cpuDOTmax=f"{inner}\n",
        sys__fs__cgroup__a__cpuDOTmax=f"{outer}\n",
    )
    if old is not None:
        write(
            tmp_path,
            sys__fs__cgroup__cpu__cpuDOTcfs_quota_us=old,
            sys__fs__cgroup__cpu__cpuDOTcfs_period_us="100000",
        )
    assert probe(root).cpu_limit == limit
