"""A model by address: digested as it comes, resumed after a cut, from mirrors in order."""

from __future__ import annotations

import pytest

from generator.errors import FetchError
from generator.models import digests
from generator.models.sources import fetch_model
from generator.models.store import Store
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.tiny import BODY, kept_files, part_of, pin
from tests.unit.models.wheel_maker import digest


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
    with pytest.raises(
        FetchError, match=r"cut off after 5,000 of 300,004 bytes\.\n→ .* kept and resumed"
    ):
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


def test_proxy_is_not_asked_for_loopback(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY


def test_digest_is_computed_while_the_bytes_arrive(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "digest_of", None)
    place = fetch_model(pin(served.url), store, heard)
    assert fetch_model(pin(served.url), store, heard) == place
    assert heard.labels == ["tiny"]


def test_what_came_earlier_is_read_once_and_said(
    served: Served, store: Store, heard: Heard
) -> None:
    part_of(store, BODY[:200_000])
    fetch_model(pin(served.url), store, heard)
    assert heard.labels == ["tiny: reading what came earlier", "tiny"]
    assert heard.bytes == heard.total == 200_000 + len(BODY)


def test_whole_part_of_a_killed_process_needs_no_network(
    served: Served, store: Store, heard: Heard
) -> None:
    part_of(store, BODY)
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY
    assert served.seen == []


def test_etag_which_changed_unheeded_starts_anew(
    served: Served, store: Store, heard: Heard
) -> None:
    served.cut_after = [1000] * 5
    with pytest.raises(FetchError):
        fetch_model(pin(served.url), store, heard)
    served.etag, served.conditions = '"v2"', False
    asked = len(served.seen)
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY
    assert [seen.get("range") for seen in served.seen[asked:]] == ["bytes=5000-", None]


def test_weak_etag_is_no_condition(served: Served, store: Store, heard: Heard) -> None:
    served.cut_after, served.etag, served.conditions = [1000], 'W/"v1"', False
    assert fetch_model(pin(served.url), store, heard).read_bytes() == BODY
    assert "if-range" not in served.seen[1]
    assert served.seen[1]["range"] == "bytes=1000-"


@pytest.mark.parametrize("status", [401, 404, 503])
def test_what_has_come_survives_a_server_that_refuses(
    status: int, served: Served, store: Store, heard: Heard
) -> None:
    part = part_of(store, BODY[:5000])
    served.status, served.ranges = status, False
    with pytest.raises(FetchError, match=f"answered {status}"):
        fetch_model(pin(served.url), store, heard)
    assert part.read_bytes() == BODY[:5000]


def test_mirror_goes_on_where_the_first_was_cut(served: Served, store: Store, heard: Heard) -> None:
    with serving(Served(BODY, cut_after=[1000] * 5, etag='"other"')) as first:
        assert fetch_model(pin(first.url, served.url), store, heard).read_bytes() == BODY
    assert served.seen[0]["range"] == "bytes=5000-"
    assert "if-range" not in served.seen[0]
