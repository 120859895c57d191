"""How one pin, or other plain data, differs from another, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from generator.schema import Model


@dataclass(frozen=True)
class Change:
    """One place at which something is new, gone or another.

    Attributes:
        path: Keys and indices from the top.
        old: What stands there, None if nothing does.
        new: What shall stand there, None if nothing shall.
    """

    path: tuple[str | int, ...]
    old: Any
    new: Any

    def __str__(self) -> str:
        """Say it in one line, as in ``build: 11549 → 11600``."""
        where = ".".join(str(step) for step in self.path)
        if self.old is None:
            return f"{where}: {self.new} (new)"
        return f"{where}: {self.old} → {'gone' if self.new is None else self.new}"


def changes(old: Model, new: Model) -> tuple[Change, ...]:
    """List where two pins differ."""
    return tuple(differences(_plain(old), _plain(new)))


def _plain(pin: Model) -> dict[str, Any]:
    return pin.model_dump(mode="json", exclude={"name"}, exclude_defaults=True)


def differences(old: Any, new: Any, path: tuple[str | int, ...] = ()) -> Iterator[Change]:
    """Yield every place at which two values of JSON differ; None is taken for nothing."""
    match old, new:
        case dict(), dict():
            for key in [*new, *(key for key in old if key not in new)]:
                yield from differences(old.get(key), new.get(key), (*path, key))
        case list(), list() if len(old) == len(new):
            for index, (left, right) in enumerate(zip(old, new, strict=True)):
                yield from differences(left, right, (*path, index))
        case None, dict() if new:
            for key, value in new.items():
                yield from differences(None, value, (*path, key))
        case _ if old != new:
            yield Change(path, old, new)
