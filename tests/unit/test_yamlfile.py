"""Strict YAML: every trap is a fault with its place and remedy, and nothing else ever escapes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from generator.errors import Fault, InputError
from generator.yamlfile import Document, display_name, faults_from_pydantic, load, read_model

ASSETS = Path(__file__).parents[1] / "assets" / "yaml"

TRAPS = [
    ("duplicate-key", 2, 1, "Keep one"),
    ("duplicate-key-nested", 3, 3, "Keep one"),
    ("merge-key", 2, 3, "Write the entries out"),
    ("anchor", 1, 4, "Write the value out"),
    ("alias", 1, 4, "Write the value out"),
    ("tag", 1, 4, "Remove the tag"),
    ("tag-python", 1, 4, "Remove the tag"),
    ("bare-no", 1, 5, "write true or false, or quote it"),
    ("bare-yes", 1, 4, "write true or false, or quote it"),
    ("bare-on-as-key", 1, 1, "write true or false, or quote it"),
    ("bare-y", 1, 4, "write true or false, or quote it"),
    ("capital-true", 1, 4, "write true or false, or quote it"),
    ("capital-null", 1, 4, "write null, or quote it"),
    ("octal", 1, 4, "without the leading 0"),
    ("octal-0o", 1, 4, "in decimal, or quote it"),
    ("hexadecimal", 1, 4, "in decimal, or quote it"),
    ("binary", 1, 4, "in decimal, or quote it"),
    ("sexagesimal", 1, 4, "quote it"),
    ("underscores", 1, 4, "without underscores"),
    ("infinity", 1, 4, "decimal number"),
    ("not-a-number", 1, 4, "decimal number"),
    ("number-out-of-range", 1, 4, "in range"),
    ("number-vanishes", 1, 4, "in range"),
    ("leading-zero-build", 1, 8, "quote it"),
    ("hash-all-digits", 1, 9, "looks like a hash"),
    ("hash-with-exponent", 1, 9, "looks like a hash"),
    ("hash-with-large-exponent", 1, 9, "looks like a hash"),
    ("tab-in-indentation", 2, 1, "Write spaces"),
    ("tab-after-colon", 1, 3, "Write spaces"),
    ("two-documents", 2, 1, "one document"),
    ("directive", 1, 1, "begins with %"),
    ("merge-conflict", 2, 1, "Keep what belongs there"),
    ("bom", 1, 1, "without BOM"),
    ("utf-16", 1, 1, "UTF-8"),
    ("latin-1", 2, 7, "UTF-8"),
    ("nul", 1, 5, "Remove it"),
    ("escaped-nul", 1, 4, "Remove the escape"),
    ("lone-surrogate-escape", 1, 4, "Remove the escape"),
    ("escape-beyond-unicode", 1, 2, "Mend or remove the escape"),
    ("bidirectional-control", 1, 5, "\\u202e"),
    ("line-separator", 1, 5, "\\u2028"),
    ("lone-carriage-return", 1, 5, "line feed"),
    ("empty", 1, 1, "key: value"),
    ("only-a-comment", 1, 1, "key: value"),
    ("top-level-list", 1, 1, "key: value"),
    ("top-level-text", 1, 1, "key: value"),
    ("integer-key", 1, 1, "Quote it"),
    ("null-key", 1, 1, "Quote it"),
    ("list-as-key", 1, 3, "Quote it"),
    ("nested-too-deep", 1, 36, "flatter"),
    ("nested-too-deep-in-keys", 1, 34, "flatter"),
    ("unclosed-quote", 2, 1, "Close the quotation"),
    ("unclosed-bracket", 2, 1, "close the bracket"),
    ("second-colon", 1, 5, "Quote a text with a colon"),
    ("reserved-sign", 1, 4, "special sign"),
    ("uneven-indentation", 2, 3, "indentation"),
    ("unknown-escape", 1, 6, "single quotes"),
]


def faults_of(path: Path) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        load(path, name=path.name)
    return caught.value.faults


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "some.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("asset", "line", "column", "remedy"), TRAPS, ids=[t[0] for t in TRAPS])
def test_trap_is_one_fault_with_place_and_remedy(
    asset: str, line: int, column: int, remedy: str
) -> None:
    (fault,) = faults_of(ASSETS / f"{asset}.yaml")
    assert (fault.file, fault.line, fault.column) == (f"{asset}.yaml", line, column)
    assert remedy in fault.remedy
    assert fault.problem


def test_every_asset_has_a_case() -> None:
    assert {path.stem for path in ASSETS.glob("*.yaml")} == {"sound", *(t[0] for t in TRAPS)}


def test_sound_file_is_plain_data() -> None:
    data = load(ASSETS / "sound.yaml", name="sound.yaml").data
    assert data["exponents"] == [1e-6, 1000.0, 1000.0, 0.5, 1.0, 123e30]
    assert all(isinstance(number, float) for number in data["exponents"])
    assert data["numbers"] == [0, -1, 2, 4294967295, 0.7]
    assert (data["date"], data["version"]) == ("2026-11-11", "2026.10.11549")
    assert data["truth"] == [True, False]
    assert (data["nothing"], data["empty"]) == ([None, None], None)
    assert data["quoted"] == ["no", "010", "7485e10"]
    assert data["text"] == "两行\ntwo\n"
    assert data["nested"] == [{"name": "a", "odd key": 1}]


def test_all_faults_of_a_file_at_once(tmp_path: Path) -> None:
    faults = faults_of(written(tmp_path, "a: no\nb: 010\nc: &x 1\nd:\t2\na: 3\n"))
    assert [fault.line for fault in faults] == [1, 2, 3, 4, 5]
    assert faults[-1].path == "$.a"
    assert "first in line 1" in faults[-1].problem


def test_positions_are_of_values_or_keys_or_the_nearest_parent(tmp_path: Path) -> None:
    doc = load(written(tmp_path, "a:\n  b: 1\n  c: [x, yy]\n"), name="x")
    assert doc.where(("a", "b")) == (2, 6)
    assert doc.where(("a", "b"), key=True) == (2, 3)
    assert doc.where(("a", "c", 1)) == (3, 10)
    assert doc.where(("a", "gone", "further")) == (1, 1)
    assert doc.where(("a", "c", 7)) == (3, 3)
    assert doc.where(()) == (1, 1)


def test_crlf_lines_are_sound(tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    path.write_bytes(b"a: 1\r\nb: 2\r\n")
    assert load(path, name="x").data == {"a": 1, "b": 2}


@pytest.mark.parametrize("kind", ["missing", "folder", "large"])
def test_unreadable_file_is_a_fault(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    if kind == "folder":
        path.mkdir()
    if kind == "large":
        path.write_text("a: 1\n" + "#" * (1 << 20))
    (fault,) = faults_of(path)
    assert {"missing": "no such", "folder": "cannot be read", "large": "larger"}[
        kind
    ] in fault.problem


YAMLISH = st.text(
    alphabet=st.sampled_from("ab:-?[]{},&*!|>'\"%@`#~<=\\ \n\t\r0123e.xU\0\ud7ff\u2028")
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.one_of(st.text().map(str.encode), YAMLISH.map(str.encode), st.binary()))
def test_any_bytes_give_a_document_or_an_input_error(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "some.yaml"
    path.write_bytes(raw)
    try:
        result: Any = load(path, name="x").data
    except InputError as error:
        result = error.faults
        assert result
        assert all(fault.line >= 1 and fault.column >= 1 for fault in result)
    assert isinstance(result, dict | tuple)


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class ByUrl(Strict):
    type: Literal["url"]
    url: str


class ByPath(Strict):
    type: Literal["path"]
    path: str


class Top(Strict):
    count: int = Field(1, ge=1, description="how many asks")
    temperature: float = 0.5
    seed: int | Literal["drawn", "engine"] = 1
    source: Annotated[ByUrl | ByPath, Field(discriminator="type")] | None = None
    named: dict[Annotated[str, Field(pattern="^[a-z]+$")], ByUrl] = {}
    several: tuple[ByUrl | ByPath, ...] = ()
    flag: bool = False
    maximum: int = Field(1, alias="max-tokens")
    needed: str = Field(description="a title")

    @field_validator("temperature")
    @classmethod
    def _odd(cls, value: float) -> float:
        if value == 13:
            raise ValueError("13 is unlucky → write another")
        return value


SCHEMA_FAULTS = [
    ("temprature: 1", "$.temprature", 1, 1, "unknown key", "did you mean `temperature`?"),
    ("max_tokens: 1", "$.max_tokens", 1, 1, "unknown key", "did you mean `max-tokens`?"),
    ("zzz: 1", "$.zzz", 1, 1, "unknown key", "allowed here: count, temperature"),
    ("count: 0", "$.count", 1, 8, "found 0", "at least 1"),
    ("count: 1e3", "$.count", 1, 8, "found 1e3", "whole number"),
    ("count: '1'", "$.count", 1, 8, "found '1'", "without quotes"),
    ("count:", "$.count", 1, 7, "found nothing", "whole number"),
    ("temperature: 13", "$.temperature", 1, 14, "13 is unlucky", "write another"),
    ("flag: 1", "$.flag", 1, 7, "found 1", "true or false"),
    ("seed: drawm", "$.seed", 1, 7, "found 'drawm'", "did you mean drawn?"),
    ("seed: 1.10", "$.seed", 1, 7, "found 1.10", "or write 'drawn' or 'engine'"),
    ("source: {type: url, url: 3}", "$.source.url", 1, 26, "found 3", "quote it"),
    ("source: {type: urk}", "$.source.type", 1, 16, "found 'urk'", "did you mean url?"),
    ("source: {url: a}", "$.source", 1, 9, "'type' is missing", "add it"),
    ("source: {type: url, url: a, urls: b}", "$.source.urls", 1, 29, "unknown", "mean `url`?"),
    ("named: {A1: {type: url, url: a}}", "$.named.A1", 1, 9, "the key `A1`", "of the form"),
    ("named: {a: {type: url, url: 1}}", "$.named.a.url", 1, 29, "found 1", "text"),
    ("several: {}", "$.several", 1, 10, "found a mapping", "a list"),
    ("named: []", "$.named", 1, 8, "found a list", "a mapping"),
]


@pytest.mark.parametrize("case", SCHEMA_FAULTS, ids=lambda case: case[0])
def test_schema_fault_says_where_what_and_what_is_allowed(
    case: tuple[str, str, int, int, str, str], tmp_path: Path
) -> None:
    text, *place, problem, remedy = case
    with pytest.raises(InputError) as caught:
        read_model(load(written(tmp_path, f"{text}\nneeded: a\n"), name="x"), Top)
    (fault,) = caught.value.faults
    assert [fault.path, fault.line, fault.column] == place
    assert problem in fault.problem
    assert remedy in fault.remedy


def test_missing_key_is_told_at_its_parent_with_its_description(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_model(load(written(tmp_path, "count: 1\n"), name="x"), Top)
    (fault,) = caught.value.faults
    assert (fault.path, fault.problem) == ("$.needed", "`needed` is missing")
    assert fault.remedy == "add it: a title"


def test_union_labels_do_not_leak_into_paths(tmp_path: Path) -> None:
    text = "needed: a\nseveral:\n  - {type: url, url: 1}\n"
    with pytest.raises(InputError) as caught:
        read_model(load(written(tmp_path, text), name="x"), Top)
    known = {"$.several[0].url", "$.several[0].type", "$.several[0].path"}
    assert {fault.path for fault in caught.value.faults} <= known


def test_prefix_is_part_of_path_and_place(tmp_path: Path) -> None:
    doc: Document = load(written(tmp_path, "a:\n  - type: url\n    url: 3\n"), name="x")
    with pytest.raises(ValidationError) as caught:
        ByUrl.model_validate(doc.data["a"][0])
    (fault,) = faults_from_pydantic(caught.value, doc, prefix=("a", 0), model=ByUrl)
    assert (fault.path, fault.line, fault.column) == ("$.a[0].url", 3, 10)


def test_lists_become_tuples(tmp_path: Path) -> None:
    text = "needed: a\nseveral: [{type: path, path: b}]\n"
    top = read_model(load(written(tmp_path, text), name="x"), Top)
    assert top.several == (ByPath(type="path", path="b"),)


def test_display_name_is_relative_inside_the_root_only(tmp_path: Path) -> None:
    assert display_name(tmp_path, tmp_path / "receipts" / "a.yaml") == "receipts/a.yaml"
    assert display_name(tmp_path / "receipts", tmp_path / "b.yaml") == str(tmp_path / "b.yaml")
