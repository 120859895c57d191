"""Edits of YAML in place: what is meant changes, and nothing else does."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
import yaml

from generator.yaml_edit import EditError, drop, put

TEXT = """\
# The head.
engines:
  one:  # the first
    type: path
    path: bin/llama-server
    sha256: "aaaa"   # as of today
    build: 6543
    libraries:
      # found beside it
      libllama.so.0: "bbbb"
      libggml.so: "cccc"

  # The second, with its comment.
  two:
    urls:
      - https://example.org/a
      - "https://example.org/b"   # a mirror
    note: >
      several
      lines
    flow: {a: 1, b: two}
# The tail.
"""


def changed(after: str) -> list[str]:
    """Return the lines that differ from TEXT, each with a sign before it."""
    lines = [*difflib.unified_diff(TEXT.splitlines(), after.splitlines(), n=0)][2:]
    return [f"{line[0]} {line[1:]}" for line in lines if line[0] in "+-"]


@pytest.mark.parametrize(
    ("path", "value", "lines"),
    [
        (
            ("engines", "one", "sha256"),
            "dddd",
            ['-     sha256: "aaaa"   # as of today', '+     sha256: "dddd"   # as of today'],
        ),
        (("engines", "one", "build"), 6600, ["-     build: 6543", "+     build: 6600"]),
        (
            ("engines", "one", "path"),
            "6543",
            ["-     path: bin/llama-server", '+     path: "6543"'],
        ),
        (
            ("engines", "two", "urls", 1),
            "https://example.org/c",
            [
                '-       - "https://example.org/b"   # a mirror',
                '+       - "https://example.org/c"   # a mirror',
            ],
        ),
        (("engines", "one", "libraries", "libx.so"), "e" * 64, [f'+       libx.so: "{"e" * 64}"']),
        (("engines", "one", "more", "deep"), "yes", ["+     more:", '+       deep: "yes"']),
        (
            ("engines", "two", "flow", "b"),
            3,
            ["-     flow: {a: 1, b: two}", "+     flow: {a: 1, b: 3}"],
        ),
        (
            ("engines", "two", "urls"),
            ["https://example.org/d"],
            [
                "-       - https://example.org/a",
                '-       - "https://example.org/b"   # a mirror',
                "+       - https://example.org/d",
            ],
        ),
        (
            ("engines", "three"),
            {"type": "path", "build": 1, "urls": ["a: b"]},
            [
                "+ ",
                "+   three:",
                "+     type: path",
                "+     build: 1",
                "+     urls:",
                '+       - "a: b"',
            ],
        ),
    ],
)
def test_put(path: tuple[str | int, ...], value: Any, lines: list[str]) -> None:
    after = put(TEXT, path, value)
    assert changed(after) == lines
    found = yaml.safe_load(after)
    for step in path:
        found = found[step]
    assert found == value


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (("engines", "one", "libraries", "libggml.so"), ['-       libggml.so: "cccc"']),
        (
            ("engines", "one", "libraries"),
            [
                "-     libraries:",
                "-       # found beside it",
                '-       libllama.so.0: "bbbb"',
                '-       libggml.so: "cccc"',
            ],
        ),
        (("engines", "two", "note"), ["-     note: >", "-       several", "-       lines"]),
    ],
)
def test_drop(path: tuple[str | int, ...], lines: list[str]) -> None:
    after = drop(TEXT, path)
    assert changed(after) == lines
    found = yaml.safe_load(after)
    for step in path[:-1]:
        found = found[step]
    assert path[-1] not in found


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (TEXT, ("engines", "two", "flow", "c")),
        (TEXT, ("engines", "two", "urls", 2)),
        (TEXT, ("engines", "two", "note")),
        ("engines:\n", ("engines", "one")),
        ("engines: {}\n", ("engines", "one")),
        ("", ("engines", "one")),
    ],
)
def test_what_cannot_be_put_is_refused(text: str, path: tuple[str | int, ...]) -> None:
    with pytest.raises(EditError):
        put(text, path, "x")


@pytest.mark.parametrize(
    "path",
    [("engines", "one", "gone"), ("engines", "two", "flow", "a"), ("engines", "two", "urls", 0)],
)
def test_what_cannot_be_dropped_is_refused(path: tuple[str | int, ...]) -> None:
    with pytest.raises(EditError):
        drop(TEXT, path)


def test_the_only_entry_of_a_mapping_is_not_dropped() -> None:
    with pytest.raises(EditError):
        drop("a:\n  b: 1\n", ("a", "b"))


def test_a_list_between_braces_is_not_replaced() -> None:
    with pytest.raises(EditError):
        put("a: {b: [1]}\n", ("a", "b"), [2])


def test_a_last_line_without_end() -> None:
    assert put("a:\n  b: 1", ("a", "c"), 2) == "a:\n  b: 1\n  c: 2\n"


@pytest.mark.parametrize(
    "value", ["no", "1e5", "12:30", "", " a", "a #b", "- a", "null", "a: b", "中文", "{a", "0x1f"]
)
def test_what_yaml_would_take_for_something_else_is_quoted(value: str) -> None:
    assert yaml.safe_load(put("a: x\n", ("a",), value)) == {"a": value}
    assert put("a: x\n", ("a",), value) == put('a: "x"\n', ("a",), value)
