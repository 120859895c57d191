"""What a process of ours takes from its surroundings: everything else is kept out of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

# change which code runs, where its result goes, or which repository is asked
_KEPT_OUT = ("PYTHON", "GIT_", "MKDOCS_", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON")
# what pip is told of itself; a variable overrules its configuration files, unless it is empty
PIP_SETTLED: Mapping[str, str] = {
    "PIP_USER": "0",
    "PIP_DRY_RUN": "0",
    "PIP_NO_DEPS": "0",
    "PIP_IGNORE_INSTALLED": "0",
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_CONSTRAINT": os.devnull,
}
ISOLATED = ("-I",)
"""Python's options for a child: no module comes from the current folder or the environment."""


@contextmanager
def some_home() -> Iterator[None]:
    """Give a library that asks for a home folder when it is imported one, if there is none."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = tempfile.gettempdir()
        try:
            yield
        finally:
            del os.environ["HOME"]
    else:
        yield


def environment(**own: str) -> dict[str, str]:
    """Return the environment of a child that is no engine, with variables of *own*.

    Args:
        own: Variables to be set.
    """
    kept = {
        name: value for name, value in os.environ.items() if not name.upper().startswith(_KEPT_OUT)
    }
    return {**kept, **own}


def pip_environment(**own: str) -> dict[str, str]:
    """Return pip's environment: index, proxy, certificates and cache are the user's, nothing else.

    Args:
        own: Variables to be set.
    """
    return environment(**{**PIP_SETTLED, **own})
