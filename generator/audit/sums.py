"""Checks of `SHA256SUMS`: every receipt is listed, every line is right."""

from __future__ import annotations

import hashlib
from pathlib import Path

from generator.audit.findings import NOTHING, Report
from generator.declaration import Declaration


def check_sums(report: Report, root: Path, declaration: Declaration) -> None:
    """Check an article's `SHA256SUMS` as `sha256sum -c` does, and that no receipt is left out."""
    folder = root / "receipts" / declaration.article
    if not folder.is_dir():
        return
    name = f"receipts/{declaration.article}/SHA256SUMS"
    listed = _listed(folder / "SHA256SUMS")
    present = {path.name for path in folder.glob("*.json")}
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
            found=file.removesuffix(".json") in declaration.experiments,
        )


def _listed(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = (line.split("  ", maxsplit=1) for line in lines if "  " in line)
    return {name: digest for digest, name in pairs}
