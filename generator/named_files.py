"""Files that a setting under `extra` names: found, to be digested, and told without their folders.

An engine reads such files as they are on the machine that measures, so a receipt needs their
digests; where they lie there is nobody's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from generator.pin_types import shard_names
from generator.settings import ServerSettings

# llama.cpp takes several files with commas between them, and a scale after a colon
_ITEM = re.compile(r"(?P<file>.*?)(?P<scale>(:[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)?)", re.DOTALL)


@dataclass(frozen=True)
class NamedFile:
    """A file that a setting names.

    Attributes:
        setting: The name under `extra`.
        name: How a receipt calls the file.
        path: Where it is.
    """

    setting: str
    name: str
    path: Path


def named_files(settings: ServerSettings, root: Path) -> list[NamedFile]:
    """Find every file that a setting names, and the further shards of a split one.

    A word with neither a folder nor an ending is never taken for a file.

    Args:
        settings: The settings.
        root: What a relative path starts from.
    """
    found: list[NamedFile] = []
    for setting, value in settings.extra.items():
        for text, _ in _items(value, root):
            path = _file(text, root)
            if path is not None:
                found += [NamedFile(setting, _told(text), path), *_shards(setting, text, path)]
    return found


def for_engine(settings: ServerSettings, root: Path) -> ServerSettings:
    """Return the settings with every named file's whole path, whatever folder an engine runs in.

    Args:
        settings: The settings.
        root: What a relative path starts from.
    """

    def whole(text: str) -> str:
        path = _file(text, root)
        return text if path is None else str(path.absolute())

    return _changed(settings, whole, root)


def for_receipt(settings: ServerSettings) -> ServerSettings:
    """Return the settings as they may be recorded: of a path outside the project only its end.

    This looks at no disk, so that whoever checks a receipt elsewhere gets the same.

    Args:
        settings: The settings.
    """
    return _changed(settings, _told, None)


def _changed(
    settings: ServerSettings, change: Callable[[str], str], root: Path | None
) -> ServerSettings:
    extra = {
        setting: ",".join(change(text) + scale for text, scale in _items(value, root))
        if isinstance(value, str)
        else value
        for setting, value in settings.extra.items()
    }
    return settings.model_copy(update={"extra": extra})


def _items(value: object, root: Path | None) -> list[tuple[str, str]]:
    """Return what in a value may be a file, each with the scale that follows it."""
    if not isinstance(value, str):
        return []
    if root is not None and _file(value, root) is not None:
        return [(value, "")]
    matches = [_ITEM.fullmatch(item) for item in value.split(",")]
    return [(match["file"], match["scale"]) for match in matches if match]


def _file(text: str, root: Path) -> Path | None:
    if "/" in text or PurePosixPath(text).suffix:
        with suppress(OSError, RuntimeError):  # no name, or of nobody's home
            path = root / Path(text).expanduser()
            return path if path.is_file() else None
    return None


def _shards(setting: str, text: str, path: Path) -> list[NamedFile]:
    return [
        NamedFile(setting, _told(str(PurePosixPath(text).with_name(name))), path.with_name(name))
        for name in shard_names(path.name)
        if name != path.name and path.with_name(name).is_file()
    ]


def _told(text: str) -> str:
    path = PurePosixPath(text)
    outside = path.is_absolute() or text.startswith("~") or ".." in path.parts
    return path.name if outside and path.name else text
