"""Checks of a built site: the published receipts are ours, and every file is as built anew."""

from __future__ import annotations

import hashlib
from pathlib import Path

from generator.audit.findings import NOTHING, Report
from generator.errors import SiteError
from generator.site import built

# what a host wants beside the pages, which no build writes
_HOSTS = frozenset({"CNAME", ".nojekyll", ".git", ".well-known"})


def check_site(report: Report, root: Path, out: Path) -> None:
    """Build the site anew, and compare what lies in *out* with it byte for byte.

    Args:
        report: Where findings go.
        root: The project's root.
        out: The built site; its address must be named in SITE_URL as it was when it was built.
    """
    try:
        with built(root) as fresh:
            expected, found = _digests(fresh), _digests(out)
    except SiteError as error:
        report.expect("site", "", "can be built", expected="a site", found=str(error))
        return
    folder = out.relative_to(root).as_posix() if out.is_relative_to(root) else out.name
    for name in sorted(expected.keys() | found.keys()):
        report.expect(
            f"{folder}/{name}",
            "",
            "as it is built anew",
            expected=expected.get(name, NOTHING),
            found=found.get(name, NOTHING),
        )


def _digests(folder: Path) -> dict[str, str]:
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if name.parts[0] not in _HOSTS
    }
