"""The Content-Security-Policy of a page: everything from here, inline scripts by their digest."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser

_DATA_TYPES = frozenset({"application/json", "application/ld+json"})
_CHARSET = '<meta charset="utf-8">'


class _InlineScripts(HTMLParser):
    """Collects the text of inline scripts that a browser would run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "script" and "src" not in names and names.get("type") not in _DATA_TYPES:
            self._inside = True
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data


def policy(page: str) -> str:
    """Return the policy for *page*: nothing from elsewhere, nothing inline but its own scripts.

    ``data:`` images are the theme's icons, which its stylesheets hold.
    """
    finder = _InlineScripts()
    finder.feed(page)
    finder.close()
    digests = sorted({f"'sha256-{_digest(script)}'" for script in finder.scripts})
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *digests)),
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def with_policy(page: str) -> str:
    """Return *page* with its policy as the first thing after the character set."""
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(page)}">'
    return page.replace(_CHARSET, f"{_CHARSET}\n      {meta}", 1)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
