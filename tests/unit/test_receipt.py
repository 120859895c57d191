"""A receipt on disk is read whole or refused, and replaced whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from generator.errors import AuditError
from generator.files import write_atomically
from generator.receipt import SCHEMA_VERSION, Answered, read, receipt_path, render
from tests.factory import completion_response, make_ask, make_boot, make_receipt

RECEIPT = make_receipt(
    "repeat",
    [
        make_boot(
            [
                make_ask(completion_response(["\ud800", "\u202e", " 你好"]), name="1"),
                make_ask(None, name="2", seed=None),
                make_ask(completion_response(), name="3", seed_word="drawn"),
            ]
        )
    ],
    interrupted=[make_boot([completion_response()])],
)


def _written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "receipt.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _changed(**fields: Any) -> str:
    return json.dumps(RECEIPT.model_dump(mode="json") | fields)


def test_a_receipt_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.json"
    write_atomically(path, render(RECEIPT))
    again = read(path, name="b.json")
    assert again == RECEIPT
    assert render(again).encode() == path.read_bytes()


def test_a_receipt_lies_beside_its_declaration(tmp_path: Path) -> None:
    assert receipt_path(tmp_path, "why", "five-runs") == tmp_path / "receipts/why/five-runs.json"


def test_asks_come_in_order_and_only_counted_ones() -> None:
    asks = list(RECEIPT.asks())
    assert [(boot.name, ask.name) for boot, ask in asks] == [
        ("main", "1"),
        ("main", "2"),
        ("main", "3"),
    ]
    assert [ask.replayable for _, ask in asks] == [True, False, True]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "not JSON"),
        ("", "not JSON"),
        ("[]", "no object"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("[" * 100_000, "not JSON"),
        ('{"analysis": NaN}', "no JSON number"),
        ('{"analysis": 1e999}', "too large"),
    ],
)
def test_what_is_no_json_is_refused(tmp_path: Path, text: str | bytes, what: str) -> None:
    with pytest.raises(AuditError, match=what) as caught:
        read(_written(tmp_path, text), name="receipts/a/b.json")
    assert "receipts/a/b.json" in caught.value.what
    assert "git checkout" in caught.value.remedy


@pytest.mark.parametrize(
    ("version", "remedy"),
    [(SCHEMA_VERSION + 1, "Use the version"), (SCHEMA_VERSION - 1, "Measure again")],
)
def test_another_schema_is_refused_by_its_version(
    tmp_path: Path, version: int, remedy: str
) -> None:
    with pytest.raises(AuditError, match=f"/schema_version is {version}") as caught:
        read(_written(tmp_path, _changed(schema_version=version, unheard_of=1)), name="b.json")
    assert caught.value.remedy.startswith(remedy)


def test_keys_of_a_response_stay_as_they_came_and_all_others_are_sorted(tmp_path: Path) -> None:
    response = {"z": 1, "a": [{"y": 2, "b": 3}]}
    receipt = make_receipt("repeat", [make_boot([response])])
    text = render(receipt)
    again = read(_written(tmp_path, text), name="b.json")
    assert list(json.loads(text)) == sorted(json.loads(text))
    outcome = again.boots[0].asks[0].outcome
    assert isinstance(outcome, Answered)
    assert json.dumps(outcome.response) == json.dumps(response)
    assert render(again) == text


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"measured_on": "2026-02-31"}, "/measured_on"),
        ({"started": "yesterday"}, "/started"),
        ({"plan_sha256": "0"}, "/plan_sha256"),
        ({"unheard_of": 1}, "/unheard_of"),
        ({"schema_version": "1"}, "/schema_version"),
        ({"article": "../x"}, "/article"),
        ({"boots": [{}]}, "/boots/0/name"),
    ],
)
def test_what_does_not_fit_is_named_by_its_pointer(
    tmp_path: Path, fields: dict[str, Any], where: str
) -> None:
    with pytest.raises(AuditError, match="does not fit") as caught:
        read(_written(tmp_path, _changed(**fields)), name="b.json")
    assert any(f": {where}: " in line for line in caught.value.details)


def test_an_outcome_is_known_by_its_status(tmp_path: Path) -> None:
    data = RECEIPT.model_dump(mode="json")
    data["boots"][0]["asks"][0]["outcome"]["status"] = "lost"
    with pytest.raises(AuditError) as caught:
        read(_written(tmp_path, json.dumps(data)), name="b.json")
    assert any("/boots/0/asks/0/outcome" in line for line in caught.value.details)
