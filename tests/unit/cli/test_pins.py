"""Tests of `receipts pins`: what a renewal shows, what it writes, and what it leaves alone."""

from __future__ import annotations

import difflib
import io
import json
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gguf import LlamaFileType

from generator.cli import invoke
from generator.errors import InputError
from generator.pins import ENGINES_FILE, MODELS_FILE, load_pins, platform_name
from generator.upgrade.writing import write_changes
from tests.unit.engines.sdist_maker import make_sdist
from tests.unit.models.file_server import Served, serving
from tests.unit.models.test_metadata import write_model
from tests.unit.models.wheel_maker import digest, make_wheel

HERE = platform_name()
OTHER = "macos-arm64" if HERE != "macos-arm64" else "linux-x86_64"
OLD = "0" * 64
LIBRARY = b"\x7fELF a library"
ENGINES = f"""\
# Engines, with what is to be known of them.
engines:
  # The embedded one.
  wheel-b6:
    type: wheel
    title: Tiny b6
    license: MIT
    distribution: tiny-engine
    version: "1.0.6"  # as a text
    build: 6
    artifacts:
      {HERE}:
        wheel: tiny_engine-1.0.6-py3-none-any.whl
        bytes: 1
        sha256: "{OLD}"
        record_sha256: "{OLD}"
        library: tiny_engine/lib.so
        library_bytes: 1
        library_sha256: "{OLD}"

  source:
    type: source
    title: Tiny b6 from source
    license: MIT
    distribution: tiny-server
    version: "6.0.0"
    build: 6
    bytes: 1  # it grows
    sha256: "{OLD}"
    folder: tiny_server-6.0.0/llama.cpp

  # The released one.
  release:
    type: url
    title: Tiny b6543 as released
    license: MIT
    build: 6543
    archives:
      {HERE}:
        urls:
          - URL/b6543/llama-b6543-bin.tar.gz
          - URL/mirror/llama-b6543-bin.tar.gz  # slower
        bytes: 1
        sha256: "{OLD}"
        member: llama-b6543/llama-server
"""
MODELS = f"""\
models:
  by-address:
    title: Tiny (F32)
    license: MIT
    file: tiny.gguf
    quantization: F32
    bytes: 1
    sha256: "{OLD}"
    source:
      type: url
      urls:
        - URL/tiny.gguf  # the only place
  by-package:
    title: Tiny (F32)
    license: MIT
    file: tiny.gguf
    quantization: F32
    bytes: 1
    sha256: "{OLD}"
    source:
      type: package
      parts:
        - distribution: tiny-part1
          version: "1.0.6"
          bytes: 1
          sha256: "{OLD}"
          member: tiny_part1/a.part00
        - distribution: tiny-part2
          version: "1.0.6"
          bytes: 1
          sha256: "{"1" * 64}"
          member: tiny_part2/a.part01
"""
Told = tuple[int, list[str], str]
Pins = Callable[..., Told]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Served]:
    """Serve one file at any address, and an index of packages to pip."""
    with serving(Served(b"")) as server:
        base = server.url.removesuffix("/model.gguf")
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{base}/simple")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("RECEIPTS_CACHE", str(tmp_path / "store"))
        yield server


def offer(served: Served, file: str, body: bytes) -> None:
    """Put a file into the index."""
    name = file.partition("-")[0].replace("_", "-")
    served.pages[f"/simple/{name}/"] = f'<a href="/files/{file}">{file}</a>'.encode()
    served.pages[f"/files/{file}"] = body


@pytest.fixture
def root(served: Served, tmp_path: Path) -> Path:
    base = served.url.removesuffix("/model.gguf")
    root = tmp_path / "project"
    (root / "receipts/pins").mkdir(parents=True)
    (root / ENGINES_FILE).write_text(ENGINES.replace("URL", base))
    (root / MODELS_FILE).write_text(MODELS.replace("URL", base))
    (root / "receipts/small.yaml").write_text("defaults: {engine: wheel-b6}\n")
    return root


@pytest.fixture
def pins(root: Path, capsys: pytest.CaptureFixture[str]) -> Pins:
    """Return a function that runs a command of `receipts pins`."""

    def run(*arguments: str) -> Told:
        code = invoke(["--root", str(root), "pins", *arguments])
        shown = capsys.readouterr()
        return code, shown.out.splitlines(), shown.err

    return run


def packed(folder: Path) -> bytes:
    """Return a release archive of what `compile_server` made."""
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz") as tar:
        tar.add(folder, arcname=folder.name)
    return body.getvalue()


