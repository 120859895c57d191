"""Engines from release archives: fetched from loopback, unpacked, and let load nothing else."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.engines.url import obtain
from generator.errors import EngineError, FetchError, ReceiptsError
from generator.models.store import Store
from generator.pin_types import Archive, UrlEngine
from generator.pins import platform_name
from generator.settings import ServerSettings
from tests.unit.engines.archives import DANGERS, WHOLE, Entry, tarred
from tests.unit.engines.compiled import compile_library, compile_program
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.wheel_maker import digest

MEMBER = "llama-b6543/llama-server"
LIBRARY = "llama-b6543/libllama.so.0.0.6543"
BACKEND = "llama-b6543/libggml-cpu-stub.so"
Pinning = Callable[..., UrlEngine]


@pytest.fixture(scope="module")
def release(builds: dict[int, Path], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("release") / "llama-b6543-bin.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(builds[6543], arcname="llama-b6543")
    return path.read_bytes()


@pytest.fixture
def served(release: bytes) -> Iterator[Served]:
    with serving(Served(release)) as server:
        yield server


def pin(served: Served, **changes: Any) -> UrlEngine:
    archive = {
        "urls": (served.url,),
        "bytes": len(served.body),
        "sha256": digest(served.body),
        "member": MEMBER,
        **changes,
    }
    return UrlEngine.model_validate(
        {
            "name": "tiny",
            "type": "url",
            "title": "Tiny",
            "license": "MIT",
            "build": archive.pop("build", 6543),
            "archives": {archive.pop("platform", platform_name()): Archive(**archive)},
        }
    )


def left(store: Store) -> list[str]:
    """Return what lies in the store, but for its empty folders and locks."""
    found = [path.relative_to(store.root) for path in store.root.rglob("*") if path.is_file()]
    return [str(path) for path in found if path.parts[0] not in {"locks", "digests.json"}]


def refusal(served: Served, store: Store, **changes: Any) -> ReceiptsError:
    with pytest.raises(ReceiptsError) as caught:
        obtain(pin(served, **changes), store, Heard())
    return caught.value


def test_a_release_is_fetched_unpacked_and_served(
    served: Served, store: Store, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a library of the same name elsewhere, which LD_LIBRARY_PATH would put before the release's
    elsewhere = store.root.parent / "elsewhere"
    elsewhere.mkdir()
    compile_library(elsewhere / "libllama.so.0", 9999)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(elsewhere))
    obtained = obtain(pin(served), store, Heard())
    assert (obtained.version, obtained.build) == ("6543 (abcdef01)", 6543)
    assert obtained.built == {"built with": "cc 1.0 for x86_64"}
    assert obtained.origin_sha256 == digest(served.body)
    root = store.engine_root(digest(served.body))
    assert [file.name for file in obtained.files] == [BACKEND, LIBRARY, MEMBER]
    for file in obtained.files:
        assert file.sha256 == digest((root / file.name).read_bytes())
        assert file.bytes == (root / file.name).stat().st_size
    with obtained.engine.launch(ServerSettings(), model, "smol") as server:
        assert server.props["build_info"] == "b6543-stub"
        loaded = set(server.effective["loaded"])
    assert loaded >= {"llama-server", "libllama.so.0.0.6543", "libggml-cpu-stub.so", "libc.so.6"}
    again = obtain(pin(served), store, Heard())
    assert again.files == obtained.files
    assert len(served.seen) == 1


@pytest.mark.parametrize(
    "danger", ["escape", "absolute", "link-out", "hard-link", "device", "bomb", "twice", "capitals"]
)
def test_a_dangerous_archive_leaves_nothing_behind(
    danger: str, store: Store, tmp_path: Path
) -> None:
    entry, told = DANGERS[danger]
    body = tarred(tmp_path / "release", (*WHOLE, entry)).read_bytes()
    with serving(Served(body)) as served:
        error = refusal(served, store, member=WHOLE[1].name)
    assert isinstance(error, FetchError)
    assert told in error.what
    assert left(store) == []


def spoilt(release: bytes, fault: str) -> tuple[Served, dict[str, Any], str]:
    """Return what is served, what is pinned, and what must be told."""
    page = b"<!doctype html><title>Not found</title>"
    faults: dict[str, tuple[Served, dict[str, Any], str]] = {
        "wrong member": (
            Served(release),
            {"member": "build/bin/llama-server"},
            "its archive has no file build/bin/llama-server",
        ),
        "member is a link": (
            Served(release),
            {"member": "llama-b6543/libllama.so"},
            "its archive has no file llama-b6543/libllama.so",
        ),
        "truncated": (Served(release[:-2000]), {}, "its archive is damaged or cut short"),
        "wrong hash": (Served(release), {"sha256": "0" * 64}, "not the file that was pinned"),
        "wrong length": (Served(release), {"bytes": 5}, "5 bytes are pinned"),
        "page": (
            Served(page),
            {"bytes": len(release), "sha256": digest(release)},
            "a web page, not a file",
        ),
        "page is pinned": (Served(b"xhtml page"), {}, "no archive that can be unpacked"),
        "gone": (Served(release, status=404), {}, "404 Not Found"),
    }
    return faults[fault]


@pytest.mark.parametrize(
    "fault",
    [
        "wrong member",
        "member is a link",
        "truncated",
        "wrong hash",
        "wrong length",
        "page",
        "page is pinned",
        "gone",
    ],
)
def test_a_faulty_archive_leaves_nothing_behind(fault: str, release: bytes, store: Store) -> None:
    served, pinned, told = spoilt(release, fault)
    with serving(served):
        error = refusal(served, store, **pinned)
    assert isinstance(error, FetchError)
    assert told in str(error)
    assert left(store) == []


def test_a_wrong_member_is_advised_on(served: Served, store: Store) -> None:
    error = refusal(served, store, member="build/bin/llama-server")
    assert error.remedy.endswith(f"write {MEMBER}.")


def test_another_build_than_the_pinned_one(served: Served, store: Store) -> None:
    error = refusal(served, store, build=6600)
    assert "says that it is build 6543, and build 6600 is pinned" in error.what


def test_no_archive_for_this_machine(served: Served, store: Store) -> None:
    here = platform_name()
    other = "macos-arm64" if here != "macos-arm64" else "linux-x86_64"
    error = refusal(served, store, platform=other)
    assert error.what == f"tiny is not pinned for {here}, only for {other}."


def tamper_edit(root: Path) -> None:
    library = root / LIBRARY
    library.chmod(0o644)
    library.write_bytes(b"another")


def tamper_link(root: Path) -> None:
    (root / "llama-b6543/libllama.so").unlink()
    (root / "llama-b6543/libllama.so").symlink_to("llama-server")


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (tamper_edit, "libllama.so.0.0.6543: expected sha256"),
        (tamper_link, "llama-b6543/libllama.so is not in it as it is in the archive"),
        (lambda root: (root / BACKEND).unlink(), f"{BACKEND} is not in it as"),
        (lambda root: (root / "llama-b6543/x.so").touch(), "llama-b6543/x.so is not in it as"),
    ],
    ids=["edited", "link turned", "removed", "added"],
)
def test_what_was_changed_in_the_store_is_found(
    tamper: Callable[[Path], None], told: str, served: Served, store: Store
) -> None:
    obtain(pin(served), store, Heard())
    tamper(store.engine_root(digest(served.body)))
    error = refusal(served, store)
    assert error.what == "tiny is not the engine that was pinned."
    assert told in str(error)


def test_an_archive_that_went_from_the_store_is_fetched_again(served: Served, store: Store) -> None:
    first = obtain(pin(served), store, Heard())
    kept = store.path(digest(served.body))
    assert kept is not None
    kept.unlink()
    assert obtain(pin(served), store, Heard()).files == first.files
    assert len(served.seen) == 2


def test_a_change_after_verifying_is_found_before_launching(
    served: Served, store: Store, model: Path
) -> None:
    obtained = obtain(pin(served), store, Heard())
    tamper_edit(store.engine_root(digest(served.body)))
    with (
        pytest.raises(EngineError, match=r"libllama\.so\.0\.0\.6543 has changed"),
        obtained.engine.launch(ServerSettings(), model, "smol"),
    ):
        pytest.fail("it was launched")


def test_a_library_that_the_release_lacks_is_named(
    builds: dict[int, Path], store: Store, tmp_path: Path
) -> None:
    body = packed_without_library(builds[6543], tmp_path)
    with serving(Served(body)) as served:
        error = refusal(served, store)
    assert isinstance(error, EngineError)
    assert "llama-server --version failed" in error.what
    assert "libllama.so.0" in str(error)


def packed_without_library(folder: Path, tmp_path: Path) -> bytes:
    path = tmp_path / "less.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for file in folder.iterdir():
            if not file.name.startswith("libllama.so"):
                tar.add(file, arcname=f"llama-b6543/{file.name}")
    return path.read_bytes()


def test_a_library_from_outside_the_release_is_refused(
    builds: dict[int, Path], store: Store, tmp_path: Path
) -> None:
    compile_program(tmp_path / "llama-server", 6543, builds[6543], f"-Wl,-rpath,{builds[6543]}")
    body = (tmp_path / "llama-server").read_bytes()
    packed = tarred(tmp_path / "release", (Entry(MEMBER, body, 0o755),)).read_bytes()
    with serving(Served(packed)) as served:
        error = refusal(served, store)
    outside = builds[6543] / "libllama.so.0.0.6543"
    assert error.what == f"tiny loads libllama.so.0 from outside its archive: {outside}."


def test_a_zip_that_does_not_say_what_is_a_program(
    builds: dict[int, Path], store: Store, tmp_path: Path
) -> None:
    entries = [
        Entry(f"llama-b6543/{name}", (builds[6543] / name).read_bytes())
        for name in ("llama-server", "libllama.so.0", "libggml-cpu-stub.so")
    ]
    body = tarred(tmp_path / "plain", tuple(entries)).read_bytes()
    with serving(Served(body)) as served:
        obtained = obtain(pin(served), store, Heard())
    root = store.engine_root(digest(body))
    assert os.access(root / MEMBER, os.X_OK)
    assert obtained.build == 6543
