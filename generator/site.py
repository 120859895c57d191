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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from generator.errors import SiteError
from generator.files import write_atomically
from generator.site_check import check_built
from generator.surroundings import ISOLATED, environment

_BUILDS = (("mkdocs.yml", "zh"), ("mkdocs.en.yml", "en"))
_LOG_LINES = 20
WRITTEN = "site-files.txt"
"""Where below `.work/` the files of the last build are listed, after their folder."""


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
    _refuse_foreign(target, _written(root / ".work" / WRITTEN, target))
    with built(root) as fresh:
        files = _put(fresh, target, root / ".work" / WRITTEN)
    return SiteReport(
        out=target,
        pages=sum(path.suffix == ".html" for path in files),
        size=sum(path.stat().st_size for path in files),
        seconds=time.monotonic() - started,
    )


@contextmanager
def built(root: Path) -> Iterator[Path]:
    """Build both languages into a folder of its own, check them, and remove it at the end.

    The same files give the same bytes, on any day.

    Args:
        root: The project, which holds ``mkdocs.yml`` and ``mkdocs.en.yml``.

    Raises:
        SiteError: A build or the check failed.
    """
    work = root / ".work"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="site-", dir=work) as scratch:
        fresh, english = (Path(scratch, folder) for _, folder in _BUILDS)
        with ThreadPoolExecutor() as pool:  # each empties its own folder, so both at once
            builds = [
                pool.submit(_mkdocs, root / config, Path(scratch, folder), scratch)
                for config, folder in _BUILDS
            ]
        for done in builds:
            done.result()
        english.rename(fresh / "en")
        check_built(fresh, base=urlsplit(os.environ.get("SITE_URL", "")).path)
        yield fresh


def _refuse_foreign(target: Path, written: set[str]) -> None:
    """Refuse a folder of somebody else's; one with a site or a repository in it is meant."""
    if target.exists() and not target.is_dir():
        raise SiteError(f"{target} is not a folder.", "Move it away, or choose another folder.")
    known = bool(written) or any((target / name).exists() for name in ("sitemap.xml", ".git"))
    if target.is_dir() and any(target.iterdir()) and not known:
        raise SiteError(
            f"{target} is not empty and holds no site.",
            "Choose another folder: a build writes its own files there.",
        )


def _written(list_: Path, target: Path) -> set[str]:
    """Return the files that the last build wrote into *target*; of another folder, none."""
    if not list_.is_file():
        return set()
    folder, *files = list_.read_text(encoding="utf-8").splitlines()
    return set(files) if folder == str(target) else set()


def _put(fresh: Path, target: Path, list_: Path) -> list[Path]:
    """Put a fresh site in place of what the last build wrote, and leave everything else alone.

    The folder itself stays, since it may be a mount or a worktree; each file is replaced whole.

    Returns:
        The files of the site, in place.
    """
    new = {path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file()}
    old = _written(list_, target)
    target.mkdir(parents=True, exist_ok=True)
    # noted before anything is written: a build that is cut off leaves nothing that nobody knows
    write_atomically(list_, "\n".join([str(target), *sorted(old | new)]) + "\n")
    for name in sorted(old - new):
        (target / name).unlink(missing_ok=True)
    folders = {folder for name in old for folder in (target / name).parents if folder != target}
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        if folder.is_relative_to(target) and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    try:
        for name in sorted(new):
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            whole = place.with_name(f".{place.name}.new")
            shutil.copyfile(fresh / name, whole)
            whole.replace(place)
    except OSError as error:
        raise SiteError(
            f"{error.filename or target} cannot be written: {error.strerror or error}.",
            "Make room there, or move away what is in its place, and build again.",
        ) from error
    write_atomically(list_, "\n".join([str(target), *sorted(new)]) + "\n")
    return [target / name for name in sorted(new)]


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