@pytest.fixture
def release(builds: dict[int, Path]) -> bytes:
    return packed(builds[6600])


def changed(before: str, after: str) -> list[str]:
    lines = [*difflib.unified_diff(before.splitlines(), after.splitlines(), n=0)][2:]
    return [line for line in lines if line[0] in "+-"]


def test_the_pins_are_listed(pins: Pins) -> None:
    code, lines, _ = pins("list")
    assert code == 0
    assert lines == [
        "engine wheel-b6: wheel, 1.0.6, 0.0 MB, absent",
        "engine source: source, 6.0.0, 0.0 MB, absent",
        "engine release: url, build 6543, 0.0 MB, absent",
        "model by-address: url, F32, 0.0 MB, absent",
        "model by-package: package, F32, 0.0 MB, absent",
    ]
    code, lines, _ = pins("list", "--json")
    rows = json.loads("\n".join(lines))
    assert [row["name"] for row in rows][:2] == ["wheel-b6", "source"]
    assert rows[0]["here"] == "absent"


def test_a_pin_for_another_machine_is_listed_as_such(root: Path, pins: Pins) -> None:
    (root / ENGINES_FILE).write_text((root / ENGINES_FILE).read_text().replace(HERE, OTHER))
    lines = pins("list")[1]
    assert lines[0] == "engine wheel-b6: wheel, 1.0.6, ?, not for this machine"


def test_a_wheel_is_shown_then_pinned_beside_the_old_build(
    served: Served, root: Path, pins: Pins, tmp_path: Path
) -> None:
    wheel = make_wheel(tmp_path, "tiny-engine", {"tiny_engine/lib.so": LIBRARY})
    offer(served, wheel.name, wheel.read_bytes())
    before = (root / ENGINES_FILE).read_text()
    code, lines, _ = pins("update", "wheel-b6")
    assert code == 0
    assert lines[:4] == [
        "wheel-b6, as wheel-b7:",
        "  title: Tiny b6 → Tiny b7",
        "  version: 1.0.6 → 1.0.7",
        "  build: 6 → 7",
    ]
    assert f"  artifacts.{HERE}.sha256: {OLD} → {digest(wheel.read_bytes())}" in lines
    assert lines[-1] == "Nothing was written: give the same command with --yes."
    assert (root / ENGINES_FILE).read_text() == before
    code, lines, _ = pins("update", "wheel-b6", "--version", "1.0.7", "--yes")
    assert code == 0
    assert lines[-2:] == [
        "wheel-b7 is pinned. wheel-b6 stays, since receipts may name it.",
        "  receipts/small.yaml names wheel-b6; name wheel-b7 there, and measure again.",
    ]
    after = (root / ENGINES_FILE).read_text()
    assert after.startswith(before)
    pin = load_pins(root).engine("wheel-b7")
    with zipfile.ZipFile(wheel) as archive:
        record = digest(archive.read("tiny_engine-1.0.7.dist-info/RECORD"))
    assert pin.model_dump()["artifacts"][HERE] == {
        "wheel": wheel.name,
        "bytes": wheel.stat().st_size,
        "sha256": digest(wheel.read_bytes()),
        "record_sha256": record,
        "library": "tiny_engine/lib.so",
        "library_bytes": len(LIBRARY),
        "library_sha256": digest(LIBRARY),
    }
    assert pins("update", "wheel-b7")[:2] == (0, ["wheel-b7 is as it is pinned; nothing changes."])
    code, _, complaint = pins("update", "wheel-b6", "--yes")
    assert code == 3
    assert "it is pinned already" in complaint
    assert (root / ENGINES_FILE).read_text() == after


def test_a_wheel_that_cannot_be_pinned(
    served: Served, root: Path, pins: Pins, tmp_path: Path
) -> None:
    before = (root / ENGINES_FILE).read_text()
    code, _, complaint = pins("update", "wheel-b6", "--url", "https://example.org/x.whl")
    assert code == 3
    assert "it comes from a package index → use --version" in complaint
    code, _, complaint = pins("update", "wheel-b6", "--version", "9.9.9")
    assert code == 4
    assert "pip could not download tiny-engine==9.9.9" in complaint
    wheel = make_wheel(tmp_path, "tiny-engine", {"tiny_engine/other.so": LIBRARY})
    offer(served, wheel.name, wheel.read_bytes())
    code, _, complaint = pins("update", "wheel-b6", "--yes")
    assert code == 4
    assert "the wheel has no tiny_engine/lib.so" in complaint
    assert (root / ENGINES_FILE).read_text() == before
    assert list((tmp_path / "store/scratch").iterdir()) == []


