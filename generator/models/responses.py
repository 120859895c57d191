"""What a server's answer to a download means, before its bytes are believed."""

from __future__ import annotations

import re
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_PAGE = re.compile(rb"\s*<(!doctype|html|head|\?xml)", re.IGNORECASE)
_MEND = "Mend the address in receipts/pins/models.yaml."
_LATER = "Try again later, or add a mirror in receipts/pins/models.yaml."
_REMEDIES = {
    HTTPStatus.UNAUTHORIZED: "Ask for access to the model and set HF_TOKEN.",
    HTTPStatus.FORBIDDEN: "Ask for access to the model and set HF_TOKEN.",
    HTTPStatus.NOT_FOUND: _MEND,
    HTTPStatus.GONE: _MEND,
}


class SourceError(Exception):
    """One address did not give the file.

    Args:
        url: The address.
        how: What happened there.
        remedy: What to do about it.
    """

    def __init__(self, url: str, how: str, remedy: str) -> None:
        self.what = f"{shown(url)} {how}."
        self.remedy = remedy
        super().__init__(self.what)

    @classmethod
    def wrong_length(cls, response: httpx.Response, expected: int, found: int) -> SourceError:
        """Tell of a file which is not as long as the pinned one."""
        how = f"has a file of {found} bytes or more, and {expected} bytes are pinned"
        return cls(str(response.url), how, _MEND)


def shown(url: str) -> str:
    """Write an address without what may be secret in it: user, password and query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def begins_at(response: httpx.Response, start: int, total: int) -> int | None:
    """Tell at which byte of the file the answer's body begins.

    Args:
        response: The answer, its body unread.
        start: The byte which was asked for.
        total: The pinned size.

    Returns:
        The first byte, or None if what was kept cannot be resumed here.

    Raises:
        SourceError: The answer is not the pinned file.
    """
    status = response.status_code
    if start and status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return None
    if start and status == HTTPStatus.PARTIAL_CONTENT:
        match = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
        if match is None or int(match[1]) != start:
            return None
        if match[3] not in {"*", str(total)}:
            raise SourceError.wrong_length(response, total, int(match[3]))
        return start
    if status != HTTPStatus.OK:
        name = f"{status} {response.reason_phrase}".strip()
        remedy = _REMEDIES.get(HTTPStatus(status), _LATER) if status in set(HTTPStatus) else _LATER
        raise SourceError(str(response.url), f"answered {name}", remedy)
    _refuse_page_type(response)
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) != total:
        raise SourceError(
            str(response.url), f"has a file of {length} bytes, and {total} bytes are pinned", _MEND
        )
    return 0


def refuse_page(response: httpx.Response, block: bytes) -> None:
    """Refuse a body which begins like a web page.

    Raises:
        SourceError: It does.
    """
    if _PAGE.match(block):
        raise SourceError(str(response.url), "answered with a web page, not a model", _MEND)


def _refuse_page_type(response: httpx.Response) -> None:
    if response.headers.get("content-type", "").lower().startswith("text/html"):
        raise SourceError(str(response.url), "answered with a web page, not a model", _MEND)
