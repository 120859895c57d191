"""Engines from source: a tiny server built for real, by the real cmake, ninja and compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator import host
from generator.engines.base import Obtained
from generator.engines.build import failure, jobs
from generator.engines.obtain import present
from generator.engines.source import obtain
from generator.errors import FetchError
from generator.models.store import Store
from tests.unit.engines.sdist_maker import FILES, make_sdist, pin_of, stocked
from tests.unit.models.heard import Heard

SDIST = make_sdist()
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Made:
    """What came of a build: the engine, its store, and what was heard on the way."""

    obtained: Obtained
    store: Store
    heard: Heard


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Build it in a folder with an odd name, inside a git repository."""
    folder = tmp_path_factory.mktemp("it's a cache")
    subprocess.run(["git", "init", "-q", folder], check=True)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    commit = ["git", "-C", str(folder), *identity, "commit", "-q", "--allow-empty", "-m", "1"]
    subprocess.run(commit, check=True)
    store, heard = stocked(folder / "store", SDIST), Heard()
    return Made(obtain(pin_of(SDIST), store, heard), store, heard)


def program_of(store: Store) -> Path:
    (program,) = store.root.glob("engines/*/*/llama-server")
    return program


def says(store: Store) -> str:
    return subprocess.run([program_of(store)], capture_output=True, text=True, check=True).stdout


def test_it_is_built_as_pinned_and_nothing_of_the_way_there_is_left(made: Made) -> None:
    told = says(made.store)
    assert "build 7, commit sdist" in told
    assert "native: OFF" in told
    assert "parsers: 12" in told
    assert list((made.store.root / "builds").iterdir()) == []
    assert list((made.store.root / "scratch").iterdir()) == []
    assert present(pin_of(SDIST), made.store, ROOT)


def test_every_step_is_told(made: Made) -> None:
    assert made.heard.labels == [
        "tiny: unpacking",
        "tiny: configuring the build",
        "tiny: compiling",
        "tiny: llama-server: verifying",
    ]
    assert made.heard.bytes == made.heard.total > 0
    assert made.heard.ended == len(made.heard.labels)


def test_the_receipt_gets_the_program_and_how_it_was_built(made: Made) -> None:
    (file,) = made.obtained.files
    program = program_of(made.store)
    assert (file.name, file.bytes) == ("llama-server", program.stat().st_size)
    assert file.sha256 == made.store.digest(program)
    assert made.obtained.origin_sha256 == pin_of(SDIST).sha256
    built = made.obtained.built
    assert built["instructions"] == "portable"
    assert "-DLLAMA_BUILD_NUMBER=7" in built["flags"]
    assert built.keys() >= {"c_compiler", "compiler", "linker", "libc", "cmake", "ninja"}
    assert str(made.store.root) not in str(built)
    assert "cpu" not in built


def test_two_builds_in_two_folders_are_one_file(made: Made, tmp_path: Path) -> None:
    store = stocked(tmp_path / "plain", SDIST)
    again = obtain(pin_of(SDIST), store, Heard())
    assert again.files == made.obtained.files
    assert "file: llama.cpp/main.cpp" in says(store)
    assert "commit: []" in says(made.store)


def test_what_these_tools_built_is_not_built_again(made: Made) -> None:
    heard = Heard()
    assert obtain(pin_of(SDIST), made.store, heard).files == made.obtained.files
    assert heard.labels == []