def test_a_source_distribution_is_renewed_in_place(served: Served, root: Path, pins: Pins) -> None:
    sdist = make_sdist()
    offer(served, "tiny_server-7.0.0.tar.gz", sdist)
    before = (root / ENGINES_FILE).read_text()
    assert pins("update", "source", "--yes")[0] == 0
    assert changed(before, (root / ENGINES_FILE).read_text()) == [
        "-    title: Tiny b6 from source",
        "+    title: Tiny b7 from source",
        '-    version: "6.0.0"',
        "-    build: 6",
        "-    bytes: 1  # it grows",
        f'-    sha256: "{OLD}"',
        "-    folder: tiny_server-6.0.0/llama.cpp",
        '+    version: "7.0.0"',
        "+    build: 7",
        f"+    bytes: {len(sdist)}  # it grows",
        f'+    sha256: "{digest(sdist)}"',
        "+    folder: tiny_server-7.0.0/llama.cpp",
    ]


def test_a_source_distribution_without_llama_cpp(served: Served, root: Path, pins: Pins) -> None:
    file = root / ENGINES_FILE
    file.write_text(file.read_text().replace("6.0.0/llama.cpp", "6.0.0/other"))
    offer(served, "tiny_server-7.0.0.tar.gz", make_sdist())
    code, _, complaint = pins("update", "source")
    assert code == 4
    assert "tiny_server-7.0.0.tar.gz has no llama.cpp at tiny_server-7.0.0/other" in complaint


def test_a_version_that_does_not_tell_its_build(served: Served, root: Path, pins: Pins) -> None:
    file = root / ENGINES_FILE
    file.write_text(file.read_text().replace('"6.0.0"\n    build: 6', '"6.0.0"\n    build: 5'))
    offer(served, "tiny_server-7.0.0.tar.gz", make_sdist())
    code, _, complaint = pins("update", "source")
    assert code == 3
    assert "version 7.0.0 does not tell llama.cpp's build number where 6.0.0 does" in complaint


def test_a_release_is_renewed_by_its_build(
    served: Served, root: Path, pins: Pins, release: bytes
) -> None:
    served.body = release
    before = (root / ENGINES_FILE).read_text()
    code, lines, _ = pins("update", "release", "--version", "b6600", "--yes")
    assert code == 0
    assert lines[1:4] == [
        "  title: Tiny b6543 as released → Tiny b6600 as released",
        "  build: 6543 → 6600",
        f"  archives.{HERE}.urls.0: {address(served, 6543)} → {address(served, 6600)}",
    ]
    assert changed(before, (root / ENGINES_FILE).read_text())[-10:] == [
        f"-          - {address(served, 6543)}",
        f"-          - {address(served, 6543, 'mirror')}  # slower",
        "-        bytes: 1",
        f'-        sha256: "{OLD}"',
        "-        member: llama-b6543/llama-server",
        f"+          - {address(served, 6600)}",
        f"+          - {address(served, 6600, 'mirror')}  # slower",
        f"+        bytes: {len(served.body)}",
        f'+        sha256: "{digest(served.body)}"',
        "+        member: llama-b6600/llama-server",
    ]
    code, lines, _ = pins("update", "release")
    assert (code, lines) == (0, ["release is as it is pinned; nothing changes."])


def address(served: Served, build: int, folder: str | None = None) -> str:
    base = served.url.removesuffix("/model.gguf")
    return f"{base}/{folder or f'b{build}'}/llama-b{build}-bin.tar.gz"


def test_a_release_is_renewed_by_its_address_under_another_name(
    served: Served, root: Path, pins: Pins, release: bytes
) -> None:
    served.body = release
    url = served.url.replace("model.gguf", "nightly.tar.gz")
    code, lines, _ = pins("update", "release", "--url", url, "--as", "nightly", "--yes")
    assert code == 0
    assert lines[0] == "release, as nightly:"
    found = load_pins(root)
    assert found.engine("release").build == 6543
    nightly = found.engine("nightly")
    assert nightly.build == 6600
    assert nightly.origins == {digest(served.body)}
    assert nightly.model_dump()["archives"][HERE]["urls"] == (url,)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version", "b6601"], (3, "what is there says that it is build 6600")),
        (["--version", "newest"], (3, "newest is no build number")),
        (["--version", "1", "--url", "x"], (2, "give --version or --url, not both")),
        (["--url", "https://x/y?z"], (3, "not of the form https://host/path, without user, ?")),
    ],
)
def test_a_release_that_is_not_renewed(
    arguments: list[str], expected: tuple[int, str], served: Served, pins: Pins, release: bytes
) -> None:
    served.body = release
    code, lines, complaint = pins("update", "release", *arguments, "--yes")
    assert code == expected[0]
    assert expected[1] in complaint
    assert lines == []


