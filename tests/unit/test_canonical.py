"""JSON as it is written here loses nothing and hides nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.canonical import canonical, digest, pretty, visible

LONE = "\ud800"
# json reads a high and a low surrogate that stand side by side as the one character they encode
TEXT = st.text().map(lambda text: json.loads(json.dumps(text)))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_both_ways_of_writing_give_the_value_back(value: Any) -> None:
    assert json.loads(canonical(value)) == value
    assert json.loads(pretty(value).encode()) == value


@pytest.mark.parametrize("value", [2**64 - 1, 2**80 + 1, -(2**70), 5e-324, 0.1, 1e308, -0.0])
def test_numbers_come_back_exactly(value: float) -> None:
    for text in (canonical(value), pretty(value)):
        back = json.loads(text)
        assert (type(back), repr(back)) == (type(value), repr(value))


def test_a_lone_surrogate_survives_both() -> None:
    value = {"a" + LONE: ["x" + LONE + "y"]}
    assert json.loads(canonical(value)) == value
    assert json.loads(pretty(value).encode("utf-8")) == value


@pytest.mark.parametrize(
    "hidden",
    [
        *("\u202e", "\u2066", "\u061c", "\u200b", "\u2028", "\ufeff", "\u00ad", "\u3164"),
        *("\ufe0f", "\u180e", "\u0085", "\x1b", LONE, "\U000e0041", "\U0001d173"),
    ],
)
def test_what_cannot_be_seen_is_escaped(hidden: str) -> None:
    written = pretty({"text": f"a{hidden}b"})
    assert hidden not in written
    assert "\\u" in written
    assert json.loads(written) == {"text": f"a{hidden}b"}


def test_letters_of_every_script_stay_readable() -> None:
    assert pretty({"b": "为什么 é", "a": 1}) == '{\n "a": 1,\n "b": "为什么 é"\n}\n'


def test_a_backslash_before_a_hidden_character_is_not_eaten() -> None:
    value = "\\\u202e\\\\\u200b"
    assert json.loads(pretty(value)) == value


def test_canonical_is_compact_sorted_ascii() -> None:
    assert canonical({"b": [1, "é"], "a": None}) == b'{"a":null,"b":[1,"\\u00e9"]}'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_hold_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical([number])
    with pytest.raises(ValueError, match="not JSON compliant"):
        pretty([number])


@given(st.dictionaries(TEXT, JSON, min_size=2, max_size=5))
def test_the_order_of_keys_does_not_change_the_digest(value: dict[str, Any]) -> None:
    assert digest(dict(reversed(list(value.items())))) == digest(value)


def test_the_digest_is_known() -> None:
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_a_text_shows_what_could_not_be_seen_and_keeps_its_lines() -> None:
    assert visible("a\tb\n你好 \u202e\x1b[31m\x00") == "a\tb\n你好 \\u202e\\u001b[31m\\u0000"
