"""Bytes become JSON without loss, and what is no JSON is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.wire import WireError, body_of, parse_object, parse_stream, text_to_keep

DONE = b"data: [DONE]\n\n"


def fault(raw: bytes) -> str:
    with pytest.raises(WireError) as caught:
        parse_object(raw)
    return caught.value.kind


def stream_fault(raw: bytes) -> str:
    with pytest.raises(WireError) as caught:
        parse_stream(raw)
    return caught.value.kind


def test_a_lone_surrogate_and_a_big_integer_survive() -> None:
    raw = b'{"a": "x\\ud800y", "b": 123456789012345678901234567890, "c": -0.0}'
    assert parse_object(raw) == {"a": "x\ud800y", "b": 123456789012345678901234567890, "c": -0.0}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_survives(value: float) -> None:
    assert parse_object(json.dumps({"v": value}).encode()) == {"v": value}


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"a": 1', "not_json"),
        (b"", "not_json"),
        (b"<html>503</html>", "not_json"),
        (b"[1]", "not_json"),
        (b'{"a": NaN}', "not_json"),
        (b'{"a": 1e999}', "not_json"),
        (b"\xef\xbb\xbf{}", "not_json"),
        (b'{"a":' * 100_000, "not_json"),
        (b'{"a": "\xff"}', "invalid_utf8"),
        (b'{"a": "\xed\xa0\x80"}', "invalid_utf8"),
        (b'{"a": "\xe4\xb8"}', "invalid_utf8"),
    ],
)
def test_what_is_no_json_object_is_named(raw: bytes, kind: str) -> None:
    assert fault(raw) == kind


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\u3000", "\U0001f600"])
def test_only_cr_and_lf_end_a_line(end: str, odd: str) -> None:
    event = json.dumps({"content": f"a{odd}b"}, ensure_ascii=False)
    raw = f"data: {event}{end}{end}data: [DONE]{end}{end}".encode()
    assert parse_stream(raw) == [{"content": f"a{odd}b"}]


def test_comments_other_fields_and_data_in_several_lines_are_read() -> None:
    raw = b': ping\n\nevent: x\nid: 1\ndata:{\ndata: "a": 1}\n\n' + DONE
    assert parse_stream(raw) == [{"a": 1}]


def test_a_completion_ends_with_its_last_event() -> None:
    events = parse_stream(b'data: {"stop": false}\n\ndata: {"stop": true}\n\n')
    assert events == [{"stop": False}, {"stop": True}]


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'data: {"content": "a"}\n\n', "truncated"),
        (b'data: {"content": "a"}\n\ndata: {"cont', "truncated"),
        (b"", "truncated"),
        (b'data: {"content"\n\n' + DONE, "not_json"),
        (b'data: {"error": {"code": 500}}\n\n' + DONE, "engine_error"),
        (b'data: {"a": "\xff"}\n\n' + DONE, "invalid_utf8"),
    ],
)
def test_a_stream_that_is_not_whole_is_no_answer(raw: bytes, kind: str) -> None:
    assert stream_fault(raw) == kind


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b'{"b":1,"a":[0.5,1e-05,"\xe4\xbd\xa0"],"c":-0.0}', False),
        (b'{"a":1.0e-5}', True),
        (b'{"a": 1}', True),
        (b'{"a":1}\n', True),
        (b'{"a":1,"a":1}', True),
        (b'{"a":"\\u4f60"}', True),
        (b'{"a":"\\ud800"}', True),
        (b'{"a":"\\/"}', True),
    ],
)
def test_the_bytes_of_a_body_come_back_with_its_text_kept_only_where_it_must(
    raw: bytes, kept: bool
) -> None:
    response = parse_object(raw)
    text = text_to_keep(response, raw)
    assert (text is not None) == kept
    assert body_of(response, text) == raw


def test_the_bytes_of_a_stream_come_back() -> None:
    raw = b'data: {"stop":true}\r\n\r\n' + DONE
    response = {"events": parse_stream(raw)}
    assert body_of(response, text_to_keep(response, raw)) == raw
