"""The site: both languages built by MkDocs, checked, put in place as a whole, and served."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from generator.errors import SiteError
from generator.site_check import check_built
from generator.surroundings import ISOLATED, environment

_BUILDS = (
    ("mkdocs.yml", ""),
    ("mkdocs.en.yml", "en"),
)  # in this order: the first empties its folder
_LOG_LINES = 20


@dataclass(frozen=True)
class SiteReport:
    """What a build gave.

    Attributes:
        out: Where the site lies.
        pages: HTML pages, both languages and their 404 pages.
        size: All files together, in bytes.
        seconds: Wall time of the build and its check.
    """

    out: Path
    pages: int
    size: int
    seconds: float


def build(root: Path, *, out: Path | None = None) -> SiteReport:
    """Build both languages, check what came out, and only then replace the site.

    Args:
        root: The project, which holds ``mkdocs.yml`` and ``mkdocs.en.yml``.
        out: Where the site goes; ``public`` in the project if not given.

    Returns:
        What was built.

    Raises:
        SiteError: A build or the check failed, and the old site is as it was; or *out* holds
            something that is not a site.
    """
    started = time.monotonic()
    target = (out or root / "public").resolve()
    _refuse_foreign(target)
    work = root / ".work"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="site-", dir=work) as scratch:
        fresh = Path(scratch, "public")
        for config, folder in _BUILDS:
            _mkdocs(root / config, fresh / folder, scratch)
        check_built(fresh, base=urlsplit(os.environ.get("SITE_URL", "")).path)
        if target.exists():
            shutil.move(target, Path(scratch, "old"))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(fresh, target)
    files = [path for path in target.rglob("*") if path.is_file()]
    return SiteReport(
        out=target,
        pages=sum(path.suffix == ".html" for path in files),
        size=sum(path.stat().st_size for path in files),
        seconds=time.monotonic() - started,
    )


def _refuse_foreign(target: Path) -> None:
    if target.exists() and any(target.iterdir()) and not (target / "sitemap.xml").is_file():
        raise SiteError(
            f"{target} is not empty and holds no site.",
            "Choose another folder: a build replaces the whole of it.",
        )


def _mkdocs(config: Path, target: Path, scratch: str) -> None:
    command = [sys.executable, *ISOLATED, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(
        [*command, "--config-file", str(config), "--site-dir", str(target)],
        # jieba unmarshals a cache from the temporary folder: never one that others can write to
        env=environment(NO_MKDOCS_2_WARNING="1", TMPDIR=scratch),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise SiteError(
            f"MkDocs could not build {config.name} (exit code {done.returncode}).",
            "Mend what the last lines name; the site that was there is untouched.",
            lines[-_LOG_LINES:],
        )


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and the 404 page of the language asked in."""

    extensions_map = {  # noqa: RUF012 - as the base class has it
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".json": "application/json; charset=utf-8",
        ".yaml": "text/plain; charset=utf-8",
        "": "text/plain; charset=utf-8",
    }

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        english = urlsplit(self.path).path.startswith("/en/")
        page = Path(self.directory, "en" if english else "", "404.html")
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: whoever serves decides what to show."""


def server(out: Path, port: int = 0) -> http.server.ThreadingHTTPServer:
    """Return a server of the site in *out*, on loopback; port 0 takes a free one.

    Raises:
        SiteError: There is no site, or the port is taken.
    """
    if not (out / "index.html").is_file():
        raise SiteError(f"There is no site in {out}.", "Run `make site` first.")
    handler = functools.partial(_Handler, directory=str(out))
    try:
        return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise SiteError(
            f"Port {port} cannot be used: {error.strerror}.", "Choose another port."
        ) from error


def serve(root: Path, port: int) -> None:
    """Serve the project's ``public`` folder on loopback until interrupted.

    Raises:
        SiteError: There is no site, or the port is taken.
    """
    with server(root / "public", port) as running:
        running.serve_forever()