def test_what_was_built_serves_where_the_tools_are_gone(
    made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert obtain(pin_of(SDIST), made.store, Heard()).files == made.obtained.files
    with pytest.raises(FetchError, match=r"tiny is built from source, and cc, c\+\+"):
        obtain(pin_of(SDIST, instructions="native"), made.store, Heard())


def test_a_changed_program_is_not_used(made: Made, tmp_path: Path) -> None:
    store = Store(shutil.copytree(made.store.root, tmp_path / "store"))
    assert obtain(pin_of(SDIST), store, Heard()).files == made.obtained.files
    program = program_of(store)
    program.chmod(0o755)
    with program.open("ab") as file:
        file.write(b"!")
    with pytest.raises(FetchError, match="tiny: llama-server is not the file"):
        obtain(pin_of(SDIST), store, Heard())


def test_a_native_build_is_marked(tmp_path: Path) -> None:
    store = stocked(tmp_path / "store", SDIST)
    pin = pin_of(SDIST, instructions="native")
    built = obtain(pin, store, Heard()).built
    assert "native: ON" in says(store)
    assert built["instructions"] == "native"
    assert built["cpu"] == " ".join(host.probe().isa)
    assert present(pin, store, ROOT)
    assert not present(pin_of(SDIST), store, ROOT)


def test_without_tools_it_is_told_what_to_install_and_what_else_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match="cannot be found here") as caught:
        obtain(pin_of(SDIST), stocked(tmp_path / "store", SDIST), Heard())
    text = str(caught.value)
    for words in ("apt-get install g++", "dnf install gcc-c++", "xcode-select", "embedded engine"):
        assert words in text


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("compiler", "what"),
    [
        (
            "case $1 in *version) echo cxx 4.2;; *) echo old >&2; exit 1; esac",
            "cxx 4.2: it does not",
        ),
        ("case $1 in *version) ;; esac", "--version fails"),
        ("echo 'licence expired' >&2; exit 3", "licence expired"),
    ],
)
def test_a_compiler_that_will_not_do_is_told(
    compiler: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", script(tmp_path / "cxx", compiler))
    with pytest.raises(FetchError) as caught:
        obtain(pin_of(SDIST), stocked(tmp_path / "store", SDIST), Heard())
    assert what in str(caught.value)


def test_a_step_that_fails_is_shown_and_its_log_named(tmp_path: Path) -> None:
    sdist = make_sdist({"parsers/second.cpp": "#error broken on purpose\n"})
    store = stocked(tmp_path / "store", sdist)
    with pytest.raises(FetchError, match="compiling it failed") as caught:
        obtain(pin_of(sdist), store, Heard())
    (log,) = store.root.glob("builds/*/build.log")
    assert str(log) in caught.value.remedy
    assert any("broken on purpose" in line for line in caught.value.details)
    assert "broken on purpose" in log.read_text()


def test_a_configuration_that_fails_is_shown(tmp_path: Path) -> None:
    sdist = make_sdist({"CMakeLists.txt": 'project("x")\nmessage(FATAL_ERROR "no way")\n'})
    with pytest.raises(FetchError, match="configuring it failed") as caught:
        obtain(pin_of(sdist), stocked(tmp_path / "store", sdist), Heard())
    assert any("no way" in line for line in caught.value.details)


def test_another_folder_than_pinned_is_refused(tmp_path: Path) -> None:
    store = stocked(tmp_path / "store", SDIST)
    with pytest.raises(FetchError, match=r"no llama\.cpp at tiny_server-7\.0\.0/elsewhere"):
        obtain(pin_of(SDIST, folder="tiny_server-7.0.0/elsewhere"), store, Heard())


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("main.cpp", "BUILD)", "BUILD + 1)", "says that it is build 8, and build 7 is pinned"),
        ("CMakeLists.txt", "${COMMIT}", "${CMAKE_BINARY_DIR}", "the name of its folder inside"),
    ],
)
def test_a_program_that_is_not_as_it_must_be_is_refused(
    file: str, old: str, new: str, what: str, tmp_path: Path
) -> None:
    sdist = make_sdist({file: FILES[file].replace(old, new)})
    store = stocked(tmp_path / "store", sdist)
    with pytest.raises(FetchError, match=what):
        obtain(pin_of(sdist), store, Heard())
    assert not present(pin_of(sdist), store, ROOT)


def test_a_record_that_cannot_be_read_is_told(made: Made, tmp_path: Path) -> None:
    store = Store(shutil.copytree(made.store.root, tmp_path / "store"))
    (record,) = store.root.glob("engines/*/*/built.json")
    record.write_text("{}")
    with pytest.raises(FetchError, match="was built cannot be read") as caught:
        obtain(pin_of(SDIST), store, Heard())
    assert str(record.parent) in caught.value.remedy


