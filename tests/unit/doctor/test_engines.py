"""Engines: not here, not for this machine, built for another CPU, or not to be built at all."""

from __future__ import annotations

import pytest

from generator.doctor.isa import FLAGS, PORTABLE, told
from generator.doctor.view import Absence
from generator.engines import recipe
from generator.host import ISA_FLAGS
from tests.unit.doctor.machines import (
    ISA,
    PATH,
    SOURCE,
    WHEEL,
    found,
    make_needs,
    make_view,
    need_of,
    wheel_need,
)

ABSENT = Absence("not fetched yet", "receipts fetch", mendable=True)
HOPELESS = Absence("not for this machine", "pin another", mendable=False)


@pytest.mark.parametrize(
    ("absent", "verdict", "told"),
    [
        ({}, "good", "here"),
        ({WHEEL.name: ABSENT}, "warning", "not fetched yet"),
        ({WHEEL.name: HOPELESS}, "bad", "not for this machine"),
    ],
)
def test_engine_that_is_not_here(absent: dict[str, Absence], verdict: str, told: str) -> None:
    diagnosis = found(make_needs(wheel_need()), make_view(absent=absent))["engine some-wheel"]
    assert (diagnosis.verdict, diagnosis.found) == (verdict, told)


def test_engines_that_nothing_asks_for_are_passed_over() -> None:
    names = found(make_needs(wheel_need(declared=False)), make_view(absent={WHEEL.name: HOPELESS}))
    assert not [name for name in names if WHEEL.name in name]


@pytest.mark.parametrize(
    ("pin", "isa", "verdict"),
    [
        (WHEEL, ISA, "good"),
        (WHEEL, [flag for flag in ISA if flag != "fma"], "bad"),
        (PATH, ISA, "good"),
        (PATH, [flag for flag in ISA if flag != "fma"], "warning"),
    ],
)
def test_instructions_that_the_cpu_lacks(pin: object, isa: list[str], verdict: str) -> None:
    need = need_of(WHEEL if pin is WHEEL else PATH)
    diagnosis = found(make_needs(need), make_view(isa=isa))[f"instructions {need.pin.name}"]
    assert diagnosis.verdict == verdict
    assert ("lacks fma" in diagnosis.found) == (verdict != "good")


def test_a_portable_build_uses_what_its_recipe_says() -> None:
    wanted = {
        name.removeprefix("GGML_").lower()
        for name, value in recipe.PORTABLE["x86_64"].items()
        if value == "ON"
    }
    assert {flag.replace("_", "") for flag in PORTABLE["x86_64"]} == wanted
    diagnosis = found(make_needs(need_of(SOURCE, system=None)), make_view())
    assert diagnosis["instructions some-source"].verdict == "good"
    older = make_view(isa=[flag for flag in ISA if flag != "bmi2"])
    lacking = found(make_needs(need_of(SOURCE)), older)["instructions some-source"]
    assert (lacking.verdict, lacking.found) == ("bad", "this CPU lacks bmi2")


def test_a_build_for_this_very_cpu_lacks_nothing() -> None:
    native = SOURCE.model_copy(update={"instructions": "native"})
    view = make_view(isa=["sse4_2"])
    diagnosis = found(make_needs(need_of(native, system="CPU : AVX512 = 1")), view)
    assert diagnosis["instructions some-source"].verdict == "good"


NO_COMPILER = Absence("c++ cannot be found here", "apt-get install g++", mendable=False)


@pytest.mark.parametrize(
    ("compiler", "declared", "verdict", "told"),
    [
        (None, True, "good", "nothing to build"),
        ("g++ 12", True, "good", "g++ 12"),
        (NO_COMPILER, True, "bad", "c++ cannot be found"),
        (NO_COMPILER, False, "warning", "c++ cannot be found"),
    ],
)
def test_what_builds_engines(
    compiler: str | Absence | None, declared: bool, verdict: str, told: str
) -> None:
    needs = make_needs(need_of(SOURCE, declared=declared), wheel_need())
    view = make_view(compiler=compiler, absent={SOURCE.name: ABSENT})
    diagnosis = found(needs, view)["compiler"]
    assert (diagnosis.verdict, told in diagnosis.found) == (verdict, True)


@pytest.mark.parametrize(
    ("system", "isa", "told"),
    [
        (None, ISA, "what it was built for is not known"),
        ("CPU : OPENMP = 1", ISA, "what it was built for is not known"),
        ("CPU : AVX2 = 1", [], "what this CPU has is not known"),
    ],
)
def test_instructions_that_nobody_told(system: str | None, isa: list[str], told: str) -> None:
    needs = make_needs(wheel_need(system=system))
    diagnosis = found(needs, make_view(isa=isa))["instructions some-wheel"]
    assert (diagnosis.verdict, diagnosis.found) == ("warning", told)
    assert "SIGILL" in diagnosis.remedy


def test_a_build_s_own_words_become_cpu_flags() -> None:
    assert told("CPU : SSSE3 = 1 | AVX512 = 1 | AVX2 = 0 | SVE_CNT = 16 | REPACK = 1") == [
        "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "ssse3",
    ]  # fmt: skip
    assert {flag for flags in FLAGS.values() for flag in flags} <= set(ISA_FLAGS)
