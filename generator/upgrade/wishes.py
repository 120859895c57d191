"""What a pin is to be renewed to, and what renewing takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from generator.errors import COMMAND_LINE, Fault, InputError
from generator.models.part import Part
from generator.models.progress import Progress
from generator.models.store import Expected, Store
from generator.models.unpinned import fetch_unpinned
from generator.pin_types import Url


@dataclass(frozen=True)
class Newest:
    """Whatever is there now: the index's newest release, or what lies at the path or address."""


@dataclass(frozen=True)
class ToVersion:
    """That version of a package, or that build of a release."""

    version: str


@dataclass(frozen=True)
class ToAddress:
    """What lies at that address.

    Raises:
        InputError: No pin could have it.
    """

    url: str

    def __post_init__(self) -> None:
        """Refuse what could not be written down afterwards."""
        try:
            TypeAdapter(Url).validate_python(self.url)
        except ValidationError as error:
            problem = "the address is not of the form https://host/path, without user, ? and #"
            raise unfit("url", problem, "give it so") from error


Wish = Newest | ToVersion | ToAddress


@dataclass(frozen=True)
class Bench:
    """Where renewing works.

    Attributes:
        root: The project's root.
        store: Keeps what is fetched, so that it need not be fetched again once it is pinned.
        progress: Hears of the bytes.
    """

    root: Path
    store: Store
    progress: Progress

    @contextmanager
    def folder(self, name: str) -> Iterator[Path]:
        """Give an empty folder for renewing the pin *name*, removed afterwards."""
        with self.store.scratch(f"renewing-{name}", name, self.progress) as scratch:
            yield scratch

    def fetch(self, url: str, name: str, folder: Path) -> tuple[Path, int, str]:
        """Fetch what lies at an address into the store; return its path, size and sha256."""
        part: Part = fetch_unpinned(url, folder / "fetched", name, self.progress)
        size, digest = part.size, part.digest
        part.forget()
        return self.store.add(part.path, Expected(name, size, digest), digest), size, digest


def unfit(name: str, problem: str, remedy: str) -> InputError:
    """Return the error for a wish that a pin cannot be renewed by."""
    return InputError([Fault(COMMAND_LINE, 1, 1, f"$.{name}", problem, remedy)])


def with_build(text: str, old: int, new: int) -> str:
    """Write llama.cpp's new build number, as in `b6543`, wherever the old one stands."""
    return re.sub(rf"(?<![0-9A-Za-z])b{old}(?![0-9])", f"b{new}", text)


def build_of(version: str, old_version: str, old_build: int, name: str) -> int:
    """Read the build number out of a version, from the place that it had in the old one.

    Raises:
        InputError: There is none.
    """
    parts, known = version.split("."), old_version.split(".")
    at = known.index(str(old_build)) if str(old_build) in known else len(parts)
    if at >= len(parts) or not parts[at].isdecimal():
        raise unfit(
            name,
            f"version {version} does not tell llama.cpp's build number where {old_version} does",
            "mend the pin by hand",
        )
    return int(parts[at])
