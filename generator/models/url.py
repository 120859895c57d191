"""Files by address: resumed where a line was cut, from mirrors in order, counted to the byte."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from generator.errors import FetchError
from generator.models.progress import Progress
from generator.models.responses import SourceError, begins_at, refuse_page
from generator.models.store import Expected, Store, disk_error

_HUB = "https://huggingface.co"
_MOST_ATTEMPTS = 5
_MOST_REDIRECTS = 10
_TIMEOUT = httpx.Timeout(60, connect=20)


def fetch_url(urls: Sequence[str], expected: Expected, store: Store, progress: Progress) -> Path:
    """Download a file into the store.

    Args:
        urls: Its address and mirrors, tried in order.
        expected: What it must be.
        store: Where it is kept, and meanwhile an interrupted download.
        progress: Hears of the bytes.

    Returns:
        The verified file.

    Raises:
        FetchError: No address gave it; each one's failure is told.
    """
    part = store.partial(expected.sha256)
    kept = part.stat().st_size if part.exists() else 0
    store.ensure_space(expected.bytes - kept, expected.label)
    failures: list[FetchError] = []
    progress.start(expected.label, expected.bytes)
    try:
        with _client() as client:
            for url in urls:
                download = _Download(client, _address(url), part, expected, progress)
                try:
                    return download.verified(store)
                except FetchError as failure:
                    failures.append(failure)
    except OSError as error:
        raise disk_error(expected.label, error) from error
    finally:
        progress.done()
    if len(failures) == 1:
        raise failures[0]
    raise FetchError(
        f"{expected.label} could not be had from any of {len(failures)} addresses.",
        failures[-1].remedy,
        [line for failure in failures for line in (failure.what, *failure.details)],
    )


class _Download:
    """One file from one address, over as many attempts as make headway."""

    def __init__(
        self, client: httpx.Client, url: str, part: Path, expected: Expected, progress: Progress
    ) -> None:
        self._client = client
        self._url = url
        self._part = part
        self._note = part.with_suffix(".json")
        self._expected = expected
        self._progress = progress
        self._told = 0

    def verified(self, store: Store) -> Path:
        """Download, verify and keep the file, or raise a FetchError."""
        resumed = self._size() > 0
        try:
            return store.add(self._whole(), self._expected)
        except SourceError as failure:
            label = self._expected.label
            raise FetchError(f"{label}: {failure.what}", failure.remedy) from failure
        except FetchError:
            # What was kept from before may have been of another file.
            if resumed:
                return self.verified(store)
            raise

    def _whole(self) -> Path:
        for _ in range(_MOST_ATTEMPTS):
            before = self._size()
            if before >= self._expected.bytes:
                break
            try:
                self._attempt(before)
            except (httpx.TransportError, httpx.StreamError) as error:
                if self._size() <= before:
                    raise self._cut(error) from error
        if self._size() < self._expected.bytes:
            raise self._cut(None)
        self._note.unlink(missing_ok=True)
        return self._part

    def _attempt(self, start: int) -> None:
        try:
            with self._client.stream("GET", self._url, headers=self._headers(start)) as response:
                offset = begins_at(response, start, self._expected.bytes)
                if offset is None:
                    self._discard()
                    return
                self._keep(response, offset)
        except httpx.TooManyRedirects as error:
            raise SourceError(
                self._url,
                f"redirected more than {_MOST_REDIRECTS} times",
                "Mend the address in receipts/pins/models.yaml.",
            ) from error
        except SourceError:
            self._discard()
            raise

    def _keep(self, response: httpx.Response, offset: int) -> None:
        self._tell(offset)
        note = {"url": self._url, "etag": response.headers.get("etag", "")}
        self._note.write_text(json.dumps(note))
        with self._part.open("r+b" if offset else "wb") as out:
            out.truncate(offset)
            out.seek(offset)
            for block in response.iter_bytes():
                if not out.tell():
                    refuse_page(response, block)
                out.write(block)
                self._tell(out.tell())
                if out.tell() > self._expected.bytes:
                    raise SourceError.wrong_length(response, self._expected.bytes, out.tell())

    def _headers(self, start: int) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}
        token = os.environ.get("HF_TOKEN")
        if token and _origin(self._url) == _origin(_hub()):
            headers["Authorization"] = f"Bearer {token}"
        if start:
            headers["Range"] = f"bytes={start}-"
            etag = self._etag()
            if etag:
                headers["If-Range"] = etag
        return headers

    def _etag(self) -> str:
        try:
            note = json.loads(self._note.read_text())
        except (OSError, ValueError):
            return ""
        etag = str(note.get("etag", "")) if note.get("url") == self._url else ""
        return "" if etag.startswith("W/") else etag

    def _size(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _tell(self, size: int) -> None:
        self._progress.advance(size - self._told)
        self._told = size

    def _discard(self) -> None:
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _cut(self, error: Exception | None) -> SourceError:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            how = f"could not be reached: {error}"
        else:
            how = f"was cut off after {self._size()} of {self._expected.bytes} bytes"
        return SourceError(
            self._url, how, "Check the network and try again: what has come is kept and resumed."
        )


def _client() -> httpx.Client:
    direct = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
    return httpx.Client(
        follow_redirects=True, max_redirects=_MOST_REDIRECTS, timeout=_TIMEOUT, mounts=direct
    )


def _hub() -> str:
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or _HUB


def _address(url: str) -> str:
    return _hub() + url.removeprefix(_HUB) if url.startswith(f"{_HUB}/") else url


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
