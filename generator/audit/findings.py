"""Findings: which file, where in it, what was expected and what was found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from generator.errors import Fault

SHOWN = 120
CRLF = "CR LF"
_REMEDIES: Mapping[str, str] = {
    "line ends": "check out again with the line ends that are committed (git config core.autocrlf "
    "false)",
    "declaration": "mend the declaration (receipts check)",
    "written": "mend what is named by its line",
    "receipt": "restore the receipts (git checkout -- receipts), or measure again (make receipts)",
    "article": "render the pages again (receipts render)",
    "site": "build the site again (make site)",
}
"""What to do about a finding, by the kind of its file, in the order in which to do it."""


@dataclass(frozen=True)
class Finding:
    """One check that failed.

    Attributes:
        file: The file, relative to the project's root.
        pointer: JSON pointer into it, or `line N` of a page.
        check: Which check failed, in a few words.
        expected: What should be there.
        found: What is there.
    """

    file: str
    pointer: str
    check: str
    expected: str
    found: str

    def __str__(self) -> str:
        """Say it in one line, the file first."""
        return (
            f"{self.file}: {self.pointer or '(whole file)'}: {self.check}: "
            f"expected {self.expected}, found {self.found}"
        )


@dataclass
class Report:
    """What an audit checked, and what it found."""

    checked: int = 0
    findings: list[Finding] = field(default_factory=list)

    def expect(
        self, file: str, pointer: str, check: str, *, expected: object, found: object
    ) -> bool:
        """Count a check; note a finding if *found* is not *expected*. Return whether it passed."""
        self.checked += 1
        if expected == found:
            return True
        self.findings.append(Finding(file, pointer, check, shorten(expected), shorten(found)))
        return False

    def expect_json(
        self, file: str, pointer: str, check: str, *, expected: object, found: object
    ) -> None:
        """Count a check of two JSON values; note a finding for each place where they differ."""
        self.checked += 1
        for where, should, does in differences(expected, found, pointer):
            self.findings.append(Finding(file, where, check, shorten(should), shorten(does)))

    def faults(self, faults: Sequence[Fault], check: str) -> None:
        """Count a check; note each fault of an input file as a finding."""
        self.checked += 1
        for fault in faults:
            where = f"line {fault.line}" + ("" if fault.path == "$" else f", {fault.path}")
            remedy, problem = shorten(fault.remedy), shorten(fault.problem)
            self.findings.append(Finding(fault.file, where, check, remedy, problem))

    @property
    def remedy(self) -> str:
        """What to do about the findings, by the kinds of files that they are in."""
        found = {_kind(finding) for finding in self.findings}
        wanted = [remedy for kind, remedy in _REMEDIES.items() if kind in found]
        text = "; ".join(wanted)
        return f"{text[:1].upper()}{text[1:]}."


def _kind(finding: Finding) -> str:
    """Return what kind of file a finding is in."""
    if finding.found == shorten(CRLF):
        return "line ends"
    top, _, rest = finding.file.partition("/")
    match top:
        case "receipts" if finding.file.endswith(".yaml"):
            return "declaration"
        case "receipts":
            return "receipt"
        case "site" if "articles" in rest.split("/"):
            return "article"
        case "public":
            return "site"
        case _:
            return "written"


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


def shorten(value: object) -> str:
    """Return *value* as JSON, cut to a line's length; what cannot be seen in it is escaped."""
    if value is NOTHING:
        return "nothing"
    plain = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in plain)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def differences(expected: Any, found: Any, pointer: str) -> Iterator[tuple[str, object, object]]:
    """Yield the JSON pointers at which two values differ, with both values."""
    match expected, found:
        case dict(), dict():
            for key in sorted(expected.keys() | found.keys()):
                escaped = str(key).replace("~", "~0").replace("/", "~1")
                yield from differences(
                    expected.get(key, NOTHING), found.get(key, NOTHING), f"{pointer}/{escaped}"
                )
        case list(), list() if len(expected) == len(found):
            for index, (left, right) in enumerate(zip(expected, found, strict=True)):
                yield from differences(left, right, f"{pointer}/{index}")
        case _ if expected != found or type(expected) is not type(found):
            yield pointer, expected, found
