"""Every leaf of real receipts is changed: it is caught and named, or on the list of free ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from generator.audit.findings import Report
from generator.audit.free import FREE, reason
from generator.audit.invariants import INVARIANTS
from generator.audit.receipts import check_receipt
from generator.declaration import Declaration
from generator.evidence import declare
from generator.pins import Pins, load_pins
from generator.receipt import Receipt

ROOT = Path(__file__).resolve().parents[3]
ARTICLE = "why-outputs-differ"
EACH = 2
"""How many leaves of one pattern are changed."""


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, list[str | int]]]:
    """Yield every leaf's pointer and path."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            step = str(key).replace("~", "~0").replace("/", "~1")
            for below, path in leaves(inner, f"{pointer}/{step}"):
                yield below, [key, *path]
    else:
        yield pointer, []


def other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.5 + 0.25
        case str():
            return f"{value[:-1]}{'0' if value[-1:] != '0' else '1'}"
        case None:
            return 1
        case _:
            return [*value, 1] if isinstance(value, list) else {**value, "more": 1}


def changed(data: Any, path: list[str | int]) -> Any:
    """Return a copy of *data* in which the leaf at *path* is another."""
    if not path:
        return other(data)
    key, *rest = path
    if isinstance(data, dict):
        return {**data, key: changed(data[str(key)], rest)}
    copy = list(data)
    copy[int(key)] = changed(copy[int(key)], rest)
    return copy


def sampled(data: Any) -> list[tuple[str, list[str | int]]]:
    """Return up to *EACH* leaves of every pattern, the first and the last of them."""
    by_pattern: dict[str, list[tuple[str, list[str | int]]]] = {}
    for pointer, path in leaves(data):
        by_pattern.setdefault(re.sub(r"/\d+(?=/|$)|[0-9a-f]{64}", "/*", pointer), []).append(
            (pointer, path)
        )
    return [one for found in by_pattern.values() for one in _ends(found)]


def _ends(found: list[Any]) -> list[Any]:
    return found if len(found) <= EACH else [found[0], found[-1]]


def findings(data: Any, name: str, declaration: Declaration, pins: Pins) -> list[str]:
    """Return the pointers that an audit of a changed receipt names."""
    try:
        receipt = Receipt.model_validate(data)
    except ValidationError as error:
        return ["/" + "/".join(str(part) for part in one["loc"]) for one in error.errors()]
    report = Report()
    check_receipt(
        report, ROOT, "r.json", declaration=declaration, pins=pins, name=name, receipt=receipt
    )
    return [finding.pointer for finding in report.findings]


@pytest.mark.parametrize("name", ["five-runs", "thinking"])
def test_every_changed_leaf_is_caught_or_free(name: str) -> None:
    declaration, pins = declare(ROOT, ARTICLE), load_pins(ROOT)
    path = ROOT / "receipts" / ARTICLE / f"{name}.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    assert findings(data, name, declaration, pins) == []
    missed = [
        pointer
        for pointer, path_ in sampled(data)
        if not findings(changed(data, path_), name, declaration, pins) and reason(pointer) is None
    ]
    assert missed == []


def test_every_free_pattern_has_a_reason() -> None:
    assert all(len(why) > 20 for why in FREE.values())


def test_the_document_lists_every_free_place_and_every_invariant() -> None:
    text = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    assert all(f"| `{pattern}` | {why} |" in text for pattern, why in FREE.items())
    assert all(f"- {invariant.rule}" in text for invariant in INVARIANTS)
