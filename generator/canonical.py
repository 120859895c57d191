"""The two ways JSON is written here: canonical for digests, pretty for people and `git diff`."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

_UNPRINTABLE = re.compile(
    "[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def canonical(value: Any) -> bytes:
    """Write *value* as compact JSON with sorted keys, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest(value: Any) -> str:
    """Return the sha256 of *value*'s canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def pretty(value: Any) -> str:
    """Write *value* as indented JSON with sorted keys and a trailing newline.

    Letters of every script stay readable; characters that cannot be seen (bidirectional controls,
    line separators, lone surrogates) are escaped, so that a reviewer sees what is there.
    """
    text = json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return _UNPRINTABLE.sub(_escape, text) + "\n"
