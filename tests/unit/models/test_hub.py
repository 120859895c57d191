"""The hub's endpoint and token: heeded, sent to nobody else, and nowhere to be found afterwards."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import pytest

from generator.errors import FetchError
from generator.models.sources import fetch_model
from generator.models.store import Store
from tests.unit.models.file_server import Served, serving
from tests.unit.models.heard import Heard
from tests.unit.models.tiny import BODY, pin
from tests.unit.models.wheel_maker import digest

SECRET = "hf_secret"  # noqa: S105 - what must be found nowhere
ON_HUB = "https://huggingface.co/a/model.gguf"


@pytest.fixture
def hub(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """Let a server of ours be the hub."""
    monkeypatch.setenv("HF_ENDPOINT", endpoint(served))
    return served


def endpoint(served: Served) -> str:
    return served.url.removesuffix("/model.gguf")


def everything_in(store: Store) -> bytes:
    files = [path for path in store.root.rglob("*") if path.is_file()]
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


def test_endpoint_stands_for_the_hub_and_hears_the_token(
    hub: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    with serving(Served(BODY, status=404)) as other:
        fetch_model(pin(other.url, ON_HUB), store, heard)
    assert hub.seen[0]["authorization"] == f"Bearer {SECRET}"
    assert "authorization" not in other.seen[0]
    assert SECRET.encode() not in everything_in(store)


def test_endpoint_and_token_are_not_kept_beside_what_has_come(
    hub: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"{endpoint(hub)}/".replace("://", "://me:pass@"))
    monkeypatch.setenv("HF_TOKEN", SECRET)
    hub.cut_after = [1000] * 5
    with pytest.raises(FetchError, match="cut off") as caught:
        fetch_model(pin(ON_HUB), store, heard)
    note = json.loads(store.partial(digest(BODY)).with_suffix(".json").read_text())
    assert note == {"source": f"{ON_HUB} (by way of HF_ENDPOINT)", "etag": '"v1"'}
    told = "".join(traceback.format_exception(caught.value))
    for secret in (SECRET, "me:pass", "127.0.0.1"):
        assert secret.encode() not in everything_in(store)
        assert secret not in str(caught.value)
    assert SECRET not in told


TOKENS = {
    "HF_TOKEN": {"HF_TOKEN": "first", "HUGGING_FACE_HUB_TOKEN": "second"},
    "HUGGING_FACE_HUB_TOKEN": {"HF_TOKEN": "", "HUGGING_FACE_HUB_TOKEN": " first\n"},
    "HF_TOKEN_PATH": {"HF_TOKEN_PATH": "$FOLDER/token"},
}


@pytest.mark.parametrize("source", TOKENS)
def test_token_is_found_where_the_hubs_own_library_looks(
    source: str,
    hub: Served,
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "token").write_text("first\n")
    monkeypatch.setenv("FOLDER", str(tmp_path))
    for name, value in TOKENS[source].items():
        monkeypatch.setenv(name, value)
    fetch_model(pin(ON_HUB), store, Heard())
    assert hub.seen[0]["authorization"] == "Bearer first"


def test_without_a_token_none_is_sent(
    hub: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN_PATH", "/no/such/token")
    fetch_model(pin(ON_HUB), store, heard)
    assert "authorization" not in hub.seen[0]


def test_token_does_not_follow_a_redirect_elsewhere(
    served: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Served(b"", location=served.url)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", endpoint(hub))
        monkeypatch.setenv("HF_TOKEN", SECRET)
        fetch_model(pin(ON_HUB), store, heard)
    assert "authorization" in hub.seen[0]
    assert "authorization" not in served.seen[0]
    assert SECRET.encode() not in everything_in(store)


ANSWERS = {
    "stranger": (401, "", None, "it wants to know who asks", "Set HF_TOKEN"),
    "no-such-model": (401, "RepoNotFound", None, "or has no such model", "Mend the address"),
    "bad-token": (401, "", SECRET, "does not accept your token", "Renew the token"),
    "gated": (401, "GatedRepo", None, "has not given you access", "Accept the terms"),
    "not-granted": (403, "GatedRepo", SECRET, "has not given you access", "Accept the terms"),
    "forbidden": (403, "", SECRET, "has not given you access", "Accept the terms"),
    "forbidden-to-strangers": (403, "", None, "it wants to know who asks", "Set HF_TOKEN"),
    "no-such-file": (404, "EntryNotFound", SECRET, "no such file in the model", "Mend the"),
    "no-such-revision": (404, "RevisionNotFound", None, "no such revision", "Mend the"),
    "no-such-page": (404, "", None, "404 Not Found: no such file", "Mend the"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_each_refusal_of_the_hub_is_told_apart(
    answer: str, hub: Served, store: Store, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, code, token, how, remedy = ANSWERS[answer]
    hub.status, hub.headers = status, {"X-Error-Code": code, "X-Error-Message": SECRET}
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(FetchError) as caught:
        fetch_model(pin(ON_HUB), store, heard)
    assert how in caught.value.what
    assert remedy in caught.value.remedy
    assert f"{ON_HUB} (by way of HF_ENDPOINT) answered {status}" in caught.value.what
    assert SECRET not in str(caught.value)


UNUSABLE = {
    "endpoint-without-scheme": ("HF_ENDPOINT", "mirror.example", "HF_ENDPOINT is not"),
    "endpoint-of-another-kind": ("HF_ENDPOINT", "ftp://mirror.example", "HF_ENDPOINT is not"),
    "endpoint-with-no-port": ("HF_ENDPOINT", "http://mirror:x", "HF_ENDPOINT is not"),
    "token-of-two-lines": ("HF_TOKEN", f"{SECRET}\n{SECRET}", "characters that no token has"),
    "token-in-chinese": ("HF_TOKEN", f"{SECRET}密", "characters that no token has"),
    "token-file-is-a-folder": ("HF_TOKEN_PATH", "/", "cannot be read as a token"),
    "token-file-is-no-text": ("HF_TOKEN_PATH", "$FOLDER/binary", "cannot be read as a token"),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_environment_which_names_no_hub_or_token(
    fault: str, hub: Served, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, value, what = UNUSABLE[fault]
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    monkeypatch.setenv("FOLDER", str(tmp_path))
    monkeypatch.setenv(name, value)
    with pytest.raises(FetchError, match=what) as caught:
        fetch_model(pin(ON_HUB), store, Heard())
    assert hub.seen == []
    assert SECRET not in str(caught.value)
