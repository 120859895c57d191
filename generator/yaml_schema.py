"""Following pydantic's error locations through a model, so that union labels do not leak out."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator, Tag
from pydantic.fields import FieldInfo

from generator.yaml_document import Path_


@dataclass(frozen=True)
class Walked:
    """Where an error's location leads.

    Attributes:
        path: The path in the document, without the labels pydantic adds for unions.
        parent: The model whose field is last in the path, if it is a model's.
        description: What that field's declaration says of it.
        is_key: The error is about the key itself.
    """

    path: Path_
    parent: type[BaseModel] | None
    description: str
    is_key: bool


def walk(loc: tuple[str | int, ...], model: type[BaseModel], data: Any) -> Walked:
    """Follow *loc* through *model* and the *data* it was checked against."""
    path: list[str | int] = []
    parent: type[BaseModel] | None = None
    description = ""
    kind: Any = model
    for number, step in enumerate(loc):
        kind = _bare(kind)
        if _is_choice(kind):
            kind = _choose(kind, step)
            continue
        if step == "[key]":
            return Walked(tuple(path), None, "", is_key=True)
        if kind is Any and number < len(loc) - 1 and not _holds(data, step):
            continue
        path.append(step)
        data = data[step] if _holds(data, step) else None
        parent = kind if _is_model(kind) else None
        info = _field(parent, step) if parent else None
        description = (info.description or "") if info else ""
        kind = _whole(info) if info else _entry(kind)
    return Walked(tuple(path), parent, description, is_key=False)


def field_names(model: type[BaseModel]) -> list[str]:
    """Name the keys which *model* allows."""
    return [_key(name, info) for name, info in model.model_fields.items()]


def _key(name: str, info: FieldInfo) -> str:
    alias = info.validation_alias
    return alias if isinstance(alias, str) else info.alias or name


def _field(model: type[BaseModel], key: str | int) -> FieldInfo | None:
    found = (info for name, info in model.model_fields.items() if key in {_key(name, info), name})
    return next(found, None)


def _whole(info: FieldInfo) -> Any:
    discriminator = info.discriminator
    if isinstance(discriminator, str):
        return Annotated[info.annotation, Discriminator(discriminator)]
    return Annotated[info.annotation, *info.metadata, discriminator]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _holds(data: Any, step: str | int) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, list) and isinstance(step, int) and step < len(data)


def _members(kind: Any) -> list[Any]:
    if get_origin(kind) not in {Union, types.UnionType}:
        return []
    return [member for member in get_args(kind) if member is not type(None)]


def _unannotated(kind: Any) -> Any:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind


def _bare(kind: Any) -> Any:
    """Strip annotations and `| None`, keeping what makes a union a choice."""
    core = _unannotated(kind)
    members = _members(core)
    if len(members) == 1:
        return _bare(members[0])
    return kind if members else core


def _is_choice(kind: Any) -> bool:
    return bool(_members(_unannotated(kind)))


def _choose(kind: Any, label: str | int) -> Any:
    marks = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    keys = [
        mark.discriminator
        for mark in marks
        if isinstance(mark, Discriminator | FieldInfo) and isinstance(mark.discriminator, str)
    ]
    for member in _members(_unannotated(kind)):
        if any(_is_tagged(member, key, label) for key in keys) or _is_labelled(member, label):
            return member
    return Any


def _is_tagged(member: Any, key: str, label: str | int) -> bool:
    core = _unannotated(member)
    info = _field(core, key) if _is_model(core) else None
    annotation = _unannotated(info.annotation) if info else None
    return get_origin(annotation) is Literal and label in get_args(annotation)


def _is_labelled(member: Any, label: str | int) -> bool:
    tags = get_args(member)[1:] if get_origin(member) is Annotated else ()
    if any(isinstance(mark, Tag) and mark.tag == label for mark in tags):
        return True
    core = _unannotated(member)
    name = getattr(get_origin(core) or core, "__name__", "")
    return str(label).split("[", 1)[0] == name


def _entry(kind: Any) -> Any:
    arguments = [a for a in get_args(kind) if a is not Ellipsis]
    return arguments[-1] if arguments and get_origin(kind) is not Literal else Any
