"""A build backend that builds nothing: it answers from a source distribution's own metadata.

It is copied to where pip takes it for the distribution's backend, so it needs nothing of ours.
"""

from __future__ import annotations

import shutil
from pathlib import Path


def prepare_metadata_for_build_wheel(
    metadata_directory: str,
    config_settings: object = None,  # noqa: ARG001 - by this name the standard passes it
) -> str:
    """Write a wheel's metadata, as PEP 517 asks of a backend in the unpacked distribution.

    Returns:
        The name of the folder that was made for it.
    """
    folder = Path(metadata_directory, "sdist.dist-info")
    folder.mkdir()
    shutil.copyfile("PKG-INFO", folder / "METADATA")
    return folder.name
