"""Tests of the doctor, on machines that are too small."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from generator import doctor, host
from generator.cli import invoke
from generator.doctor import Diagnosis, diagnose
from generator.evidence import declare
from generator.host import Host
from generator.pins import load_pins
from tests.factory import make_host


def looked_at(
    project: Path, machine: Host, environment: Mapping[str, str]
) -> Mapping[str, Diagnosis]:
    declarations = [declare(project, "small")]
    found = diagnose(project, load_pins(project), declarations, machine, environment)
    return {diagnosis.name: diagnosis for diagnosis in found}


def small(**fields: Any) -> Host:
    return make_host().model_copy(update=fields)


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"usable": 2}, "good"),
        ({"usable": 1}, "bad"),
        ({"usable": 8, "cpu_limit": 1.5}, "bad"),
        ({"usable": 8, "cpu_limit": 2.0}, "good"),
    ],
)
def test_more_threads_than_cpus(project: Path, fields: dict[str, Any], verdict: str) -> None:
    assert looked_at(project, small(**fields), {})["threads"].verdict == verdict


def test_threads_that_read_the_prompt_count_too(project: Path) -> None:
    path = project / "receipts/small.yaml"
    text = path.read_text().replace("cache_prompt: false", "{cache_prompt: false, x}", 1)
    path.write_text(text.replace("{cache_prompt: false, x}", "threads: 1\n    threads_batch: 9"))
    found = looked_at(project, make_host(), {})["threads"]
    assert (found.verdict, found.found) == ("bad", "9 declared, 2 CPUs usable")


@pytest.mark.parametrize(("limit", "verdict"), [(1_500_000, "bad"), (2_500_000, "good")])
def test_too_little_memory(project: Path, limit: int, verdict: str) -> None:
    found = looked_at(project, small(memory_limit_bytes=limit), {})["memory"]
    assert found.verdict == verdict


def test_too_little_disk(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 10

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage)
    assert looked_at(project, make_host(), {})["disk"].verdict == "bad"


def test_busy_machine(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "load", lambda: [5.0, 5.0, 5.0])
    assert looked_at(project, make_host(), {})["load"].verdict == "warning"


def test_missing_programs(project: Path, tmp_path: Path) -> None:
    found = looked_at(project, make_host(), {"PATH": str(tmp_path)})
    assert (found["git"].verdict, found["git"].found) == ("warning", "not found")
    assert "apt-get install git" in found["git"].remedy
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    assert looked_at(project, make_host(), {"PATH": str(tmp_path)})["git"].verdict == "good"


def test_engine_that_is_not_fetched(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = looked_at(project, make_host(), {})["engine tiny-engine"]
    assert (found.verdict, found.remedy) == ("warning", "receipts fetch")


def test_engine_for_another_machine(project: Path) -> None:
    path = project / "receipts/pins/engines.yaml"
    path.write_text(path.read_text().replace("linux-x86_64", "macos-arm64"))
    assert looked_at(project, make_host(), {})["engine tiny-engine"].verdict == "bad"


def test_proxies_are_named(project: Path) -> None:
    environment = {"https_proxy": "http://secret@proxy", "HTTP_PROXY": "x", "PATH": ""}
    assert looked_at(project, make_host(), environment)["proxy"].found == "HTTP_PROXY, https_proxy"


def test_every_diagnosis_has_a_remedy(project: Path) -> None:
    assert all(d.found and d.remedy for d in looked_at(project, make_host(), {}).values())


@pytest.mark.parametrize(("usable", "code"), [(2, 0), (1, 6)])
def test_exit_code(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    usable: int,
    code: int,
) -> None:
    monkeypatch.setattr(host, "probe", lambda: small(usable=usable))
    monkeypatch.setattr(doctor, "load", lambda: [0.0, 0.0, 0.0])
    assert invoke(["--root", str(project), "doctor"]) == code
    captured = capsys.readouterr()
    assert ("not fit: threads" in captured.err) == (code == 6)
    assert "threads: 2 declared" in captured.out
    assert ("declare no more threads than CPUs" in captured.out) == (code == 6)
    assert invoke(["--root", str(project), "doctor", "--json"]) == code
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["threads"]["verdict"] == ("good" if code == 0 else "bad")
