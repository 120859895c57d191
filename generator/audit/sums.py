"""Checks of `SHA256SUMS`: every receipt is listed, every line is right."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from generator.audit.findings import NOTHING, Report
from generator.declaration import Declaration
from generator.matrix import SUFFIX

_LINE = re.compile(r"([0-9a-f]{64})  ([^/\\\s]+)")


def check_sums(report: Report, root: Path, declaration: Declaration) -> None:
    """Check an article's `SHA256SUMS` as `sha256sum -c` does, and that no receipt is left out."""
    folder = root / "receipts" / declaration.article
    if not folder.is_dir():
        return
    name = f"receipts/{declaration.article}/SHA256SUMS"
    listed = _listed(report, folder / "SHA256SUMS", name)
    present = {path.name for path in folder.glob("[!.]*.json")}
    for file in sorted(listed.keys() | present):
        path = folder / file
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else NOTHING
        where = f"receipts/{declaration.article}/{file}"
        report.expect(
            where, "", f"digest in {name}", expected=listed.get(file, NOTHING), found=found
        )
        report.expect(
            where,
            "",
            "belongs to a declared experiment",
            expected=True,
            found=file.removesuffix(".json").removesuffix(SUFFIX) in declaration.experiments,
        )


def _listed(report: Report, path: Path, name: str) -> dict[str, str]:
    """Return the digests by file name; a line that is no such pair, or a second one, is noted."""
    listed: dict[str, str] = {}
    text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        match = _LINE.fullmatch(line)
        sound = match is not None and match[2] not in listed
        report.expect(
            name, f"line {number}", "one digest a file", expected=True, found=sound or line
        )
        if match is not None:
            listed.setdefault(match[2], match[1])
    return listed
