"""Pins: the engines and models that declarations name, fixed by version, size and sha256."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError, field_validator

from generator.errors import Fault, InputError, near_miss
from generator.pin_types import LOCAL_ENGINE, EnginePin, ModelPin, PinName
from generator.schema import Model
from generator.yamlfile import display_name, faults_from_pydantic, load

PinT = TypeVar("PinT", EnginePin, ModelPin)

ENGINES_FILE = Path("receipts/pins/engines.yaml")
MODELS_FILE = Path("receipts/pins/models.yaml")


def _refuse_other_names(pins: dict[str, PinT]) -> dict[str, PinT]:
    for name, pin in pins.items():
        if pin.name != name:
            raise ValueError(f"`{name}` is named `{pin.name}` inside → remove `name` there")
    return pins


class _EnginesFile(Model):
    engines: dict[PinName, EnginePin]

    _named = field_validator("engines")(_refuse_other_names)

    @field_validator("engines")
    @classmethod
    def _keep_local(cls, pins: dict[PinName, EnginePin]) -> dict[PinName, EnginePin]:
        if LOCAL_ENGINE in pins:
            raise ValueError(f"`{LOCAL_ENGINE}` is kept for LLAMA_SERVER → choose another name")
        return pins


class _ModelsFile(Model):
    models: dict[PinName, ModelPin]

    _named = field_validator("models")(_refuse_other_names)


@dataclass(frozen=True)
class Pins:
    """All pins of a project, by name."""

    engines: Mapping[str, EnginePin]
    models: Mapping[str, ModelPin]

    def engine(self, name: str) -> EnginePin:
        """Return the engine pinned as *name*; an unknown one is an InputError."""
        if name not in self.engines:
            raise _unknown(name, "engine", self.engines, ENGINES_FILE)
        return self.engines[name]

    def model(self, name: str) -> ModelPin:
        """Return the model pinned as *name*; an unknown one is an InputError."""
        if name not in self.models:
            raise _unknown(name, "model", self.models, MODELS_FILE)
        return self.models[name]


def load_pins(root: Path) -> Pins:
    """Read both files of pins below *root*.

    Raises:
        InputError: With the faults of both files.
    """
    faults: list[Fault] = []
    found: list[Any] = []
    for file, model in ((ENGINES_FILE, _EnginesFile), (MODELS_FILE, _ModelsFile)):
        try:
            found.append(_read(root, file, model))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return Pins(found[0].engines, found[1].models)


def platform_name() -> str:
    """Name this machine as engine pins do, as in ``linux-x86_64``."""
    system = {"darwin": "macos"}.get(sys.platform, sys.platform)
    return f"{system}-{platform.machine().lower()}"


def _read(root: Path, file: Path, model: type[_EnginesFile | _ModelsFile]) -> Any:
    doc = load(root / file, name=display_name(root, root / file))
    named = {
        top: {
            name: {"name": name, **pin} if isinstance(pin, dict) else pin
            for name, pin in pins.items()
        }
        if isinstance(pins, dict)
        else pins
        for top, pins in doc.data.items()
    }
    try:
        return model.model_validate_json(json.dumps(named))
    except ValidationError as error:
        raise InputError(faults_from_pydantic(error, doc, model=model)) from error


def _unknown(name: str, kind: str, names: Iterable[str], file: Path) -> InputError:
    problem = f"no {kind} is pinned as `{name}`"
    return InputError([Fault(file.as_posix(), 1, 1, f"$.{kind}s", problem, near_miss(name, names))])
