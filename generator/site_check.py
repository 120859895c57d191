"""The last look at a built site: nothing foreign, nothing that runs, no link into the void."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from jsonpointer import JsonPointer, JsonPointerException

from generator.errors import SiteError
from generator.site_policy import policy

_LOADING = {
    "script": ("src",), "img": ("src",), "audio": ("src",), "video": ("src", "poster"),
    "source": ("src",), "track": ("src",), "input": ("src",), "link": ("href",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"),
    "feimage": ("href", "xlink:href"), "form": ("action",), "button": ("formaction",),
}  # fmt: skip
_FORBIDDEN = frozenset({"base", "style", "iframe", "object", "embed"})
_NOT_LOADED = frozenset({"canonical", "prev", "next", "alternate", "alternate nofollow"})
_OWN_DATA = "data:text/csv;base64,"  # a figure's data, to be saved and not opened
_SCHEMES = frozenset({"", "http", "https", "mailto"})
_SCHEME = re.compile(r"(?i)^[\x00-\x20]*([a-z][a-z0-9+.\-\s]*):")


@dataclass
class _Seen(HTMLParser):
    """What one page holds that matters here."""

    text: str
    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    policy: str | None = None

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _FORBIDDEN:
            self.faults.append(f"<{tag}> has no place in a page")
        for name, value in values.items():
            if name.startswith("on"):
                self.faults.append(f"<{tag} {name}> is an inline event handler")
            if name in ("style", "srcset", "ping", "background"):
                self.faults.append(f"<{tag} {name}> has no place in a page")
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
        own_data = "download" in values and values.get("href", "").startswith(_OWN_DATA)
        if tag in ("a", "area") and "href" in values and not own_data:
            self.links.add(values["href"])
        if not (tag == "link" and values.get("rel") in _NOT_LOADED):
            self.loads.update(values[name] for name in _LOADING.get(tag, ()) if name in values)
        if tag == "meta" and values.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = values.get("content")


def check_built(out: Path, *, base: str = "/") -> None:
    """Check every built page, in both languages.

    No resource comes from elsewhere; no event handler, style or ``javascript:`` link is in the
    markup; the policy covers exactly the page's scripts; every link within the site leads to a
    file, its fragment to an id there or, in a receipt, to a value; both languages have the same
    pages.

    Args:
        out: The built site.
        base: Path at which the site will be served.

    Raises:
        SiteError: With every fault and the page it is on.
    """
    pages = {path: _Seen(path.read_text(encoding="utf-8")) for path in sorted(out.rglob("*.html"))}
    links = _Links(out, base, pages)
    faults = [
        f"{path.relative_to(out).as_posix()}: {fault}"
        for path, seen in pages.items()
        for fault in (*seen.faults, *_policy_faults(seen), *links.of(path))
    ]
    names = {path.relative_to(out).as_posix() for path in pages}
    english = {name.removeprefix("en/") for name in names if name.startswith("en/")}
    chinese = {name for name in names if not name.startswith("en/")}
    faults += [f"{name}: exists in one language only" for name in sorted(english ^ chinese)]
    if faults:
        raise SiteError(
            f"The built site has {len(faults)} fault{'' if len(faults) == 1 else 's'}.",
            "Mend the pages or templates named; nothing was published.",
            faults,
        )


def _policy_faults(seen: _Seen) -> Iterator[str]:
    if seen.policy is None:
        yield "has no Content-Security-Policy"
    elif seen.policy != policy(seen.text):
        yield "its Content-Security-Policy is not the one for its scripts"


@dataclass(frozen=True)
class _Links:
    """Follows links within the site."""

    out: Path
    base: str
    pages: dict[Path, _Seen]
    receipts: dict[Path, object] = field(default_factory=dict)

    def of(self, page: Path) -> Iterator[str]:
        """Yield what is wrong with the addresses in *page*."""
        seen = self.pages[page]
        for address in sorted(seen.loads):
            if self._foreign(address):
                yield f"loads {address} from elsewhere"
            elif not address.startswith("data:"):
                yield from self._dangling(page, address)
        for address in sorted(seen.links):
            scheme = _SCHEME.match(address)
            if scheme and scheme[1].lower() not in _SCHEMES:
                yield f"links to {address[:60]}, which is no web address"
            elif not self._foreign(address) and not scheme:
                yield from self._dangling(page, address)

    @staticmethod
    def _foreign(address: str) -> bool:
        parts = urlsplit(address.strip())
        return bool(parts.netloc) or parts.scheme not in ("", "data")

    def _dangling(self, page: Path, address: str) -> Iterator[str]:
        here = f"{self.base.rstrip('/')}/{page.relative_to(self.out).as_posix()}"
        parts = urlsplit(urljoin(here, address))
        path = unquote(parts.path).removeprefix(self.base.rstrip("/")).lstrip("/")
        target = self.out / path
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            yield f"links to {address}, which does not exist"
        elif parts.fragment and not self._has(target, parts):
            yield f"links to {address}, whose fragment leads nowhere"

    def _has(self, target: Path, parts: SplitResult) -> bool:
        fragment = unquote(parts.fragment)
        if target in self.pages:
            return fragment in self.pages[target].ids
        if target.suffix != ".json":
            return False
        if target not in self.receipts:
            self.receipts[target] = json.loads(target.read_bytes())
        try:
            JsonPointer(fragment).resolve(self.receipts[target])
        except JsonPointerException:
            return False
        return True
