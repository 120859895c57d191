"""Whose code measured: the commit of the checkout in which this program's own files are tracked."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.surroundings import environment

CODE = Path(__file__).resolve().parent.parent
# what of the checkout is the program; what is declared and measured is not
_PROGRAM = ("generator", "templates", "pyproject.toml", "requirements")
# the user's configuration must change neither what is printed nor what is run
_PLAIN = (
    *("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "color.ui=false", "-c", "core.quotePath=true", "-c", "status.relativePaths=false"),
    *("-c", "status.showUntrackedFiles=normal", "-c", "core.untrackedCache=false"),
    *("-c", "core.excludesFile=/dev/null", "-c", "status.branch=false"),
)
_LIMIT_S = 10


@dataclass(frozen=True)
class Checkout:
    """A commit, and whether the program differs from it.

    Attributes:
        commit: The commit's full name.
        dirty: Whether files of the program were changed, added or removed since.
    """

    commit: str
    dirty: bool


class _UnknownError(Exception):
    """The commit cannot be known; the message says why."""


def checkout(code: Path = CODE) -> Checkout | str:
    """Return the commit of the program, or why it is unknown.

    Args:
        code: The folder that holds the package `generator`.
    """
    if "site-packages" in code.parts or "dist-packages" in code.parts:
        return "installed as a package, not run from a checkout"
    try:
        top = _git(code, "rev-parse", "--show-toplevel")
        if Path(top).resolve() != code.resolve():
            return "unpacked inside another repository"
        if not _git(code, "ls-files", "--", "generator/__init__.py", "pyproject.toml"):
            return "its files are not tracked by the repository that they lie in"
        commit = _git(code, "rev-parse", "--verify", "--end-of-options", "HEAD^{commit}")
        status = _git(code, "status", "--porcelain=v1", "--", *_PROGRAM)
    except _UnknownError as error:
        return str(error)
    return Checkout(commit, dirty=bool(status))


def _git(code: Path, *arguments: str) -> str:
    command: Sequence[str] = ("git", *_PLAIN, "-C", str(code), *arguments)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_LIMIT_S,
            env=environment(LC_ALL="C", GIT_TERMINAL_PROMPT="0"),
        )
    except FileNotFoundError as error:
        raise _UnknownError("git is not installed") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise _UnknownError(f"git could not be asked ({type(error).__name__})") from error
    if done.returncode == 0:
        return done.stdout.strip()
    if "dubious ownership" in done.stderr:
        raise _UnknownError("git refuses the checkout, which belongs to another user")
    if "not a git repository" in done.stderr:
        raise _UnknownError("not a git checkout")
    raise _UnknownError("git found no commit")
