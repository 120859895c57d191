"""Checks of `SHA256SUMS`: every receipt is listed, every line is right."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from generator.audit.findings import CRLF, NOTHING, Report
from generator.declaration import Declaration

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
        raw = path.read_bytes() if path.is_file() else None
        found = NOTHING if raw is None else hashlib.sha256(raw).hexdigest()
        if raw and hashlib.sha256(raw.replace(b"\r\n", b"\n")).hexdigest() == listed.get(file):
            found = CRLF if b"\r\n" in raw else found
        where = f"receipts/{declaration.article}/{file}"
        report.expect(
            where, "", f"digest in {name}", expected=listed.get(file, NOTHING), found=found
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
