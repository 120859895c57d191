"""A model by address: cut, truncated, corrupted, redirected and mistaken downloads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.errors import FetchError
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pin_types import ModelPin, UrlSource
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.wheel_maker import digest

BODY = b"GGUF" + bytes(number * number % 251 for number in range(300_000))


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(Served(BODY)) as served:
        yield served


def pin(*urls: str, body: bytes = BODY) -> ModelPin:
    return ModelPin(
        name="tiny",
        title="Tiny",
        license="MIT",
        file="tiny.gguf",
        quantization="F32",
        bytes=len(body),
        sha256=digest(body),
        source=UrlSource(type="url", urls=urls),
    )


def kept_files(store: Store) -> list[Path]:
    folders = ("sha256", "partial", "scratch")
    return [p for f in folders for p in (store.root / f).rglob("*") if p.is_file()]


def part_of(store: Store, content: bytes) -> Path:
    part = store.partial(digest(BODY))
    part.write_bytes(content)
    return part


def test_fetches_verifies_and_returns_at_once_the_second_time(
    served: Served, store: Store, heard: Heard
) -> None:
    path = fetch_model(pin(served.url), store, heard)
    assert path.read_bytes() == BODY
    assert (heard.bytes, heard.total, heard.ended) == (len(BODY), len(BODY), 1)
    assert fetch_model(pin(served.url), store, heard) == path
    assert len(served.seen) == 1
    assert kept_files(store) == [path]


def test_cut_line_resumes_where_it_broke(served: Served, store: Store, heard: Heard) -> None:
    served.cut_after = [100_000, 50_000]
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY
    assert [seen.get("range") for seen in served.seen] == [None, "bytes=100000-", "bytes=150000-"]
    assert served.seen[1]["if-range"] == '"v1"'
    assert heard.bytes == len(BODY)


def test_line_which_keeps_breaking_leaves_what_can_be_resumed(
    served: Served, store: Store, heard: Heard
) -> None:
    served.cut_after = [1000] * 5
    with pytest.raises(FetchError, match="cut off after 5000 of 300004 bytes"):
        fetch_model(pin(served.url), store, heard)
    assert store.path(digest(BODY)) is None
    assert store.partial(digest(BODY)).read_bytes() == BODY[:5000]
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY
    assert served.seen[-1]["range"] == "bytes=5000-"


def test_range_ignored_starts_anew(served: Served, store: Store, heard: Heard) -> None:
    served.cut_after, served.ranges = [100_000], False
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY
    assert heard.bytes == len(BODY)


def test_changed_etag_starts_anew(served: Served, store: Store, heard: Heard) -> None:
    served.cut_after = [1000] * 5
    with pytest.raises(FetchError):
        fetch_model(pin(served.url), store, heard)
    served.etag = '"v2"'
    part_of(store, b"x" * 5000)
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY


def test_part_of_another_file_is_found_out_and_fetched_anew(
    served: Served, store: Store, heard: Heard
) -> None:
    part_of(store, b"x" * 5000)
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY


def test_part_longer_than_the_server_has_is_dropped(store: Store, heard: Heard) -> None:
    part_of(store, BODY[:5000])
    with serving(Served(BODY[:4000])) as served, pytest.raises(FetchError, match="4000 bytes"):
        fetch_model(pin(served.url), store, heard)
    assert kept_files(store) == []


MISTAKES: dict[str, tuple[dict[str, Any], str, str]] = {
    "not-found": ({"status": 404}, "answered 404", "Mend the address"),
    "forbidden": ({"status": 403}, "answered 403", "HF_TOKEN"),
    "busy": ({"status": 503}, "answered 503", "Try again later"),
    "web-page": ({"content_type": "text/html; charset=utf-8"}, "web page", "Mend the address"),
    "shorter": ({"body": BODY[:-1]}, "300003 bytes", "Mend the address"),
    "longer": ({"body": BODY + b"x"}, "300005 bytes", "Mend the address"),
    "undeclared-and-longer": ({"body": BODY + b"x", "declared": -1}, "or more", "Mend"),
    "page-as-binary": (
        {"body": b"<!DOCTYPE html><p>" + BODY[18:]},
        "web page",
        "Mend the address",
    ),
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
    )


def test_truncated_without_length_is_a_cut(store: Store, heard: Heard) -> None:
    cut = Served(BODY[:9000], declared=-1)
    with serving(cut), pytest.raises(FetchError, match="cut off after 9000 of 300004"):
        fetch_model(pin(cut.url), store, heard)
    assert store.path(digest(BODY)) is None


def test_resumed_at_a_file_of_another_size(served: Served, store: Store, heard: Heard) -> None:
    served.cut_after, served.range_total = [1000], 400_000
    with pytest.raises(FetchError, match="400000 bytes or more"):
        fetch_model(pin(served.url), store, heard)


def test_redirect_loop(served: Served, store: Store, heard: Heard) -> None:
    served.location = served.url
    with pytest.raises(FetchError, match="redirected more than 10 times"):
        fetch_model(pin(served.url), store, heard)


def test_refused_connection(store: Store, heard: Heard) -> None:
    with serving(Served(BODY)) as gone:
        pass
    with pytest.raises(FetchError, match="could not be reached"):
        fetch_model(pin(gone.url), store, heard)


def test_mirrors_are_tried_in_order(served: Served, store: Store, heard: Heard) -> None:
    with serving(Served(BODY, status=404)) as first:
        assert fetch_model(pin(first.url, served.url), store, heard).read_bytes() == BODY
    assert len(first.seen) == 1


def test_a_mirror_with_another_file_does_not_stop_the_next(
    served: Served, store: Store, heard: Heard
) -> None:
    with serving(Served(b"GGUG" + BODY[4:])) as first:
        assert fetch_model(pin(first.url, served.url), store, heard).read_bytes() == BODY


def test_all_mirrors_failures_are_told(store: Store, heard: Heard) -> None:
    first, second = Served(BODY, status=404), Served(b"")
    told = pytest.raises(FetchError, match="any of 2 addresses")
    with serving(first), serving(second), told as caught:
        fetch_model(pin(first.url, second.url), store, heard)
    assert len(caught.value.details) == 2


def test_hub_endpoint_and_token(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", served.url.removesuffix("/model.gguf"))
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with serving(Served(BODY, status=404)) as other:
        fetch_model(pin(other.url, "https://huggingface.co/a/model.gguf"), store, heard)
    assert served.seen[0]["authorization"] == "Bearer hf_secret"
    assert "authorization" not in other.seen[0]
    kept = b"".join(p.read_bytes() for p in store.root.rglob("*") if p.is_file())
    assert b"hf_secret" not in kept


def test_token_does_not_follow_a_redirect_elsewhere(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Served(b"", location=served.url)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url.removesuffix("/model.gguf"))
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        fetch_model(pin("https://huggingface.co/a/model.gguf"), store, heard)
    assert "authorization" in hub.seen[0]
    assert "authorization" not in served.seen[0]


def test_proxy_is_not_asked_for_loopback(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY


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
    with pytest.raises(FetchError, match="only 1000 are free"):
        fetch_model(pin(served.url), store, heard)
    assert served.seen == []
