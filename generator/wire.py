"""From the bytes that a server sent to JSON, without losing or inventing anything."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Literal

WireFault = Literal["not_json", "invalid_utf8", "truncated", "engine_error"]
# Only these end a line: U+2028, U+0085 and the vertical tab may stand inside a JSON string.
_LINE_END = re.compile("\r\n|\n|\r")


class WireError(Exception):
    """Bytes that are not the answer they should be.

    Args:
        kind: What is wrong with them.
        message: Where and how.
    """

    def __init__(self, kind: WireFault, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


def _utf8(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError("invalid_utf8", f"byte {error.start} is not UTF-8") from error


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise WireError("not_json", f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise WireError("not_json", f"JSON, but no object: {type(value).__name__}")
    return value


def parse_object(raw: bytes) -> dict[str, Any]:
    """Read a whole answer.

    Big integers stay exact, lone surrogate escapes stay what they are; `NaN` and numbers beyond a
    double's range, which JSON cannot hold, are refused.

    Raises:
        WireError: It is not UTF-8, or no JSON object.
    """
    return _object(_utf8(raw))


def parse_stream(raw: bytes) -> list[dict[str, Any]]:
    """Read a whole stream of server-sent events, each holding a JSON object.

    Raises:
        WireError: An event cannot be read, the engine reports an error in the middle of it, or the
            end is missing.
    """
    events: list[dict[str, Any]] = []
    data: list[str] = []
    done = False
    for line in _LINE_END.split(_utf8(raw)):
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif line == "" and data:
            text, data = "\n".join(data), []
            if text == "[DONE]":
                done = True
                continue
            events.append(_object(text))
            if "error" in events[-1]:
                raise WireError("engine_error", f"in the stream: {events[-1]['error']}")
    if not done and not (events and events[-1].get("stop") is True):
        raise WireError("truncated", f"the stream breaks off after {len(events)} events")
    return events


def body_of(response: Mapping[str, Any], raw: str | None) -> bytes:
    """Return the bytes of a body as they were received.

    Args:
        response: Its JSON, in the order of its keys.
        raw: Its text, if it is not what `response` gives written compactly.
    """
    text = raw
    if text is None:
        text = json.dumps(response, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def text_to_keep(response: Mapping[str, Any], raw: bytes) -> str | None:
    """Return the text of a body, or None where `body_of` gives it back from *response* alone.

    It does not where numbers are spelled otherwise (`1.0e-5`), between tokens is white space, or
    the body is a stream of events.
    """
    return None if body_of(response, None) == raw else raw.decode()
