"""Changes to a YAML file that touch nothing but what changes: comments and order stay."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from generator.yaml_document import Path_
from generator.yaml_scalars import TrapError, read_plain

_STEP = 2
_PLAIN = re.compile(r"[A-Za-z/][\w ./:()+@=~-]*", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}")


class EditError(ValueError):
    """A file is written in a way that cannot be edited in place."""


def put(text: str, path: Path_, value: Any) -> str:
    """Put a value in its place in a file, in place of what stands there or as a new entry.

    Args:
        text: The file.
        path: Keys and indices from the top; what of them is missing is made.
        value: Scalars, lists and dicts.

    Raises:
        EditError: Something new would have to be put between `{` and `}`, or into a list.
    """
    text = text if text.endswith("\n") else f"{text}\n"
    steps, node = _deepest(text, path)
    missing = path[steps:]
    if not missing:
        return _replaced(text, path, node, value)
    for step in reversed(missing[1:]):
        value = {step: value}
    if not isinstance(node, yaml.MappingNode) or node.flow_style or not node.value:
        raise EditError(f"the new entry `{missing[0]}` cannot be put in place there")
    at = _line_end(text, _end(node))
    indent = node.value[0][0].start_mark.column
    apart = "\n" if indent == _STEP and isinstance(value, dict) else ""  # as between two pins
    return text[:at] + apart + _entry(missing[0], value, indent) + text[at:]


def drop(text: str, path: Path_) -> str:
    """Remove an entry of a mapping from a file, with its line's comment.

    Raises:
        EditError: It is no entry of a mapping over several lines, or the only one.
    """
    steps, parent = _deepest(text, path[:-1])
    if steps == len(path) - 1 and isinstance(parent, yaml.MappingNode) and not parent.flow_style:
        for key, value in parent.value:
            if key.value == path[-1] and len(parent.value) > 1:
                at = text.rfind("\n", 0, key.start_mark.index) + 1
                return text[:at] + text[_line_end(text, _end(value)) :]
    raise EditError(f"the entry `{path[-1]}` cannot be removed there")


def _replaced(text: str, path: Path_, node: yaml.Node, value: Any) -> str:
    if isinstance(node, yaml.ScalarNode) and not isinstance(value, dict | list):
        if node.style in {"|", ">"}:
            raise EditError(f"the text at `{path[-1]}` cannot be replaced")
        quoted = node.style is not None
        written = json.dumps(value, ensure_ascii=False) if quoted else _scalar(value)
        return text[: node.start_mark.index] + written + text[node.end_mark.index :]
    _, parent = _deepest(text, path[:-1])
    if not isinstance(parent, yaml.MappingNode) or parent.flow_style:
        raise EditError(f"what stands at `{path[-1]}` cannot be replaced")
    key = next(key for key, _ in parent.value if key.value == path[-1])
    at = text.rfind("\n", 0, key.start_mark.index) + 1
    entry = _entry(path[-1], value, key.start_mark.column)
    return text[:at] + entry + text[_line_end(text, _end(node)) :]


def _deepest(text: str, path: Path_) -> tuple[int, yaml.Node]:
    """Follow *path* as far as it exists; return how many steps of it do, and the node there."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is None:
        raise EditError("the file is empty")
    for steps, step in enumerate(path):
        below = None
        if isinstance(node, yaml.MappingNode):
            below = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            below = node.value[step] if step < len(node.value) else None
        if below is None:
            return steps, node
        node = below
    return len(path), node


def _end(node: yaml.Node) -> int:
    """Return where a value ends: a block's own mark lies behind the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_end(text: str, index: int) -> int:
    """Return where the line ends that *index* is in, or behind as after a text of several lines."""
    at = text.find("\n", index - (text[index - 1 : index] == "\n"))
    return len(text) if at < 0 else at + 1


def _entry(key: str | int, value: Any, indent: int) -> str:
    before = f"{' ' * indent}{_scalar(key)}:"
    match value:
        case dict():
            inner = (_entry(name, below, indent + _STEP) for name, below in value.items())
            return f"{before}\n{''.join(inner)}"
        case list():
            lines = (f"{' ' * (indent + _STEP)}- {_scalar(each)}\n" for each in value)
            return f"{before}\n{''.join(lines)}"
        case _:
            return f"{before} {_scalar(value)}\n"


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _DIGEST.fullmatch(value):
        ambiguous = value != value.strip() or ": " in value or value.endswith(":")
        try:
            if not ambiguous and read_plain(value) == value:
                return value
        except TrapError:
            pass
    return json.dumps(value, ensure_ascii=False)
