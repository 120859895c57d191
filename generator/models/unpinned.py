"""Files by address whose digest nobody has pinned yet: fetched whole, to be pinned."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import httpx

from generator.errors import FetchError
from generator.models.disk import disk_error, ensure_space
from generator.models.hub import address_of
from generator.models.part import Part
from generator.models.progress import Progress
from generator.models.responses import MIRROR, SourceError, beginning, begins_at, check_body
from generator.models.url import http_client

_AGAIN = "Check the network and try again."


def fetch_unpinned(url: str, place: Path, label: str, progress: Progress) -> Part:
    """Download a file as it is now.

    Args:
        url: Its address.
        place: Where to; nothing is there yet.
        label: What it is for.
        progress: Hears of the bytes.

    Returns:
        The file with its size and digest.

    Raises:
        FetchError: It cannot be had, or what comes is no file.
    """
    address = address_of(url)
    part = Part(place)
    headers = {"Accept-Encoding": "identity"}
    if address.token:
        headers["Authorization"] = f"Bearer {address.token}"
    try:
        with http_client() as client, client.stream("GET", address.url, headers=headers) as answer:
            begins_at(answer, address, 0, "")
            blocks = answer.iter_raw()
            first = beginning(blocks)
            told = answer.headers.get("content-length", "")
            length = int(told) if told.isdecimal() else 0
            check_body(answer, first, 0, length)
            ensure_space(place.parent, length, label)
            _take(part, chain([first], blocks), label, length, progress)
    except SourceError as failure:
        raise FetchError(f"{label}: {address.name} {failure.how}.", failure.remedy) from failure
    except httpx.TooManyRedirects as error:
        raise FetchError(f"{label}: {address.name} redirects without end.", MIRROR) from error
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
        came = f"was cut off after {part.size:,} bytes" if part.size else "could not be had"
        how = f"{came}: {str(error) or type(error).__name__}"
        raise FetchError(f"{label}: {address.name} {how}.", _AGAIN) from error
    except OSError as error:
        raise disk_error(label, error) from error
    return part


def _take(part: Part, blocks: chain[bytes], label: str, length: int, progress: Progress) -> None:
    seen = 0

    def hear(size: int) -> None:
        nonlocal seen
        progress.advance(size - seen)
        seen = size

    progress.start(label, length)
    try:
        part.write(0, blocks, hear)
    finally:
        progress.done()
    if not part.size or (length and part.size != length):
        raise SourceError(f"was cut off after {part.size:,} of {length:,} bytes", _AGAIN)
