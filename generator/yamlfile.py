"""Strict reading of YAML: plain data with positions, every trap a fault, all faults at once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import yaml

from generator.errors import InputError
from generator.source_text import read_text
from generator.yaml_builder import Builder, StopError, note_syntax
from generator.yaml_document import Document, display_name, path_text
from generator.yaml_faults import faults_from_pydantic, read_model

__all__ = ["Document", "display_name", "faults_from_pydantic", "load", "path_text", "read_model"]


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
    builder = Builder(name, yaml.parse(text, Loader=yaml.SafeLoader), list(faults))
    data: Any = None
    try:
        data = builder.document()
    except StopError:
        pass
    except yaml.MarkedYAMLError as error:
        if not faults:
            note_syntax(builder, error)
    except (ValueError, OverflowError):
        problem = "an escape after this place is no character"
        builder.fault(builder.reached, (), problem, "Mend or remove the escape")
    if builder.faults or not isinstance(data, dict):
        raise InputError(builder.faults)
    # text without a fault is the file's own, byte for byte
    return Document(name, data, builder.places, hashlib.sha256(text.encode()).hexdigest())
