"""The machine itself: too few processors, too little memory or room, a clock that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from generator.doctor.view import Clock
from tests.unit.doctor.machines import NOW, found, make_needs, make_view, wheel_need

HOUR = 3600.0


def test_a_machine_that_is_well_is_told_so() -> None:
    diagnoses = found(make_needs(wheel_need()), make_view())
    assert {name for name, d in diagnoses.items() if d.verdict != "good"} == set()
    assert all(d.found and d.remedy for d in diagnoses.values())


def test_a_machine_that_lacks_everything_is_given_a_remedy_for_each() -> None:
    view = make_view(
        usable=1,
        available_bytes=1,
        store_free=1,
        project_free=1,
        store_fault="a disk that is read-only",
        load=9.0,
        governor="powersave",
        programs=dict.fromkeys(make_view().programs),
        browser=None,
        cjk_fonts=0,
        environment={"http_proxy": "ftp://x"},
        clock=Clock(now=0.0, file=99.0, commit=NOW),
    )
    diagnoses = found(make_needs(wheel_need(system=None)), view)
    well = {name for name, d in diagnoses.items() if d.verdict == "good"}
    assert well == {"engine some-wheel", "compiler"}
    assert all(d.found and d.remedy for d in diagnoses.values())


@pytest.mark.parametrize(
    ("host", "verdict", "told"),
    [
        ({"usable": 2}, "good", "2 declared, 2 CPUs usable"),
        ({"usable": 1}, "bad", "2 declared, 1 CPUs usable"),
        ({"usable": 8, "cpu_limit": 1.5}, "bad", "1.5 CPUs usable (its control group"),
        ({"usable": 8, "cpu_limit": 2.0}, "good", "2 CPUs usable (its control group"),
        ({"usable": 2, "cpu_limit": 4.0}, "good", "2 CPUs usable"),
    ],
)
def test_more_threads_than_cpus(host: dict[str, Any], verdict: str, told: str) -> None:
    diagnosis = found(make_needs(), make_view(**host))["threads"]
    assert (diagnosis.verdict, told in diagnosis.found) == (verdict, True)


@pytest.mark.parametrize(
    ("needs", "view", "verdict"),
    [
        ({}, {}, "good"),
        ({}, {"available_bytes": 2_000_000_000}, "bad"),
        ({}, {"available_bytes": 2_600_000_000}, "good"),
        ({}, {"memory_limit_bytes": 2_000_000_000}, "bad"),
        ({"peak_bytes": 7_900_000_000}, {}, "good"),
        ({"peak_bytes": 8_100_000_000}, {}, "bad"),
        ({"model": None}, {"available_bytes": 1}, "good"),
    ],
)
def test_memory_for_the_largest_model(
    needs: dict[str, Any], view: dict[str, Any], verdict: str
) -> None:
    assert found(make_needs(**needs), make_view(**view))["memory"].verdict == verdict


def test_a_control_group_that_keeps_memory_back_is_named() -> None:
    memory = found(make_needs(), make_view(memory_limit_bytes=2_000_000_000))["memory"]
    assert "2.0 GB usable (its control group grants no more)" in memory.found
    assert "some-model" in memory.found


@pytest.mark.parametrize(
    ("view", "verdict"),
    [
        ({}, "good"),
        ({"project_free": 500_000_000}, "bad"),
        ({"store_free": 3_000_000_000, "absent_bytes": 1_000_000_000}, "good"),
        ({"store_free": 3_000_000_000, "absent_bytes": 2_500_000_000}, "bad"),
    ],
)
def test_room_for_what_is_yet_to_be_fetched(view: dict[str, Any], verdict: str) -> None:
    assert found(make_needs(), make_view(**view))["disk"].verdict == verdict


def test_a_store_that_may_not_be_written_to_names_the_way_out() -> None:
    store = found(make_needs(), make_view(store_fault="/cache may not be written to"))["store"]
    assert (store.verdict, store.found) == ("warning", "/cache may not be written to")
    assert "RECEIPTS_CACHE" in store.remedy


@pytest.mark.parametrize(("load", "verdict"), [(0.9, "good"), (1.0, "warning")])
def test_other_work_is_a_warning(load: float, verdict: str) -> None:
    assert found(make_needs(), make_view(load=load))["load"].verdict == verdict


@pytest.mark.parametrize(
    ("governor", "verdict"),
    [
        (None, "good"),
        ("performance", "good"),
        ("powersave", "warning"),
        ("performance, schedutil", "warning"),
    ],
)
def test_a_governor_that_saves_power_comes_with_a_command(
    governor: str | None, verdict: str
) -> None:
    diagnosis = found(make_needs(), make_view(governor=governor))["governor"]
    assert diagnosis.verdict == verdict
    assert "scaling_governor" in diagnosis.remedy


@pytest.mark.parametrize(
    ("clock", "verdict", "told"),
    [
        (Clock(NOW, NOW, NOW - HOUR), "good", "agrees"),
        (Clock(NOW, None, None), "good", "agrees"),
        (Clock(NOW, NOW - 1.0, None), "good", "agrees"),
        (Clock(NOW, NOW - 5.0, None), "bad", "5 s apart from the clock of the project's disk"),
        (Clock(NOW, NOW, NOW + 2 * HOUR), "bad", "2.0 h before the last commit"),
        (Clock(NOW - 3 * HOUR, None, None), "bad", "3.0 h before the newest receipt"),
        (Clock(NOW - 300.0, None, NOW), "good", "agrees"),
    ],
)
def test_a_clock_earlier_than_what_was_written_is_wrong(
    clock: Clock, verdict: str, told: str
) -> None:
    diagnosis = found(make_needs(), make_view(clock=clock))["clock"]
    assert (diagnosis.verdict, told in diagnosis.found) == (verdict, True), diagnosis


def test_without_receipts_the_clock_has_only_the_commit() -> None:
    clock = Clock(now=0.0, file=None, commit=None)
    assert found(make_needs(written_at=None), make_view(clock=clock))["clock"].verdict == "good"
