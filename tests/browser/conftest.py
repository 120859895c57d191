"""A built site, a server for it, and a real Chromium with a page that notes what goes wrong."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from generator import site
from tests.browser.article import write_project

Scheme = Literal["light", "dark"]
ROOT = Path(__file__).parents[2]
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SITES = ["fixture", *(["committed"] if list(ROOT.glob("site/zh/articles/*.md")) else [])]


@dataclass
class Visit:
    """A page in a browser and everything that should not have happened on it."""

    page: Page
    base: str
    troubles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen from the start."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"uncaught: {error}"))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._request)

    def go(self, path: str) -> None:
        """Open *path* of the site."""
        self.page.goto(self.base + path)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        url = urlsplit(request.url)
        if url.scheme not in ("data", "blob") and url.netloc != urlsplit(self.base).netloc:
            self.troubles.append(f"request: {request.url}")


@dataclass(frozen=True)
class Built:
    """A built site that is being served; *pages* are its addresses, both languages."""

    base: str
    pages: tuple[str, ...]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, or else Playwright's own."""
    system = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def serving(public: Path) -> Iterator[Built]:
    with site.server(public) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        found = sorted(
            path.parent.relative_to(public).as_posix() for path in public.rglob("index.html")
        )
        pages = tuple("" if page == "." else f"{page}/" for page in found)
        yield Built(f"http://127.0.0.1:{running.server_port}/", pages)
        running.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The site with the fixture article, hostile outputs and all."""
    root = tmp_path_factory.mktemp("fixture")
    write_project(root)
    with serving(site.build(root).out) as built:
        yield built


@pytest.fixture(scope="session")
def committed_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The repository's own articles, built elsewhere so that `public/` is left alone."""
    with serving(
        site.build(ROOT, out=tmp_path_factory.mktemp("committed") / "public").out
    ) as built:
        yield built


@pytest.fixture(scope="session", params=SITES)
def built(request: pytest.FixtureRequest) -> Built:
    """Each site in turn."""
    found: Built = request.getfixturevalue(f"{request.param}_site")
    return found


@contextmanager
def visiting(
    browser: Browser, built: Built, *, width: int = 1280, scheme: Scheme = "light"
) -> Iterator[Visit]:
    """Open a fresh browser profile; on leaving, anything that went wrong fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    visit = Visit(context.new_page(), built.base)
    yield visit
    context.close()
    assert visit.troubles == []


@pytest.fixture
def visit(chromium: Browser, fixture_site: Built) -> Iterator[Visit]:
    """The fixture site in a window of desktop size."""
    with visiting(chromium, fixture_site) as opened:
        yield opened
