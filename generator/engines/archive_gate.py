"""What may come out of an archive that somebody else made: plain names, plain files, so many."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from generator.errors import FetchError

MOST_MEMBERS = 5_000
MOST_UNPACKED = 4 << 30
# Programs shrink to a third or a fifth when they are packed; what grows fiftyfold is a bomb.
MOST_GROWTH = 50
ALWAYS_ALLOWED = 16 << 20
_LONGEST_NAME = 1_000
_LONGEST_PART = 200
_DRIVE = re.compile(r"[A-Za-z]:")


class Gate:
    """Lets the members of one archive through, one after another.

    Args:
        label: What the archive is of.
        packed: The archive's size in bytes.
    """

    def __init__(self, label: str, packed: int) -> None:
        self._label = label
        self._left = min(MOST_UNPACKED, max(ALWAYS_ALLOWED, MOST_GROWTH * packed))
        self._members = 0
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._links: dict[str, str] = {}
        self._spellings: dict[str, str] = {}

    def refuse(self, what: str) -> FetchError:
        """Return the error for an archive that has *what*."""
        return FetchError(
            f"{self._label}: its archive has {what}.",
            "Nothing of it was kept; pin another archive in receipts/pins/engines.yaml.",
        )

    def count(self, unpacked: int) -> None:
        """Count bytes as they come out, whatever their headers said.

        Raises:
            FetchError: They have become too many.
        """
        self._left -= unpacked
        if self._left < 0:
            raise self.refuse("more bytes than an archive of its size may have: a bomb")

    def folder(self, name: str) -> str:
        """Admit a folder and return its name, empty for the top.

        Raises:
            FetchError: It may not come out.
        """
        plain = self._plain(name)
        if plain:
            self._enter_folder(name, plain)
        return plain

    def file(self, name: str) -> str:
        """Admit a file and return its name.

        Raises:
            FetchError: It may not come out.
        """
        plain = self._leaf(name)
        self._files.add(plain)
        return plain

    def link(self, name: str, target: str) -> str:
        """Admit a link to a file beside it and return its name.

        Raises:
            FetchError: It may not come out.
        """
        plain = self._leaf(name)
        if "/" in target or "\\" in target or target in {"", ".", ".."}:
            raise self.refuse(f"a link that leaves its folder, {name!r} to {target!r}")
        self._links[plain] = str(PurePosixPath(plain).with_name(target))
        return plain

    def close(self) -> None:
        """Check, once every member is known, that each link ends at a file.

        Raises:
            FetchError: One does not.
        """
        for link, beside in self._links.items():
            seen, at = {link}, beside
            while at in self._links and at not in seen:
                seen.add(at)
                at = self._links[at]
            if at not in self._files:
                raise self.refuse(f"a link that leads to no file, {link!r}")

    def _leaf(self, name: str) -> str:
        plain = self._plain(name)
        if not plain or name.endswith("/"):
            raise self.refuse(f"a file without a name, {name!r}")
        if plain in self._files or plain in self._links:
            raise self.refuse(f"two members named {name!r}")
        if plain in self._folders:
            raise self.refuse(f"a file and a folder named {name!r}")
        parent = str(PurePosixPath(plain).parent)
        if parent != ".":
            self._enter_folder(name, parent)
        self._spell(plain)
        return plain

    def _enter_folder(self, name: str, plain: str) -> None:
        path = PurePosixPath(plain)
        for folder in [*[*reversed(path.parents)][1:], path]:
            if str(folder) in self._files or str(folder) in self._links:
                raise self.refuse(f"a file and a folder in one place, at {name!r}")
            self._folders.add(str(folder))
            self._spell(str(folder))

    def _spell(self, plain: str) -> None:
        """Refuse what is one name on a disk that does not tell capitals from small letters."""
        key = unicodedata.normalize("NFKC", plain).casefold()
        other = self._spellings.setdefault(key, plain)
        if other != plain:
            raise self.refuse(f"two names that differ in their capitals only, {other!r}, {plain!r}")

    def _plain(self, name: str) -> str:
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise self.refuse(f"more than {MOST_MEMBERS} members: a bomb")
        if name.startswith("/") or _DRIVE.match(name):
            raise self.refuse(f"a member with an absolute name, {name!r}")
        if ".." in re.split(r"[/\\]", name):
            raise self.refuse(f"a member that climbs out of its folder, {name!r}")
        parts = [part for part in name.rstrip("/").split("/") if part != "."]
        odd = "\\" in name or not name.isprintable() or len(name) > _LONGEST_NAME
        if odd or not all(0 < len(part) <= _LONGEST_PART for part in parts):
            raise self.refuse(f"a member with an odd name, {name[:_LONGEST_PART]!r}")
        return "/".join(parts)
