"""Pins written into their file, whose comments and order stay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from generator.errors import Fault, InputError
from generator.files import write_atomically
from generator.pin_changes import changes
from generator.pin_types import EnginePin, ModelPin
from generator.pins import ENGINES_FILE, MODELS_FILE, load_pins
from generator.yaml_edit import EditError, drop, put

Pin = EnginePin | ModelPin
_BY_HAND = "write it there by hand, over several lines, as the other pins are written"


def write_changes(root: Path, old: Pin, new: Pin) -> None:
    """Write what differs between two pins of one name into the file that has the old one.

    Args:
        root: The project's root.
        old: The pin as it stands there.
        new: The pin as it shall stand there.

    Raises:
        InputError: The file is written in a way that cannot be edited, and is left as it was.
    """

    def edit(text: str, top: str) -> str:
        for change in changes(old, new):
            at = (top, new.name, *change.path)
            text = drop(text, at) if change.new is None else put(text, at, change.new)
        return text

    _rewrite(root, new, edit)


def write_new(root: Path, pin: Pin) -> None:
    """Write a pin that is in no file yet at the end of its file.

    Raises:
        InputError: The file is written in a way that cannot be edited, and is left as it was.
    """
    plain = pin.model_dump(mode="json", exclude={"name"}, exclude_defaults=True)
    _rewrite(root, pin, lambda text, top: put(text, (top, pin.name), plain))


def _rewrite(root: Path, pin: Pin, edit: Callable[[str, str], str]) -> None:
    is_model = isinstance(pin, ModelPin)
    file, top = (MODELS_FILE, "models") if is_model else (ENGINES_FILE, "engines")
    text = (root / file).read_bytes().decode()
    try:
        edited = edit(text, top)
    except EditError as error:
        where = f"$.{top}.{pin.name}"
        raise InputError([Fault(file.as_posix(), 1, 1, where, str(error), _BY_HAND)]) from error
    _check(root, file, edited, pin)
    write_atomically(root / file, edited)


def _check(root: Path, file: Path, edited: str, pin: Pin) -> None:
    """Read the edited file as it will be read: the new pin is in it, and all others as before."""
    before = load_pins(root)
    with tempfile.TemporaryDirectory() as folder:
        for each in (ENGINES_FILE, MODELS_FILE):
            (Path(folder) / each).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / each, Path(folder) / each)
        (Path(folder) / file).write_bytes(edited.encode())
        after = load_pins(Path(folder))
    new = {pin.name: pin}
    engines = {**before.engines, **({} if isinstance(pin, ModelPin) else new)}
    models = {**before.models, **(new if isinstance(pin, ModelPin) else {})}
    if (after.engines, after.models) != (engines, models):
        problem = f"editing it for `{pin.name}` would have changed something else too"
        raise InputError([Fault(file.as_posix(), 1, 1, "$", problem, _BY_HAND)])
