"""What a server's answer to a download means, before its bytes are believed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus

import httpx

from generator.models.hub import Address

MEND = "Mend the address where it is pinned, in receipts/pins/."
MIRROR = "Try again later, or add a mirror where it is pinned, in receipts/pins/."
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_PAGE = re.compile(rb"(\xef\xbb\xbf)?\s*<(!doctype|html|head|body|\?xml|!--)", re.IGNORECASE)
_TELLING = 64
_NO_ACCESS = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
_GONE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
_MISSING = {
    "RepoNotFound": "no such model",
    "RevisionNotFound": "no such revision of the model",
    "EntryNotFound": "no such file in the model",
}


class SourceError(Exception):
    """One address did not give the file.

    Args:
        how: What happened there, to be read after the address.
        remedy: What to do about it.
    """

    def __init__(self, how: str, remedy: str) -> None:
        self.how = how
        self.remedy = remedy
        super().__init__(how)

    @classmethod
    def wrong_length(cls, expected: int, found: str) -> SourceError:
        """Tell of a file which is not as long as the pinned one."""
        return cls(f"has a file of {found} bytes, and {expected} bytes are pinned", MEND)


def begins_at(response: httpx.Response, address: Address, start: int, etag: str) -> int | None:
    """Tell at which byte of the file the answer's body begins.

    Args:
        response: The answer, its body unread.
        address: Where it was asked for.
        start: The byte which was asked for.
        etag: How the server called the version that was kept; empty if that is not known.

    Returns:
        The first byte, or None if what was kept cannot be gone on with here.

    Raises:
        SourceError: The answer is no file.
    """
    status = response.status_code
    if start and status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return None
    if start and status == HTTPStatus.PARTIAL_CONTENT:
        match = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
        other = etag and response.headers.get("etag", etag) != etag
        return None if match is None or int(match[1]) != start or other else start
    if status != HTTPStatus.OK:
        raise _refusal(response, address)
    return 0


def beginning(blocks: Iterator[bytes]) -> bytes:
    """Take as much of a body as tells a page from a file; its first block may be a few bytes."""
    first = b""
    for block in blocks:
        first += block
        if len(first) >= _TELLING:
            break
    return first


def check_body(response: httpx.Response, first: bytes, start: int, total: int) -> None:
    """Refuse a body which is not that of the pinned file, as far as can be told by its beginning.

    Args:
        response: The answer.
        first: The beginning of its body.
        start: At which byte of the file it begins.
        total: The pinned size.

    Raises:
        SourceError: It is a web page, compressed, or of another length.
    """
    headers = response.headers
    page = headers.get("content-type", "").lower().startswith("text/html")
    if page or (not start and _PAGE.match(first)):
        raise SourceError(
            "answered with a web page, not a file",
            f"Look at it in a browser: it may ask for a login. {MEND}",
        )
    coding = headers.get("content-encoding", "identity").lower()
    if coding != "identity":
        raise SourceError("sent the file compressed, which it was asked not to do", MIRROR)
    match = _CONTENT_RANGE.fullmatch(headers.get("content-range", "")) if start else None
    if match is not None and match[3] not in {"*", str(total)}:
        raise SourceError.wrong_length(total, match[3])
    length = headers.get("content-length", "")
    if length.isdecimal() and start + int(length) != total:
        raise SourceError.wrong_length(total, str(start + int(length)))


def _refusal(response: httpx.Response, address: Address) -> SourceError:
    status = response.status_code
    # The server's own words for it might quote what it was sent.
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    how = f"answered {status} {phrase}".strip()
    code = response.headers.get("x-error-code", "")
    if status in _GONE:
        return SourceError(f"{how}: {_MISSING.get(code, 'no such file')}", MEND)
    if status not in _NO_ACCESS:
        return SourceError(how, MIRROR)
    if not address.by_hub:
        return SourceError(
            f"{how}; the hub's token is not sent there",
            "Ask those who run it for access, or pin another address in receipts/pins/.",
        )
    if code == "GatedRepo" or (status == HTTPStatus.FORBIDDEN and address.token):
        return SourceError(
            f"{how}: the model's owner has not given you access",
            "Accept the terms on the model's page with the account of your token (HF_TOKEN).",
        )
    if address.token:
        return SourceError(
            f"{how}: it does not accept your token",
            "Renew the token in HF_TOKEN, or unset it if the model is public.",
        )
    return SourceError(
        f"{how}: it wants to know who asks, or has no such model",
        "Set HF_TOKEN to a token of an account with access (or HF_TOKEN_PATH to a file that holds"
        f" it). {MEND}",
    )