def test_a_store_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    store = stocked(tmp_path / "store", SDIST)
    (store.root / "builds").write_text("in the way")
    with pytest.raises(FetchError, match="tiny could not be stored"):
        obtain(pin_of(SDIST), store, Heard())


class Interrupting(Heard):
    """Progress that interrupts the work at its first step."""

    def advance(self, count: int) -> None:
        super().advance(count)
        raise KeyboardInterrupt


def test_a_build_that_is_interrupted_ends_its_tools_and_is_gone_on_with(tmp_path: Path) -> None:
    sdist = make_sdist({"gate.sh": "exec sleep 60\n"})
    store = stocked(tmp_path / "store", sdist)
    with pytest.raises(KeyboardInterrupt):
        obtain(pin_of(sdist), store, Interrupting())
    (source,) = store.root.glob("builds/*/source/*/llama.cpp")
    (source / "gate.sh").chmod(0o644)
    (source / "gate.sh").write_text("exit 0\n")
    heard = Heard()
    obtain(pin_of(sdist), store, heard)
    assert "tiny: unpacking" not in heard.labels
    assert not any("waiting" in label for label in heard.labels)  # for nobody who was left behind


@dataclass
class Builder:
    """A process that builds, and what it says."""

    process: subprocess.Popen[str]

    def until(self, words: str) -> None:
        for line in self.process.stderr or ():
            if words in line:
                return
        raise AssertionError(f"it never said {words!r}")

    def end(self) -> str:
        out, err = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, err
        return out + err


BUILDER = """
import sys
from pathlib import Path
from generator.cli.progress import Reporter
from generator.engines.source import obtain
from generator.models.store import Store
from generator.pin_types import SourceEngine

pin = SourceEngine.model_validate_json(sys.argv[1])
with Reporter() as reporter:
    print(obtain(pin, Store(Path(sys.argv[2])), reporter).files[0].sha256)
"""


@pytest.fixture
def builders() -> Iterator[list[Builder]]:
    started: list[Builder] = []
    yield started
    for builder in started:
        builder.process.kill()
        builder.process.communicate()


def test_a_killed_build_is_gone_on_with_and_two_at_once_build_once(
    tmp_path: Path, builders: list[Builder]
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    sdist = make_sdist({"gate.sh": f"timeout 60 cat '{gate}'\n"})
    store, pin = stocked(tmp_path / "store", sdist), pin_of(sdist)

    def start() -> Builder:
        command = [sys.executable, "-c", BUILDER, pin.model_dump_json(), str(store.root)]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        builders.append(Builder(process))
        return builders[-1]

    first = start()
    with gate.open("wb"):  # opens when the build has come to it
        first.process.kill()
        first.process.wait()
        second = start()
        second.until("waiting for another process that builds it")  # for the step left behind
    second.until("configuring the build")
    with gate.open("wb"):
        third = start()
        third.until("waiting for another process that builds it")

    said = [second.end(), third.end()]
    assert "compiling: 3 steps" in said[0]  # the gate, the program, and its link: no parser again
    assert "compiling" not in said[1]
    assert said[0].splitlines()[0] in said[1]
    assert list((store.root / "builds").iterdir()) == []


def test_as_many_jobs_as_cpus_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = host.probe().model_copy(update={"usable": 8, "cpu_limit": 3.5})
    monkeypatch.setattr(host, "probe", lambda: machine)
    for available, expected in ((64 << 30, 4), (2 << 30, 2), (1 << 20, 1)):
        monkeypatch.setattr(host, "available_bytes", lambda got=available: got)
        assert jobs() == expected


def test_of_a_failure_the_first_is_shown_without_its_command() -> None:
    said = ["[1/9] a", "FAILED: b.o", "c++ -Iverylong", "b.cpp:1: error: x", "[2/9] c", "ninja: st"]
    assert failure(said) == ["FAILED: b.o", "b.cpp:1: error: x"]
    assert failure(["one", "", "two"]) == ["one", "two"]