def test_a_release_whose_addresses_do_not_fit_the_wish(root: Path, pins: Pins) -> None:
    file = root / ENGINES_FILE
    text = file.read_text()
    file.write_text(
        text.replace("llama-b6543-bin", "llama-bin").replace("b6543/llama-bin", "llama")
    )
    assert (
        "not every address of it names build b6543"
        in pins("update", "release", "--version", "7")[2]
    )
    two = text[text.index(f"      {HERE}:\n        urls") :]
    file.write_text(text + two.replace(HERE, OTHER).replace(OLD, "1" * 64))
    complaint = pins("update", "release", "--url", "https://example.org/x")[2]
    assert f"it has archives for {HERE}, {OTHER} → use --version for all of them" in complaint


def test_an_address_without_a_release(
    served: Served, root: Path, pins: Pins, release: bytes
) -> None:
    def complaint() -> str:
        code, _, told = pins("update", "release")
        assert code == 4
        return told

    served.body = b"<!doctype html>"
    assert "answered with a web page, not a file" in complaint()
    served.body = b"no archive"
    assert "no archive that can be unpacked" in complaint()
    served.body, served.cut_after = bytes(200), [100]
    assert "was cut off after 100 bytes: " in complaint()
    served.status = 404
    assert "404 Not Found" in complaint()
    served.status, served.body = 200, release
    file = root / ENGINES_FILE
    file.write_text(file.read_text().replace("/llama-server", "/llama-cli"))
    assert "the archive has 0 files named llama-cli" in complaint()
    served.location = "/again"
    assert "redirects without end" in complaint()


def test_a_model_is_renewed_by_its_address(
    served: Served, root: Path, pins: Pins, tmp_path: Path
) -> None:
    served.body = write_model(tmp_path / "new.gguf").read_bytes()
    kept = f"{LlamaFileType.MOSTLY_Q4_K_M.name.removeprefix('MOSTLY_')}"
    before = (root / MODELS_FILE).read_text()
    url = served.url.replace("model.gguf", "deep/Tiny.Q4_K_M.gguf?download=true")
    code, _, complaint = pins("update", "by-address", "--url", url.partition("?")[0], "--yes")
    assert (code, complaint.count("→")) == (0, 0)
    assert changed(before, (root / MODELS_FILE).read_text()) == [
        "-    title: Tiny (F32)",
        f"+    title: Tiny ({kept})",
        "-    file: tiny.gguf",
        "-    quantization: F32",
        "-    bytes: 1",
        f'-    sha256: "{OLD}"',
        "+    file: Tiny.Q4_K_M.gguf",
        f"+    quantization: {kept}",
        f"+    bytes: {len(served.body)}",
        f'+    sha256: "{digest(served.body)}"',
        f"-        - {served.url.replace('model.gguf', 'tiny.gguf')}  # the only place",
        f"+        - {url.partition('?')[0]}  # the only place",
    ]
    assert pins("update", "by-address")[1] == ["by-address is as it is pinned; nothing changes."]
    assert (
        "it comes from an address → use --url" in pins("update", "by-address", "--version", "1")[2]
    )


def test_a_model_of_packages_is_renewed(
    served: Served, root: Path, pins: Pins, tmp_path: Path
) -> None:
    body = write_model(tmp_path / "new.gguf").read_bytes()
    wheels = {}
    for number, half in enumerate((body[:100], body[100:])):
        name = f"tiny-part{number + 1}"
        wheel = make_wheel(tmp_path, name, {f"tiny_part{number + 1}/a.part0{number}": half})
        offer(served, wheel.name, wheel.read_bytes())
        wheels[name] = wheel.read_bytes()
    assert pins("update", "by-package", "--yes")[0] == 0
    pin = load_pins(root).model("by-package")
    assert (pin.bytes, pin.sha256) == (len(body), digest(body))
    assert [part["sha256"] for part in pin.source.model_dump()["parts"]] == [
        digest(wheel) for wheel in wheels.values()
    ]
    assert (
        "it comes from packages → use --version"
        in pins("update", "by-package", "--url", "https://x/y")[2]
    )


