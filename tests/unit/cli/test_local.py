"""A run on the user's own llama-server: found, pinned for the run, or pinned anew for good."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import pytest

from generator.cli import invoke
from generator.cli.local import first_engine, located, with_own
from generator.engines.path import obtain
from generator.errors import FetchError
from generator.models.progress import NoProgress
from generator.models.store import Store
from generator.pin_types import LOCAL_ENGINE, PathEngine
from generator.pins import ENGINES_FILE, load_pins
from generator.upgrade.wishes import Bench
from generator.upgrade.writing import write_new
from tests.project import FIXTURE


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "project"
    shutil.copytree(FIXTURE, root)
    return Bench(root, Store(tmp_path / "store"), NoProgress())


def test_one_engine_takes_the_first_one_s_place() -> None:
    assert first_engine(None, None) is None
    assert first_engine("a-pin", None) == "a-pin"
    assert first_engine(None, "/bin/llama-server") == LOCAL_ENGINE
    with pytest.raises(click.UsageError, match="not both"):
        first_engine("a-pin", "/bin/llama-server")


def test_both_together_are_wrong_usage(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LLAMA_SERVER", "/bin/llama-server")
    assert invoke(["--root", str(bench.root), "run", "--engine", "tiny-engine"]) == 2
    assert "give --engine or LLAMA_SERVER" in capsys.readouterr().err


def test_a_program_is_found_by_path_or_name(
    builds: dict[int, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = builds[6543] / "llama-server"
    monkeypatch.setenv("PATH", str(builds[6543]))
    monkeypatch.chdir(tmp_path)
    assert located("llama-server") == program
    assert located(str(program)) == program
    assert located("bin/llama-server") == tmp_path / "bin/llama-server"
    assert located("no-such-server") == tmp_path / "no-such-server"


def test_a_server_that_no_pin_names_is_marked(
    bench: Bench, builds: dict[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = (bench.root / ENGINES_FILE).read_text()
    program = str(builds[6543] / "llama-server")
    pins = with_own(load_pins(bench.root), program, set(), bench)
    pin = pins.engine(LOCAL_ENGINE)
    assert isinstance(pin, PathEngine)
    assert (pin.build, pin.path) == (6543, program)
    assert pins.engine("tiny-engine").build == 3
    built = obtain(pin, bench.store, bench.root).built
    assert built["pinned"] == "when it was measured, by LLAMA_SERVER"
    assert "No pin names it" in capsys.readouterr().err
    assert (bench.root / ENGINES_FILE).read_text() == before


def test_a_server_that_is_not_there(bench: Bench) -> None:
    with pytest.raises(FetchError, match="there is no file at /gone/llama-server"):
        with_own(load_pins(bench.root), "/gone/llama-server", set(), bench)


def test_a_server_that_was_rebuilt_is_pinned_anew_and_what_changed_is_shown(
    bench: Bench, builds: dict[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = bench.root / "bin"
    shutil.copytree(builds[6543], place, symlinks=True)
    path = str(place / "llama-server")
    own = with_own(load_pins(bench.root), path, set(), bench).engine(LOCAL_ENGINE)
    write_new(bench.root, own.model_copy(update={"name": "mine"}))
    pins = load_pins(bench.root)
    used = {"mine", "tiny-engine", LOCAL_ENGINE}
    capsys.readouterr()
    assert with_own(pins, None, used, bench) == pins
    assert capsys.readouterr().err == "mine: as it is pinned\n"
    shutil.rmtree(place)
    shutil.copytree(builds[6600], place, symlinks=True)
    renewed = with_own(pins, None, used, bench)
    told = capsys.readouterr().err.splitlines()
    assert told[-1] == "mine: pinned anew"
    assert "mine: build: 6543 → 6600" in told
    assert renewed.engine("mine").build == 6600
    assert load_pins(bench.root) == renewed
    assert obtain_by_name(bench, "mine") == 6600
    assert with_own(pins, None, set(), bench) == pins


def obtain_by_name(bench: Bench, name: str) -> int:
    pin = load_pins(bench.root).engine(name)
    assert isinstance(pin, PathEngine)
    return obtain(pin, bench.store, bench.root).build
