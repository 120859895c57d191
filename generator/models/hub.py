"""The hub that models come from: its endpoint and a token, taken from the environment.

Nothing of either is ever recorded: what is told and kept is the address as it is pinned.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from generator.errors import FetchError

_HUB = "https://huggingface.co"
_TOKEN = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Address:
    """Where a file is asked for.

    Attributes:
        name: How it is told: as it is pinned, without what may be secret in it.
        url: Where it is really asked for.
        token: What proves there that we may have it, if anything does.
        by_hub: Whether it is the hub's.
    """

    name: str
    url: str = field(repr=False)
    token: str | None = field(repr=False)
    by_hub: bool


def address_of(pinned: str) -> Address:
    """Tell where a pinned address leads in this environment.

    ``HF_ENDPOINT`` stands for the hub's own address. A token comes, in this order, from
    ``HF_TOKEN``, ``HUGGING_FACE_HUB_TOKEN`` and the file that ``HF_TOKEN_PATH`` names.

    Args:
        pinned: The address as it is pinned.

    Raises:
        FetchError: The environment names an endpoint or a token that cannot be one.
    """
    endpoint = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or _HUB
    hub = _origin(endpoint)
    if hub is None:
        raise FetchError(
            "HF_ENDPOINT is not the address of a hub.",
            f"Set it to one such as {_HUB}, or unset it.",
        )
    moved = pinned.startswith(f"{_HUB}/") and endpoint != _HUB
    url = endpoint + pinned.removeprefix(_HUB) if moved else pinned
    origin = _origin(url)
    if origin is None:
        raise FetchError(
            f"{pinned} is not an address that can be fetched.",
            "Mend it where it is pinned, in receipts/pins/.",
        )
    by_hub = origin == hub
    name = shown(pinned) + (" (by way of HF_ENDPOINT)" if moved else "")
    return Address(name, url, _token() if by_hub else None, by_hub)


def shown(url: str) -> str:
    """Write an address without what may be secret in it: user, password and query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def _origin(url: str) -> tuple[str, str, int | None] | None:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return None
    whole = parsed.scheme in ("http", "https") and parsed.host
    return (parsed.scheme, parsed.host, parsed.port) if whole else None


def _token() -> str | None:
    given = os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN") or ""
    token = given.strip() or _token_file().strip()
    if token and not _TOKEN.fullmatch(token):
        # Told here, since whoever sends it would quote it.
        raise FetchError(
            "The hub's token in the environment has characters that no token has.",
            "Set HF_TOKEN to the token alone, or unset it.",
        )
    return token or None


def _token_file() -> str:
    named = os.environ.get("HF_TOKEN_PATH")
    if not named:
        return ""
    try:
        return Path(os.path.expandvars(named)).expanduser().read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise FetchError(
            "The file that HF_TOKEN_PATH names cannot be read as a token.",
            "Set HF_TOKEN_PATH to a file that holds the token alone, or unset it.",
        ) from error