def test_a_model_in_place_is_renewed(root: Path, pins: Pins) -> None:
    file = root / MODELS_FILE
    text = file.read_text()
    source = text[text.index("      type: url") : text.index("  by-package")]
    file.write_text(text.replace(source, "      type: path\n      path: new.gguf\n"))
    assert f"there is no file at {root / 'new.gguf'}" in pins("update", "by-address")[2]
    body = write_model(root / "new.gguf").read_bytes()
    assert pins("update", "by-address", "--yes")[0] == 0
    pin = load_pins(root).model("by-address")
    assert (pin.bytes, pin.sha256, pin.quantization) == (len(body), digest(body), "Q4_K_M")
    assert pins("list")[1][3].startswith("model by-address: path, Q4_K_M, ")
    told = pins("update", "by-address", "--url", "https://example.org/x")[2]
    assert "it comes from a path → leave the option out" in told


def test_a_package_without_the_member(
    served: Served, root: Path, pins: Pins, tmp_path: Path
) -> None:
    before = (root / MODELS_FILE).read_text()
    wheel = make_wheel(tmp_path, "tiny-part1", {"tiny_part1/renamed": b"x"})
    offer(served, wheel.name, wheel.read_bytes())
    code, _, complaint = pins("update", "by-package", "--yes")
    assert code == 4
    assert "has no member tiny_part1/a.part00" in complaint
    assert (root / MODELS_FILE).read_text() == before


def test_a_file_that_changed_meanwhile_is_left_alone(root: Path) -> None:
    pin = load_pins(root).engine("release")
    before = (root / ENGINES_FILE).read_text()
    believed = pin.model_copy(update={"title": "Another"})
    with pytest.raises(InputError, match="would have changed something else too"):
        write_changes(root, believed, believed.model_copy(update={"build": 7}))
    assert (root / ENGINES_FILE).read_text() == before


def test_what_is_no_model_is_not_pinned(served: Served, root: Path, pins: Pins) -> None:
    served.body = b"no model at all"
    before = (root / MODELS_FILE).read_text()
    code, _, complaint = pins("update", "by-address", "--yes")
    assert code == 4
    assert "is not a GGUF file" in complaint
    assert (root / MODELS_FILE).read_text() == before


def test_a_llama_server_of_ones_own_is_pinned_and_renewed(
    root: Path, pins: Pins, builds: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = root / "bin"
    shutil.copytree(builds[6543], here, symlinks=True)
    before = (root / ENGINES_FILE).read_text()
    code, lines, _ = pins("add", str(here / "llama-server"), "--name", "mine")
    assert code == 0
    assert "6543 (abcdef01)" in lines[0]
    assert lines[0].endswith(", 2 libraries")
    text = (root / ENGINES_FILE).read_text()
    assert text.startswith(before)
    assert "    path: bin/llama-server\n" in text
    assert pins("update", "mine")[1] == ["mine is as it is pinned; nothing changes."]
    assert pins("list")[1][3].endswith("MB, here")
    shutil.rmtree(here)
    shutil.copytree(builds[6600], here, symlinks=True)
    code, lines, _ = pins("update", "mine")
    assert lines[0] == "mine:"
    assert "  build: 6543 → 6600" in lines
    assert "  version: 6543 (abcdef01) → 6600 (abcdef01)" in lines
    assert pins("update", "mine", "--yes")[1][-1] == "mine is pinned anew."
    assert load_pins(root).engine("mine").build == 6600
    assert "it lies at a path of its own" in pins("update", "mine", "--version", "1")[2]
    monkeypatch.setenv("PATH", str(builds[6543]))
    assert pins("add", "llama-server", "--name", "found")[0] == 0
    path = load_pins(root).engine("found").model_dump()["path"]
    assert path == str(builds[6543] / "llama-server")
    assert "it is pinned already" in pins("add", "llama-server", "--name", "found")[2]


def test_a_file_that_cannot_be_edited_is_left_alone(
    root: Path, pins: Pins, builds: dict[int, Path]
) -> None:
    file = root / ENGINES_FILE
    file.write_text("engines: {}\n")
    code, _, complaint = pins("add", str(builds[6543] / "llama-server"))
    assert code == 3
    assert "write it there by hand" in complaint
    assert file.read_text() == "engines: {}\n"


def test_a_name_that_no_pin_may_have(root: Path, pins: Pins, builds: dict[int, Path]) -> None:
    before = (root / ENGINES_FILE).read_text()
    program = str(builds[6543] / "llama-server")
    code, _, complaint = pins("add", program, "--name", "llama-server-local")
    assert code == 3
    assert "kept for LLAMA_SERVER" in complaint
    assert (root / ENGINES_FILE).read_text() == before


def test_an_unknown_pin_gets_a_near_miss(pins: Pins) -> None:
    code, _, complaint = pins("update", "relase")
    assert code == 3
    assert "did you mean `release`?" in complaint
