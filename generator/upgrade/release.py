"""Release archives renewed: another build at the same places, or another address."""

from __future__ import annotations

import re
from pathlib import Path

from generator.engines.archive import contents, unpack
from generator.engines.probe import probe
from generator.engines.url import run_environment
from generator.errors import FetchError
from generator.pin_types import Archive, Platform, UrlEngine
from generator.pins import platform_name
from generator.upgrade.wishes import Bench, Newest, ToAddress, ToVersion, Wish, unfit, with_build

_BUILD = re.compile(r"b?([0-9]+)")


def renew_release(pin: UrlEngine, wish: Wish, bench: Bench) -> UrlEngine:
    """Pin the archives of another build, or what lies at the pinned addresses now.

    Raises:
        FetchError: An archive cannot be had, or has no llama-server.
        InputError: The wish does not fit.
    """
    wanted = _wanted(pin, wish)
    build = wanted
    archives: dict[Platform, Archive] = {}
    for platform, old in pin.archives.items():
        urls = tuple(with_build(url, pin.build, wanted) for url in old.urls)
        if isinstance(wish, ToAddress):
            urls = (wish.url,)
        with bench.folder(pin.name) as scratch:
            path, size, digest = bench.fetch(urls[0], f"{pin.name} for {platform}", scratch)
            member = _member(pin.name, path, with_build(old.member, pin.build, wanted))
            if platform == platform_name():
                build = _build(path, member, scratch, pin.name)
        archives[platform] = Archive(urls=urls, bytes=size, sha256=digest, member=member)
    if isinstance(wish, ToVersion) and build != wanted:
        raise unfit(pin.name, f"what is there says that it is build {build}", "use --url")
    title = with_build(pin.title, pin.build, build)
    return pin.model_copy(update={"build": build, "archives": archives, "title": title})


def _wanted(pin: UrlEngine, wish: Wish) -> int:
    """Return the wanted build as far as it is known before anything is fetched."""
    match wish:
        case Newest():
            return pin.build
        case ToAddress(url):
            if len(pin.archives) > 1:
                names = ", ".join(pin.archives)
                raise unfit(
                    pin.name, f"it has archives for {names}", "use --version for all of them"
                )
            told = re.findall(r"(?<![0-9A-Za-z])b([0-9]+)(?![0-9])", url)
            return int(told[-1]) if told else pin.build
        case ToVersion(version):
            number = _BUILD.fullmatch(version)
            if number is None:
                raise unfit(pin.name, f"{version} is no build number", "write one such as b6543")
            urls = [url for archive in pin.archives.values() for url in archive.urls]
            if any(with_build(url, pin.build, pin.build + 1) == url for url in urls):
                problem = f"not every address of it names build b{pin.build}"
                raise unfit(pin.name, problem, "use --url")
            return int(number[1])


def _member(name: str, archive: Path, expected: str) -> str:
    """Return the program's place in the archive: where it was before, or the only one."""
    files = contents(archive, name).digests
    program = expected.rpartition("/")[2]
    found = [file for file in files if file.rpartition("/")[2] == program]
    if expected in files:
        return expected
    if len(found) == 1:
        return found[0]
    raise FetchError(
        f"{name}: the archive has {len(found)} files named {program}.",
        "Pin it by hand in receipts/pins/engines.yaml, with the `member` it is.",
        found[:4],
    )


def _build(archive: Path, member: str, scratch: Path, name: str) -> int:
    """Ask the program itself for its build number."""
    tree = scratch / "tree"
    unpack(archive, tree, name)
    program = tree / member
    program.chmod(0o555)
    return probe(program, run_environment(program)).build
