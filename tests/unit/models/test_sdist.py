"""Source distributions, by pip itself, of which nothing is run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from generator.errors import FetchError
from generator.models.pip import Release
from generator.models.sdist import fetch_sdist
from generator.models.store import Store
from tests.unit.engines.sdist_maker import TOP, VERSION, make_sdist, pin_of
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard

SDIST = make_sdist()


@pytest.fixture(autouse=True)
def _index(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Offer the distribution to pip through an index, as pip's configuration would name one."""
    with serving(Served(b"")) as served:
        base = served.url.removesuffix("/model.gguf")
        file = f"{TOP}.tar.gz"
        served.pages["/simple/tiny-server/"] = f'<a href="/files/{file}">{file}</a>'.encode()
        served.pages[f"/files/{file}"] = SDIST
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{base}/simple")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield


def test_it_is_fetched_once_and_its_code_is_not_run(store: Store, heard: Heard) -> None:
    # its setup.py fails when it is run, and what it asks for to be built does not exist
    path = fetch_sdist(pin_of(SDIST), store, heard)
    assert path.read_bytes() == SDIST
    assert list((store.root / "scratch").iterdir()) == []
    assert fetch_sdist(pin_of(SDIST), store, heard) == path
    assert heard.labels == ["tiny"]


def test_another_digest_is_refused_and_nothing_is_kept(store: Store, heard: Heard) -> None:
    pin = pin_of(SDIST, sha256="0" * 64)
    with pytest.raises(FetchError, match=f"could not download tiny-server=={VERSION}") as caught:
        fetch_sdist(pin, store, heard)
    assert any("HASH" in line.upper() for line in caught.value.details)
    assert not any(path.is_file() for path in (store.root / "sha256").rglob("*"))


def test_names_are_spelled_as_in_file_names() -> None:
    assert Release("Tiny.-Server", VERSION, 1, "").stem == "tiny_server"
