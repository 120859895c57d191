"""Strict reading of YAML: plain data with positions, every trap a fault, all faults at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from generator.errors import Fault, InputError
from generator.yaml_document import Document, Path_, Place, Position, display_name, path_text
from generator.yaml_faults import faults_from_pydantic, read_model
from generator.yaml_scalars import TrapError, read_plain
from generator.yaml_text import read_text

__all__ = ["Document", "display_name", "faults_from_pydantic", "load", "path_text", "read_model"]

_MOST_DEPTH = 32
_UNFIT = re.compile("[\0\ud800-\udfff]")
_QUOTE = "Mend the YAML here"
_SYNTAX_REMEDIES = {
    "mapping values are not allowed here": "Quote a text with a colon, or mend the indentation",
    "could not find expected ':'": "Write `key: value`, or indent the text under its key",
    "found character": "Quote a text that begins with a special sign",
    "expected <block end>": "Indent all keys of one mapping alike",
    "found unexpected end of stream": "Close the quotation mark or bracket",
    "expected ',' or": "Put a comma between entries and close the bracket",
    "found unknown escape character": "Use single quotes, or write a backslash as \\\\",
}


class _StopError(Exception):
    """Reading cannot go on; the faults are already noted."""


@dataclass
class _Builder:
    """Turns PyYAML's events into data and places, noting faults."""

    name: str
    events: Iterator[Any]
    faults: list[Fault] = field(default_factory=list)
    places: dict[Path_, Place] = field(default_factory=dict)
    reached: Position = (1, 1)

    def fault(self, at: Position, path: Path_, problem: str, remedy: str) -> None:
        self.faults.append(Fault(self.name, *at, path_text(path), problem, remedy))

    def next(self) -> Any:
        """Take the next event and note how far reading has come."""
        event = next(self.events)
        self.reached = (event.end_mark.line + 1, event.end_mark.column + 1)
        return event

    def document(self) -> Any:
        self.next()
        start = self.next()
        if isinstance(start, yaml.StreamEndEvent):
            self.fault((1, 1), (), "the file is empty", "Write `key: value` lines")
            raise _StopError
        if start.version or start.tags:
            self.fault(_at(start), (), "a YAML directive", "Remove the line that begins with %")
        event = self.next()
        data = self.value(event, (), _at(event))
        if not isinstance(data, dict):
            self.fault(
                _at(event), (), "the top of the file is not a mapping", "Write `key: value` lines"
            )
        self.next()
        after = self.next()
        if not isinstance(after, yaml.StreamEndEvent):
            self.fault(
                _at(after),
                (),
                "a second document begins here",
                "Keep one document a file; remove `---`",
            )
        return data

    def value(self, event: Any, path: Path_, key_at: Position) -> Any:
        at = _at(event)
        self.places[path] = Place(key_at, at, getattr(event, "value", None))
        if len(path) > _MOST_DEPTH:
            self.fault(at, path[:2], f"nested deeper than {_MOST_DEPTH} levels", "Write it flatter")
            raise _StopError
        if event.anchor is not None:
            kind, sign = ("alias", "*") if isinstance(event, yaml.AliasEvent) else ("anchor", "&")
            self.fault(
                at,
                path,
                f"the {kind} `{sign}{event.anchor}`",
                "Write the value out where it is used",
            )
        if getattr(event, "tag", None) is not None:
            self.fault(
                at,
                path,
                f"the tag `{event.tag}`",
                "Remove the tag; quote a text that begins with !",
            )
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(path)
        return self.scalar(event, path) if isinstance(event, yaml.ScalarEvent) else None

    def sequence(self, path: Path_) -> list[Any]:
        entries: list[Any] = []
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            entries.append(self.value(event, (*path, len(entries)), _at(event)))
        return entries

    def mapping(self, path: Path_) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            at = _at(event)
            key = self.key(event, path)
            if key in entries:
                first = self.places[*path, key].key[0]
                self.fault(
                    at,
                    (*path, key),
                    f"the key `{key}` again (first in line {first})",
                    "Keep one of them",
                )
            entries[key] = self.value(self.next(), (*path, key), at)
        return entries

    def key(self, event: Any, path: Path_) -> str:
        at = _at(event)
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.style is None:
            self.fault(at, path, "a merge key `<<`", "Write the entries out")
            return "<<"
        before = len(self.faults)
        place = self.places[path]
        key = self.value(event, path, at)
        self.places[path] = place
        if not isinstance(key, str) and len(self.faults) == before:
            written = event.value if isinstance(event, yaml.ScalarEvent) else "a list or mapping"
            self.fault(at, path, f"the key `{written}` is not a text", "Quote it, or write a word")
        return key if isinstance(key, str) else f"<{at[0]}:{at[1]}>"

    def scalar(self, event: yaml.ScalarEvent, path: Path_) -> Any:
        if _UNFIT.search(event.value):
            self.fault(_at(event), path, "a NUL or half of a character pair", "Remove the escape")
        if event.style is not None or event.tag is not None:
            return event.value
        try:
            return read_plain(event.value)
        except TrapError as trap:
            self.fault(_at(event), path, trap.problem, trap.remedy)
            return event.value


def load(path: Path, *, name: str) -> Document:
    """Read one YAML file strictly.

    Args:
        path: The file.
        name: The file as it is to be named in faults.

    Returns:
        Its data and the position of each part.

    Raises:
        InputError: The file cannot be read, or has faults; all that can be found are in it.
    """
    text, faults = read_text(path, name)
    builder = _Builder(name, yaml.parse(text, Loader=yaml.SafeLoader), list(faults))
    data: Any = None
    try:
        data = builder.document()
    except _StopError:
        pass
    except yaml.MarkedYAMLError as error:
        if not faults:
            _note_syntax(builder, error)
    except (ValueError, OverflowError):
        problem = "an escape after this place is no character"
        builder.fault(builder.reached, (), problem, "Mend or remove the escape")
    if builder.faults or not isinstance(data, dict):
        raise InputError(builder.faults)
    return Document(name, data, builder.places)


def _at(event: Any) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _note_syntax(builder: _Builder, error: yaml.MarkedYAMLError) -> None:
    mark = error.problem_mark or error.context_mark
    problem = ": ".join(part for part in (error.context, error.problem) if part)
    remedy = next((r for p, r in _SYNTAX_REMEDIES.items() if p in problem), _QUOTE)
    at = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    builder.fault(at, (), problem or "not YAML", remedy)
