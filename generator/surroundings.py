"""What a process of ours takes from its surroundings: everything else is kept out of it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# change which code runs, or which repository is asked
_KEPT_OUT = ("PYTHON", "GIT_", "MKDOCS_", "PIP_")
PIP_TAKEN = (
    "index-url", "extra-index-url", "no-index", "find-links", "trusted-host", "proxy", "cert",
    "client-cert", "keyring-provider", "cache-dir", "no-cache-dir", "timeout", "retries",
)  # fmt: skip
"""What of pip's settings is the user's: from where files come, and how they are fetched."""
# settings that would keep pip from telling its settings; a variable overrules a file
_AUDIBLE = {
    "PIP_QUIET": "0",
    "PIP_VERBOSE": "0",
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_LOG": os.devnull,
    "PIP_PYTHON": sys.executable,
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


def pip_environment(command: str, **own: str) -> dict[str, str]:
    """Return pip's environment: where files come from is the user's, and nothing else.

    Settings are taken from pip's configuration files and from variables, as pip does; the files
    themselves are then kept out, since whatever else stands in them cannot be overruled.

    Args:
        command: What pip is to do, such as `download`, which may have settings of its own.
        own: Variables to be set.
    """
    asked = {**environment(), **_variables("config-file")}
    done = subprocess.run(
        [sys.executable, *ISOLATED, "-m", "pip", "config", "list"],
        env={**asked, **_AUDIBLE},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return {**asked, **own}  # pip itself says what is wrong with its configuration
    found = dict[str, str]()
    for section in ("global", command):
        for name, value in re.findall(rf"(?m)^{section}\.([a-z-]+)=(.*)$", done.stdout):
            if name in PIP_TAKEN:
                found[_variable(name)] = str(ast.literal_eval(value))
    taken = {**found, **_variables(*PIP_TAKEN)}
    return environment(**{**taken, "PIP_CONFIG_FILE": os.devnull, **own})


def _variable(name: str) -> str:
    return f"PIP_{name.upper().replace('-', '_')}"


def _variables(*names: str) -> dict[str, str]:
    wanted = map(_variable, names)
    return {name: os.environ[name] for name in wanted if name in os.environ}
