"""PyYAML's events as plain data with places; every trap on the way is noted as a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from generator.errors import Fault
from generator.yaml_document import Path_, Place, Position, path_text
from generator.yaml_scalars import TrapError, read_plain

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


class StopError(Exception):
    """Reading cannot go on; the faults are already noted."""


@dataclass
class Builder:
    """Turns PyYAML's events into data and places, noting faults."""

    name: str
    events: Iterator[Any]
    faults: list[Fault] = field(default_factory=list)
    places: dict[Path_, Place] = field(default_factory=dict)
    reached: Position = (1, 1)
    depth: int = 0

    def fault(self, at: Position, path: Path_, problem: str, remedy: str) -> None:
        """Note one fault."""
        self.faults.append(Fault(self.name, *at, path_text(path), problem, remedy))

    def _next(self) -> Any:
        """Take the next event and note how far reading has come."""
        event = next(self.events)
        self.reached = (event.end_mark.line + 1, event.end_mark.column + 1)
        return event

    def document(self) -> Any:
        """Build the one document; what is not fit for YAML is left to PyYAML's own error."""
        self._next()
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            self.fault((1, 1), (), "the file is empty", "Write `key: value` lines")
            raise StopError
        if start.version or start.tags:
            self.fault(_at(start), (), "a YAML directive", "Remove the line that begins with %")
        event = self._next()
        data = self._value(event, (), _at(event))
        if not isinstance(data, dict):
            self.fault(
                _at(event), (), "the top of the file is not a mapping", "Write `key: value` lines"
            )
        self._next()
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            self.fault(
                _at(after),
                (),
                "a second document begins here",
                "Keep one document a file; remove `---`",
            )
        return data

    def _value(self, event: Any, path: Path_, key_at: Position) -> Any:
        at = _at(event)
        self.places[path] = Place(key_at, at, getattr(event, "value", None))
        if self.depth > _MOST_DEPTH:
            self.fault(at, path[:2], f"nested deeper than {_MOST_DEPTH} levels", "Write it flatter")
            raise StopError
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
        self.depth += 1
        data = self._content(event, path)
        self.depth -= 1
        return data

    def _content(self, event: Any, path: Path_) -> Any:
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event, path) if isinstance(event, yaml.ScalarEvent) else None

    def _sequence(self, path: Path_) -> list[Any]:
        entries: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            entries.append(self._value(event, (*path, len(entries)), _at(event)))
        return entries

    def _mapping(self, path: Path_) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            at = _at(event)
            key = self._key(event, path)
            if key in entries:
                first = self.places[*path, key].key[0]
                self.fault(
                    at,
                    (*path, key),
                    f"the key `{key}` again (first in line {first})",
                    "Keep one of them",
                )
            entries[key] = self._value(self._next(), (*path, key), at)
        return entries

    def _key(self, event: Any, path: Path_) -> str:
        at = _at(event)
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.style is None:
            self.fault(at, path, "a merge key `<<`", "Write the entries out")
            return "<<"
        before = len(self.faults)
        place = self.places[path]
        key = self._value(event, path, at)
        self.places[path] = place
        if not isinstance(key, str) and len(self.faults) == before:
            written = event.value if isinstance(event, yaml.ScalarEvent) else "a list or mapping"
            self.fault(at, path, f"the key `{written}` is not a text", "Quote it, or write a word")
        return key if isinstance(key, str) else f"<{at[0]}:{at[1]}>"

    def _scalar(self, event: yaml.ScalarEvent, path: Path_) -> Any:
        if _UNFIT.search(event.value):
            self.fault(_at(event), path, "a NUL or half of a character pair", "Remove the escape")
        if event.style is not None or event.tag is not None:
            return event.value
        try:
            return read_plain(event.value)
        except TrapError as trap:
            self.fault(_at(event), path, trap.problem, trap.remedy)
            return event.value


def _at(event: Any) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def note_syntax(builder: Builder, error: yaml.MarkedYAMLError) -> None:
    """Note what PyYAML could not read, with the remedy that most often helps."""
    mark = error.problem_mark or error.context_mark
    problem = ": ".join(part for part in (error.context, error.problem) if part)
    remedy = next((r for p, r in _SYNTAX_REMEDIES.items() if p in problem), _QUOTE)
    at = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    builder.fault(at, (), problem or "not YAML", remedy)
