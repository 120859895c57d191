"""A model by address, where the server, the line or the disk does not do as it should."""

from __future__ import annotations

import resource
import shutil
from typing import Any

import pytest

from generator.errors import FetchError
from generator.models.progress import NoProgress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pin_types import UrlSource
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.tiny import BODY, kept_files, part_of, pin
from tests.unit.models.wheel_maker import digest

MISTAKES: dict[str, tuple[dict[str, Any], str, str]] = {
    "not-found": ({"status": 404}, "answered 404", "Mend the address"),
    "forbidden": ({"status": 403}, "answered 403 Forbidden", "Ask those who run it"),
    "busy": ({"status": 503}, "answered 503", "Try again later"),
    "web-page": ({"content_type": "text/html; charset=utf-8"}, "web page", "Mend the address"),
    "shorter": ({"body": BODY[:-1]}, "300003 bytes", "Mend the address"),
    "longer": ({"body": BODY + b"x"}, "300005 bytes", "Mend the address"),
    "undeclared-and-longer": ({"body": BODY + b"x", "declared": -1}, "or more", "Mend"),
    "page-as-binary": (
        {"body": b"<!DOCTYPE html><p>" + BODY[18:]},
        "web page",
        "Look at it in a browser",
    ),
    "small-page-as-binary": ({"body": b"\n<HTML>no"}, "web page", "Look at it in a browser"),
    "page-of-no-length": ({"body": b"<html>", "declared": -1}, "web page", "Look at it"),
    "compressed": (
        {"headers": {"Content-Encoding": "gzip"}},
        "compressed, which it was asked not to do",
        "add a mirror",
    ),
    "no-status-of-any-standard": ({"status": 599}, "answered 599.", "Try again later"),
    "corrupted": ({"body": b"GGUG" + BODY[4:]}, "not the file that was pinned", "Nothing of it"),
    "partial-for-nothing": ({"status": 206}, "answered 206", "Try again later"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistaken_answer_is_told_and_leaves_nothing(
    mistake: str, store: Store, heard: Heard
) -> None:
    how, what, remedy = MISTAKES[mistake]
    with serving(Served(**({"body": BODY} | how))) as served, pytest.raises(FetchError) as caught:
        fetch_model(pin(served.url), store, heard)
    assert what in caught.value.what
    assert remedy in caught.value.remedy
    assert kept_files(store) == []


def test_mismatch_names_expected_and_found(store: Store, heard: Heard) -> None:
    found = b"GGUG" + BODY[4:]
    with serving(Served(found)) as served, pytest.raises(FetchError) as caught:
        fetch_model(pin(served.url), store, heard)
    assert caught.value.details == (
        f"expected 300004 bytes, sha256 {digest(BODY)}",
        f"found    300004 bytes, sha256 {digest(found)}",
        f"from     {served.url}",
    )


def test_truncated_without_length_is_a_cut(store: Store, heard: Heard) -> None:
    cut = Served(BODY[:9000], declared=-1)
    with serving(cut), pytest.raises(FetchError, match="cut off after 9,000 of 300,004"):
        fetch_model(pin(cut.url), store, heard)
    assert store.path(digest(BODY)) is None


def test_resumed_at_a_file_of_another_size(served: Served, store: Store, heard: Heard) -> None:
    served.cut_after, served.range_total = [1000], 400_000
    with pytest.raises(FetchError, match="400000 bytes, and 300004 bytes"):
        fetch_model(pin(served.url), store, heard)


def test_redirect_loop_is_told(served: Served, store: Store, heard: Heard) -> None:
    served.location = served.url
    with pytest.raises(FetchError, match=r"redirected more than 10 times\.\n→ Mend"):
        fetch_model(pin(served.url), store, heard)
    assert kept_files(store) == []
    assert len(served.seen) == 11


@pytest.mark.parametrize("location", ["ftp://127.0.0.1/model.gguf", "http://127.0.0.1:port/"])
def test_redirect_to_no_address(location: str, served: Served, store: Store, heard: Heard) -> None:
    served.location = location
    with pytest.raises(FetchError, match="an address that cannot be fetched"):
        fetch_model(pin(served.url), store, heard)
    assert kept_files(store) == []


def test_refused_connection(store: Store, heard: Heard) -> None:
    with serving(Served(BODY)) as gone:
        pass
    with pytest.raises(FetchError, match="could not be reached"):
        fetch_model(pin(gone.url), store, heard)


def test_query_and_password_are_not_shown(served: Served, store: Store, heard: Heard) -> None:
    served.status = 404
    source = UrlSource.model_construct(type="url", urls=(f"{served.url}?token=hf_secret",))
    secret = pin(served.url).model_copy(update={"source": source})
    with pytest.raises(FetchError) as caught:
        fetch_model(secret, store, heard)
    assert "hf_secret" not in str(caught.value)


def test_disk_space_is_checked_first(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(store.root)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(FetchError, match="300,004 more bytes on disk, and only 1,000 are free"):
        fetch_model(pin(served.url), store, heard)
    assert served.seen == []


def test_space_for_what_has_come_is_not_asked_for_again(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    part_of(store, BODY[:200_000])
    free = 100_004 + (64 << 20)
    usage = shutil.disk_usage(store.root)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY
    assert served.seen[0]["range"] == "bytes=200000-"


def test_full_disk_is_told_and_leaves_nothing(served: Served, store: Store, heard: Heard) -> None:
    store.partial(digest(BODY)).symlink_to("/dev/full")
    with pytest.raises(FetchError, match=r"The disk is full: tiny .*No space left") as caught:
        fetch_model(pin(served.url), store, heard)
    assert "Free some space" in caught.value.remedy
    assert list((store.root / "partial").iterdir()) == kept_files(store) == []
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY


def test_limit_on_the_size_of_files_is_told_and_leaves_nothing(
    served: Served, store: Store, heard: Heard
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(FetchError, match="larger than a file may be") as caught:
            fetch_model(pin(served.url), store, heard)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "ulimit -f" in caught.value.remedy
    assert kept_files(store) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "socks9://127.0.0.1:1"), ("SSL_CERT_FILE", "/no/such/file.pem")],
)
def test_settings_of_the_network_which_cannot_be(
    name: str, value: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(FetchError, match="settings of the network") as caught:
        fetch_model(pin("http://127.0.0.1:9/model.gguf"), store, NoProgress())
    assert name in caught.value.remedy


def test_pinned_address_which_is_none(store: Store, heard: Heard) -> None:
    with pytest.raises(FetchError, match="not an address that can be fetched"):
        fetch_model(pin("http://127.0.0.1:port/model.gguf"), store, heard)
