"""Pydantic's errors as faults: where it stands in the file, what was found, what is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from generator.errors import Fault, InputError
from generator.yaml_document import Document, Path_, path_text, shorten
from generator.yaml_schema import Walked, field_names, walk

ModelT = TypeVar("ModelT", bound=BaseModel)

_ALLOWED = {
    "string_type": "write a text; quote it if it looks like a number",
    "int_type": "write a whole number, without quotes, dot or exponent",
    "int_from_float": "write a whole number, without dot or exponent",
    "float_type": "write a number, without quotes",
    "bool_type": "write true or false",
    "list_type": "write a list",
    "tuple_type": "write a list",
    "dict_type": "write a mapping of `key: value` lines",
    "model_type": "write a mapping of `key: value` lines",
    "none_required": "leave it empty",
    "greater_than": "write a number above {gt}",
    "greater_than_equal": "write a number of at least {ge}",
    "less_than": "write a number below {lt}",
    "less_than_equal": "write a number of at most {le}",
    "string_too_short": "write at least {min_length} character(s)",
    "string_too_long": "write at most {max_length} characters",
    "string_pattern_mismatch": "write a text of the form {pattern}",
    "too_short": "write at least {min_length} entries",
    "too_long": "write at most {max_length} entries",
    "literal_error": "write {expected}",
    "enum": "write {expected}",
    "union_tag_invalid": "write {expected_tags}",
}
_ARROW = " → "


def read_model(doc: Document, model: type[ModelT]) -> ModelT:
    """Check a whole document against *model*.

    Lists become tuples where the model says so, which strict models refuse of Python lists.

    Raises:
        InputError: With every fault found.
    """
    try:
        return model.model_validate_json(json.dumps(doc.data))
    except ValidationError as error:
        raise InputError(faults_from_pydantic(error, doc, model=model)) from error


def faults_from_pydantic(
    error: ValidationError, doc: Document, *, prefix: Path_ = (), model: type[BaseModel]
) -> list[Fault]:
    """Turn each of pydantic's errors into a fault.

    Args:
        error: What pydantic raised.
        doc: The document which was checked.
        prefix: Where in the document the checked part lies.
        model: The model it was checked against.

    Returns:
        One fault for each wrong place; the members of a union that all refused it are one fault.
    """
    data: Any = doc.data
    for step in prefix:
        data = data[step]
    by_place: dict[tuple[Path_, str, str], list[str]] = {}
    for details in error.errors(include_url=False):
        walked = walk(details["loc"], model, data)
        path = (*prefix, *walked.path, *_tag_key(details))
        problem, remedy = _explain(details, walked, doc, path)
        kind = "key" if walked.is_key or details["type"] == "extra_forbidden" else "value"
        by_place.setdefault((path, kind, problem), []).append(remedy)
    return [
        Fault(
            doc.name,
            *doc.where(path, key=kind == "key"),
            path_text(path),
            problem,
            ", or ".join(dict.fromkeys(remedies)),
        )
        for (path, kind, problem), remedies in by_place.items()
    ]


def _explain(details: ErrorDetails, walked: Walked, doc: Document, path: Path_) -> tuple[str, str]:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "missing":
        remedy = f"add it: {walked.description}" if walked.description else "add it"
        return f"`{path[-1]}` is missing", remedy
    if kind == "extra_forbidden":
        return f"unknown key `{shorten(str(path[-1]))}`", _allowed_keys(str(path[-1]), walked)
    if kind == "union_tag_not_found":
        return f"the key {context['discriminator']} is missing", "add it"
    found = f"the key `{path[-1]}`" if walked.is_key else doc.found(path)
    if kind in _ALLOWED:
        remedy = _ALLOWED[kind].format_map(context)
        return f"found {found}", _near_choice(details, context) + remedy
    message = details["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    problem, arrow, remedy = message.partition(_ARROW)
    return (problem, remedy) if arrow else (f"found {found}", message)


def _tag_key(details: ErrorDetails) -> Path_:
    """Lead on to the key which names a union's member, where pydantic stops before it."""
    if details["type"] != "union_tag_invalid":
        return ()
    return (str(details.get("ctx", {})["discriminator"]).strip("'"),)


def _allowed_keys(key: str, walked: Walked) -> str:
    names = field_names(walked.parent) if walked.parent else []
    near = get_close_matches(key, names, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"remove it; allowed here: {', '.join(names)}" if names else "remove it"


def _near_choice(details: ErrorDetails, context: Mapping[str, Any]) -> str:
    expected = str(context.get("expected_tags") or context.get("expected") or "")
    choices = expected.split("'")[1::2]
    given = context.get("tag", details["input"])
    near = get_close_matches(given, choices, n=1) if isinstance(given, str) else []
    return f"did you mean {near[0]}? " if near else ""
