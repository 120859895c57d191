"""What the doctor reads: of declarations and receipts, and of a machine."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from generator import host
from generator.cli import invoke
from generator.doctor import Needs, View, needs_of, room
from generator.doctor import look as reading
from generator.doctor.look import look
from generator.doctor.view import Absence
from generator.engines.source import ROOM_PER_BYTE
from generator.engines.toolchain import Toolchain
from generator.evidence import declare, read_receipts
from generator.models.store import Store
from generator.pin_types import EnginePin, ModelPin
from generator.pins import load_pins
from tests.factory import make_host
from tests.unit.doctor.machines import PATH, RELEASE, SOURCE, WHEEL

ENGINE = "tiny-engine"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store, which is not the user's."""
    monkeypatch.setenv("RECEIPTS_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


def seen(project: Path, environment: Mapping[str, str] | None = None) -> View:
    declarations = [declare(project, "small")]
    return look(project, load_pins(project), declarations, environment or {})


def needed(project: Path, arch: str = "x86_64") -> Needs:
    declaration = declare(project, "small")
    receipts = read_receipts(project, declaration).values()
    return needs_of(load_pins(project), [declaration], receipts, arch)


def program(folder: Path, name: str, text: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_threads_that_read_the_prompt_count_too(project: Path) -> None:
    assert needed(project).threads == 2
    path = project / "receipts/small.yaml"
    text = path.read_text().replace("cache_prompt: false", "{cache_prompt: false, x}", 1)
    path.write_text(text.replace("{cache_prompt: false, x}", "threads: 1\n    threads_batch: 9"))
    assert needed(project).threads == 9


def test_receipts_tell_of_memory_and_of_when_they_were_written(project: Path) -> None:
    needs = needed(project)
    assert (needs.peak_bytes, needs.written_at) == (200_000_000, "2026-01-02T03:05:06.000Z")
    shutil.rmtree(project / "receipts/small")
    needs = needed(project)
    assert (needs.peak_bytes, needs.written_at) == (0, None)


def test_what_a_build_said_counts_for_its_architecture_only(project: Path) -> None:
    path = project / "receipts/small/runs.json"
    receipt = json.loads(path.read_text())
    receipt["boots"][0]["effective"]["system"] = "CPU : AVX2 = 1"
    path.write_text(json.dumps(receipt))
    (engine,) = needed(project).engines
    assert (engine.pin.name, engine.declared, engine.system) == (ENGINE, True, "CPU : AVX2 = 1")
    assert needed(project, "aarch64").engines[0].system is None
    receipt["engines"][ENGINE]["origin_sha256"] = "0" * 64
    path.write_text(json.dumps(receipt))
    assert needed(project).engines[0].system is None


def test_an_engine_is_absent_until_it_is_fetched(project: Path, store: Path) -> None:
    absence = seen(project).absent[ENGINE]
    assert (absence.found, absence.remedy, absence.mendable) == (
        "not fetched yet", "receipts fetch", True,
    )  # fmt: skip
    pin = load_pins(project).engine(ENGINE)
    (digest,) = pin.origins
    (store / "engines" / digest).mkdir(parents=True)
    assert seen(project).absent == {}


def test_an_engine_for_another_machine_cannot_be_had(project: Path) -> None:
    path = project / "receipts/pins/engines.yaml"
    path.write_text(path.read_text().replace("linux-x86_64", "macos-arm64"))
    absence = seen(project).absent[ENGINE]
    assert not absence.mendable
    assert "only for macos-arm64" in absence.found


def test_a_program_that_is_not_there_is_no_engine(project: Path) -> None:
    path = project / "receipts/pins/engines.yaml"
    pin = {
        "type": "path", "title": "Mine", "path": "mine", "sha256": "0" * 64, "build": 1,
        "version": "1",
    }  # fmt: skip
    path.write_text(json.dumps({"engines": {ENGINE: pin}}))
    absence = seen(project).absent[ENGINE]
    assert (absence.found, absence.mendable) == ("there is no file at mine", False)
    (project / "mine").touch()
    assert seen(project).absent == {}


def with_source(project: Path) -> None:
    """Pin another engine, which is built here."""
    path = project / "receipts/pins/engines.yaml"
    fields = SOURCE.model_dump(mode="json", exclude={"name"})
    lines = [f"    {key}: {json.dumps(value)}\n" for key, value in fields.items()]
    path.write_text(f"{path.read_text()}  {SOURCE.name}:\n{''.join(lines)}")


def test_a_compiler_is_tried_where_there_is_something_to_build(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    tools = Toolchain("cc", "c++", "cmake", "ninja", {"compiler": "some compiler 1"}, "1")
    monkeypatch.setattr(reading, "find_toolchain", lambda _label: tools)
    monkeypatch.setattr(reading, "try_compiler", lambda *arguments: tried.append(arguments[-1]))
    assert (seen(project).compiler, tried) == (None, [])
    with_source(project)
    view = seen(project)
    assert view.absent[SOURCE.name].found == "not built yet"
    assert (view.compiler, tried) == ("some compiler 1", [SOURCE.name])


def test_without_a_compiler_it_is_said_what_to_install(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_source(project)
    monkeypatch.setenv("CXX", "no-such-compiler")
    compiler = seen(project).compiler
    assert isinstance(compiler, Absence)
    assert "no-such-compiler cannot be found here" in compiler.found
    assert "apt-get install g++ cmake ninja-build" in compiler.remedy


def with_model_at_an_address(project: Path) -> ModelPin:
    """Pin the model at an address instead of in place."""
    path = project / "receipts/pins/models.yaml"
    in_place, fetched = (
        "type: path\n      path: tiny.Q4_1.gguf",
        "type: url\n      urls: [http://a/b]",
    )
    path.write_text(path.read_text().replace(in_place, fetched))
    (model,) = load_pins(project).models.values()
    return model


def test_what_is_not_kept_takes_room(project: Path, store: Path) -> None:
    engine = 2000 + 2 * 1000  # the wheel, and its library twice
    assert seen(project).absent_bytes == engine  # the model is the user's, used in place
    model = with_model_at_an_address(project)
    assert seen(project).absent_bytes == engine + model.bytes
    kept = store / "sha256" / model.sha256[:2] / model.sha256
    kept.parent.mkdir(parents=True)
    kept.touch()
    (digest,) = load_pins(project).engine(ENGINE).origins
    (store / "engines" / digest).mkdir(parents=True)
    assert seen(project).absent_bytes == 0


@pytest.mark.parametrize(
    ("pin", "needed"),
    [(WHEEL, 1 + 2 * 1), (SOURCE, ROOM_PER_BYTE), (RELEASE, 2 * 9), (PATH, 0)],
)
def test_each_type_of_engine_takes_its_room(pin: EnginePin, needed: int) -> None:
    assert room.of_engine(pin) == needed


def test_packages_take_room_besides_the_model_in_them() -> None:
    part = {"distribution": "a", "version": "1", "bytes": 5, "sha256": "a" * 64, "member": "b"}
    source = {"type": "package", "parts": [part, {**part, "sha256": "b" * 64}]}
    pin = {
        "name": "m", "title": "M", "license": "MIT", "file": "m.gguf", "quantization": "Q4_1",
        "bytes": 9, "sha256": "c" * 64, "source": source,
    }  # fmt: skip
    assert room.of_model(ModelPin.model_validate_json(json.dumps(pin)), None) == 9 + 5 + 5


def test_a_store_that_cannot_be_made_is_a_finding(project: Path, store: Path) -> None:
    shutil.rmtree(store, ignore_errors=True)
    store.write_text("a file in its place")
    view = seen(project)
    assert view.store_fault is not None
    assert str(store) in view.store_fault
    assert ENGINE in view.absent


def test_a_store_that_is_read_only_is_a_finding(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seen(project).store_fault is None
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to any folder
    assert seen(project).store_fault == f"{Store.of_user().root} may not be written to"


def test_programs_are_looked_for_in_the_path(project: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    program(tools, "git")
    program(tools, "chromium")
    view = seen(project, {"PATH": str(tools)})
    assert (view.programs["git"], view.programs["jq"]) == (str(tools / "git"), None)
    assert view.browser == str(tools / "chromium")


def test_a_browser_of_playwright_s_own_counts(project: Path, tmp_path: Path) -> None:
    environment = {"PATH": "", "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "own")}
    assert seen(project, environment).browser is None
    (tmp_path / "own/chromium-1").mkdir(parents=True)
    assert seen(project, environment).browser == str(tmp_path / "own/chromium-1")


@pytest.mark.parametrize(
    ("script", "count"),
    [("echo A; echo B; echo A", 2), ("true", 0), ("exit 1", None), (None, None)],
)
def test_fonts_are_counted(
    project: Path, tmp_path: Path, script: str | None, count: int | None
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    if script is not None:
        program(tools, "fc-list", script)
    assert seen(project, {"PATH": str(tools)}).cjk_fonts == count


def test_only_proxies_are_taken_from_the_environment(project: Path) -> None:
    environment = {"https_proxy": "http://a", "NO_PROXY": "b", "HOME": "/x", "PATH": ""}
    assert seen(project, environment).environment == {"https_proxy": "http://a", "NO_PROXY": "b"}


def test_the_clock_is_compared_with_a_file_and_a_commit(project: Path) -> None:
    clock = seen(project).clock
    assert clock.commit is None
    assert abs(clock.now - time.time()) < 60
    assert clock.file is not None
    assert abs(clock.file - clock.now) < 60
    assert list(project.glob("tmp*")) == []


def test_the_last_commit_has_a_time(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_output", lambda command: "123\n" if "log" in command else None)
    assert seen(project).clock.commit == 123


@pytest.mark.parametrize(("usable", "code"), [(2, 0), (1, 6)])
def test_exit_code(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    usable: int,
    code: int,
) -> None:
    machine = make_host().model_copy(update={"usable": usable})
    monkeypatch.setattr(host, "probe", lambda: machine)
    monkeypatch.setattr(host, "load", lambda: [0.0, 0.0, 0.0])
    assert invoke(["--root", str(project), "doctor"]) == code
    captured = capsys.readouterr()
    assert ("not fit: threads" in captured.err) == (code == 6)
    assert "threads: 2 declared" in captured.out
    assert ("declare no more threads than CPUs" in captured.out) == (code == 6)
    assert invoke(["--root", str(project), "doctor", "--json"]) == code
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["threads"]["verdict"] == ("good" if code == 0 else "bad")
