"""Checks of programs and settings around the measuring: git, browser, fonts, proxies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from generator.doctor.diagnosis import Diagnosis, graded
from generator.doctor.view import View

PROXIES = ("http_proxy", "https_proxy", "all_proxy")
SOCKS = ("socks5", "socks5h")


def diagnose(view: View) -> Iterator[Diagnosis]:
    """Check what is wanted besides a machine and an engine."""
    yield _git(view)
    tools = ("curl", "jq")
    missing = [name for name in tools if not view.programs[name]]
    yield graded(
        "curl and jq",
        well=not missing,
        otherwise="warning",
        found=f"not found: {', '.join(missing)}" if missing else "here",
        remedy=f"apt-get install {' '.join(missing or tools)}; a bug report's script needs them",
    )
    yield graded(
        "browser",
        well=view.browser is not None,
        otherwise="warning",
        found="a Chromium is here" if view.browser else "no Chromium is found",
        remedy="make test installs one; only the browser tests need it",
    )
    yield _fonts(view.cjk_fonts)
    yield _proxies(view.environment, socks=view.socks)


def _git(view: View) -> Diagnosis:
    here = view.programs["git"] is not None
    checkout = view.clock.commit is not None
    return graded(
        "git",
        well=here and checkout,
        otherwise="warning",
        found="not found" if not here else "here" if checkout else "this is no checkout",
        remedy="apt-get install git; without it receipts name no commit"
        if not here
        else "measure in a clone of the project; otherwise receipts name no commit",
    )


def _fonts(count: int | None) -> Diagnosis:
    told = "not told: there is no fc-list" if count is None else f"{count} can write Chinese"
    return graded(
        "fonts",
        well=bool(count),
        otherwise="warning",
        found=told,
        remedy="apt-get install fontconfig fonts-noto-cjk; without, Chinese pages show boxes here",
    )


def _proxies(environment: Mapping[str, str], *, socks: bool) -> Diagnosis:
    """Check the proxies that the environment names; what they are is not shown."""
    named = sorted(name for name in environment if name.lower() in (*PROXIES, "no_proxy"))
    faults = [
        fault
        for name in named
        if name.lower() in PROXIES and environment[name]
        for fault in _faults(name, environment, socks=socks)
    ]
    return graded(
        "proxy",
        well=not faults,
        otherwise="warning",
        found="; ".join(faults) or ", ".join(named) or "none set",
        remedy="write http://host:port; it is for fetching only: loopback never goes through it",
    )


def _faults(name: str, environment: Mapping[str, str], *, socks: bool) -> Iterator[str]:
    value = environment[name]
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        port = parts.port
    except ValueError:
        yield f"{name} is no address"
        return
    if parts.scheme in SOCKS and not socks:
        yield f"{name} is a SOCKS proxy, for which socksio is not installed"
    elif parts.scheme not in ("http", "https", *SOCKS):
        yield f"{name} begins with {parts.scheme}://"
    elif not parts.hostname or port == 0:
        yield f"{name} names no host and port"
    other = name.swapcase()
    if name.islower() and environment.get(other, value) != value:
        yield f"{name} and {other} differ, and programs choose differently"
