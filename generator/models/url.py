"""Files by address: resumed where a line was cut, from mirrors in order, counted to the byte."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import httpx

from generator.errors import FetchError
from generator.models.disk import disk_error
from generator.models.hub import Address, address_of
from generator.models.part import Part
from generator.models.progress import Progress
from generator.models.responses import MEND, MIRROR, SourceError, beginning, begins_at, check_body
from generator.models.store import Expected, Store

_NO_ADDRESS = "redirected to an address that cannot be fetched"
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
    part = Part(store.partial(expected.sha256))
    store.ensure_space(expected.bytes - part.size, expected.label)
    addresses = [address_of(url) for url in urls]
    failures: list[FetchError] = []
    with http_client() as client:
        try:
            part.read_kept(expected.label, progress)
            progress.start(expected.label, expected.bytes, part.size)
            for address in addresses:
                try:
                    return _Download(client, address, part, expected, progress).verified(store)
                except FetchError as failure:
                    failures.append(failure)
        except OSError as error:
            with suppress(OSError):
                part.discard()
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
        self,
        client: httpx.Client,
        address: Address,
        part: Part,
        expected: Expected,
        progress: Progress,
    ) -> None:
        self._client = client
        self._address = address
        self._part = part
        self._expected = expected
        self._progress = progress
        self._told = part.size

    def verified(self, store: Store) -> Path:
        """Download, verify and keep the file, or raise a FetchError."""
        resumed = self._part.size > 0
        try:
            self._whole()
            place = store.add(self._part.path, self._expected, self._part.digest)
        except SourceError as failure:
            raise FetchError(
                f"{self._expected.label}: {self._address.name} {failure.how}.", failure.remedy
            ) from failure
        except FetchError as failure:
            self._part.discard()
            self._tell(0)
            if resumed:  # what was kept from before may have been of another file
                return self.verified(store)
            details = [*failure.details, f"from     {self._address.name}"]
            raise FetchError(failure.what, failure.remedy, details) from failure
        self._part.forget()
        return place

    def _whole(self) -> None:
        for _ in range(_MOST_ATTEMPTS):
            before = self._part.size
            if before >= self._expected.bytes:
                break
            try:
                self._attempt(before)
            except (httpx.TransportError, httpx.StreamError) as error:
                if self._part.size <= before:
                    raise self._failure(error) from error
        if self._part.size < self._expected.bytes:
            raise self._failure(None)

    def _attempt(self, start: int) -> None:
        etag = self._part.etag(self._address.name) if start else ""
        try:
            with self._client.stream(
                "GET", self._address.url, headers=self._headers(start, etag)
            ) as response:
                offset = begins_at(response, self._address, start, etag)
                if offset is None:
                    self._part.discard()
                    self._tell(0)
                    return
                self._keep(response, offset)
        except httpx.TooManyRedirects as error:
            raise SourceError(f"redirected more than {_MOST_REDIRECTS} times", MEND) from error

    def _keep(self, response: httpx.Response, offset: int) -> None:
        blocks = response.iter_raw()
        first = beginning(blocks)
        check_body(response, first, offset, self._expected.bytes)
        self._tell(offset)
        self._part.note(self._address.name, response.headers.get("etag", ""))
        self._part.write(offset, chain([first], blocks), self._came)

    def _came(self, size: int) -> None:
        if size > self._expected.bytes:
            self._part.discard()
            raise SourceError.wrong_length(self._expected.bytes, f"{size} or more")
        self._tell(size)

    def _headers(self, start: int, etag: str) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}
        if self._address.token:
            headers["Authorization"] = f"Bearer {self._address.token}"
        if start:
            headers["Range"] = f"bytes={start}-"
        if start and etag and not etag.startswith("W/"):
            headers["If-Range"] = etag
        return headers

    def _tell(self, size: int) -> None:
        self._progress.advance(size - self._told)
        self._told = size

    def _failure(self, error: Exception | None) -> SourceError:
        came = f"{self._part.size:,} of {self._expected.bytes:,} bytes"
        kept = "Check the network and try again: what has come is kept and resumed."
        match error:
            case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.ProxyError():
                return SourceError(f"could not be reached: {error}", kept)
            case httpx.UnsupportedProtocol() | httpx.LocalProtocolError():
                return SourceError(_NO_ADDRESS, MEND)
            case httpx.TimeoutException():
                return SourceError(f"fell silent after {came}", kept)
            case httpx.RemoteProtocolError() if "location" in str(error):
                return SourceError(_NO_ADDRESS, MEND)
            case httpx.RemoteProtocolError() if not self._part.size:
                return SourceError("closed the line, or is no web server", MIRROR)
        return SourceError(f"was cut off after {came}", kept)


def http_client() -> httpx.Client:
    """Open a client that goes by the user's proxy and certificates, but to this machine directly.

    Raises:
        FetchError: The environment's settings of the network cannot be used.
    """
    direct = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
    try:
        return httpx.Client(
            follow_redirects=True, max_redirects=_MOST_REDIRECTS, timeout=_TIMEOUT, mounts=direct
        )
    except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
        raise FetchError(
            "The environment's settings of the network cannot be used.",
            "Mend HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE, whichever are set.",
        ) from error
