"""How an engine is built: what is recorded, and what makes it another build."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generator.doctor.isa import PORTABLE as PROMISED
from generator.engines.recipe import PORTABLE, build_key, recipe_for
from tests.unit.engines.sdist_maker import make_sdist, pin_of

PIN = pin_of(make_sdist())
TOOLS = {"compiler": "c++ 12.2.0", "cmake": "4.4.5"}


def test_portable_is_a_fixed_set_and_native_is_none() -> None:
    portable = recipe_for(PIN, "x86_64", ("avx2", "avx512f"))
    native = recipe_for(pin_of(make_sdist(), instructions="native"), "x86_64", ("avx2", "avx512f"))
    assert portable.settings["GGML_NATIVE"] == "OFF"
    assert portable.settings["GGML_AVX2"] == "ON"
    assert portable.settings["GGML_AVX512"] == "OFF"
    assert portable.cpu == ()
    assert native.settings["GGML_NATIVE"] == "ON"
    assert "GGML_AVX2" not in native.settings
    assert native.cpu == ("avx2", "avx512f")


def test_a_portable_build_uses_what_the_doctor_looks_for() -> None:
    used = {n.removeprefix("GGML_").lower() for n, on in PORTABLE["x86_64"].items() if on == "ON"}
    assert used == {flag.replace("_", "") for flag in PROMISED["x86_64"]}


@pytest.mark.parametrize("machine", ["aarch64", "arm64", "riscv64"])
def test_other_machines_have_a_set_of_their_own(machine: str) -> None:
    settings = recipe_for(PIN, machine, ()).settings
    assert settings["GGML_NATIVE"] == "OFF"
    assert "GGML_AVX2" not in settings
    assert ("GGML_CPU_ARM_ARCH" in settings) == (machine != "riscv64")


def test_what_is_recorded_names_no_folder_and_what_cmake_gets_does() -> None:
    recipe = recipe_for(PIN, "x86_64", ())
    arguments = recipe.arguments(Path("/a b/source"), Path("/a b/build"))
    assert "/" not in recipe.flags
    assert recipe.flags.endswith("-s")
    assert arguments[:4] == ["-S", "/a b/source", "-B", "/a b/build"]
    assert set(recipe.flags.split()) & set(arguments)


def test_whatever_decides_the_program_makes_another_build() -> None:
    recipe = recipe_for(PIN, "x86_64", ("avx2",))
    keys = {
        build_key(PIN, recipe, TOOLS),
        build_key(PIN, recipe, {**TOOLS, "compiler": "c++ 13.1.0"}),
        build_key(PIN, recipe, {**TOOLS, "cmake": "3.25.1"}),
        build_key(PIN, replace(recipe, included=f"{recipe.included}\n"), TOOLS),
        build_key(PIN, replace(recipe, settings={**recipe.settings, "X": "1"}), TOOLS),
        build_key(PIN, replace(recipe, cpu=("avx512f",)), TOOLS),
        build_key(PIN.model_copy(update={"sha256": "1" * 64}), recipe, TOOLS),
    }
    assert len(keys) == 7
    assert build_key(PIN, recipe_for(PIN, "x86_64", ()), TOOLS) in keys  # this CPU does not matter
