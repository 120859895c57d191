"""The two ways JSON is written here: canonical for digests, pretty for people and `git diff`."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

_UNPRINTABLE = re.compile(
    "[\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def visible(text: str) -> str:
    """Return *text* with every character that cannot be seen escaped, but tabs and line breaks."""
    return re.sub(r"[\x00-\x08\x0b-\x1f]", _escape, _UNPRINTABLE.sub(_escape, text))


def canonical(value: Any) -> bytes:
    """Write *value* as compact JSON with sorted keys, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest(value: Any) -> str:
    """Return the sha256 of *value*'s canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def pretty(value: Any, *, as_they_came: str | None = None) -> str:
    """Write *value* as indented JSON with sorted keys and a trailing newline.

    Letters of every script stay readable; characters that cannot be seen (bidirectional controls,
    line separators, tags, lone surrogates) are escaped, so that a reviewer sees what is there.

    Args:
        value: What is written.
        as_they_came: Objects under this key keep their keys in the order that they have.
    """
    if as_they_came is not None:
        value = _sorted(value, as_they_came)
    text = json.dumps(
        value, sort_keys=as_they_came is None, indent=1, ensure_ascii=False, allow_nan=False
    )
    return _UNPRINTABLE.sub(_escape, text) + "\n"


def _sorted(value: Any, kept: str) -> Any:
    match value:
        case dict():
            return {k: value[k] if k == kept else _sorted(value[k], kept) for k in sorted(value)}
        case list():
            return [_sorted(entry, kept) for entry in value]
        case _:
            return value
