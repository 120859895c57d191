"""A pytest plugin: llama-server's own tests, unchanged, with a model of ours and by a list of ours.

It runs in the environment of those tests, which knows nothing of this project.
"""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

DRAFT = "/stories15M-q4_0.gguf"  # the model that drafts; here ours drafts for itself


@dataclass(frozen=True)
class Group:
    """Tests that are run, or left out, together.

    Attributes:
        name: What they are about, or why they are left out.
        run: Whether they are run.
        tests: Files, functions or cases; the most particular entry decides.
    """

    name: str
    run: bool
    tests: tuple[str, ...]


class Selection:
    """The list of ours, and what became of the tests on it.

    Args:
        path: The list. Every test must be on it, and everything on it must be a test.
    """

    def __init__(self, path: Path) -> None:
        lists = tomllib.loads(path.read_text(encoding="utf-8"))
        self._despite_skip = frozenset(lists["despite_skip"])
        self._groups = [
            Group(group["name"], kind == "run", tuple(group["tests"]))
            for kind in ("run", "left_out")
            for group in lists[kind]
        ]
        self._entries = {test: group for group in self._groups for test in group.tests}
        self._group_of: dict[str, Group] = {}
        self._failed: set[str] = set()
        self._skipped: set[str] = set()
        self._passed: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep what is to be run."""
        used = {item.nodeid: self._entry(item.nodeid) for item in items}
        unlisted = [test for test, entry in used.items() if entry is None]
        everything = config.args_source is not pytest.Config.ArgsSource.ARGS
        unknown = self._entries.keys() - used.values() if everything else ()
        if unlisted or unknown:
            lines = [f"not on the list: {test}" for test in unlisted]
            lines += [f"no such test: {test}" for test in sorted(unknown)]
            raise pytest.UsageError("\n".join(lines))
        for test, entry in used.items():
            self._group_of[test] = self._entries[entry or ""]
        left_out = [item for item in items if not self._group_of[item.nodeid].run]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if self._group_of[item.nodeid].run]
        for item in items:
            if used[item.nodeid] in self._despite_skip:
                item.own_markers = [mark for mark in item.own_markers if mark.name != "skip"]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what became of a test; a fault while it is set up or torn down fails it."""
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.skipped:
            self._skipped.add(report.nodeid)
        elif report.when == "call":
            self._passed.add(report.nodeid)

    def pytest_unconfigure(self) -> None:
        """Tell, below all that pytest told, how many passed, failed and were left out, and why."""
        if not self._group_of:
            return
        print()
        for group in self._groups:
            tests = {test for test, its in self._group_of.items() if its is group}
            print(f"{group.name}: {self._count(tests) if group.run else f'{len(tests)} left out'}")
        run = {test for test, group in self._group_of.items() if group.run}
        print(f"in all: {self._count(run)}, {len(self._group_of) - len(run)} left out")

    def _count(self, tests: set[str]) -> str:
        failed = tests & self._failed
        passed = (tests & self._passed) - failed
        skipped = (tests & self._skipped) - failed
        counts = f"{len(passed)} passed, {len(failed)} failed"
        if skipped:
            counts += f", {len(skipped)} skipped by themselves"
        if rest := len(tests - failed - passed - skipped):
            counts += f", {rest} not run"
        return counts

    def _entry(self, nodeid: str) -> str | None:
        test = nodeid.removeprefix("unit/")
        function = test.partition("[")[0]
        for entry in (test, function, function.partition("::")[0]):
            if entry in self._entries:
                return entry
        return None


def pytest_configure(config: pytest.Config) -> None:
    """Give the servers of the tests our model, and the tests our list."""
    import utils  # noqa: PLC0415 - upstream's; it lies where pytest is started

    model, threads = os.environ["UPSTREAM_MODEL"], int(os.environ["UPSTREAM_THREADS"])

    def small(preset: Any) -> Any:
        def made() -> Any:
            server = preset()
            server.model_hf_repo, server.model_hf_file = None, None
            server.model_file, server.n_threads = model, threads
            return server

        return staticmethod(made)

    def downloaded(url: str, *_: object) -> str:
        return model if url.endswith(DRAFT) else _refuse()

    # The other presets are for other kinds of models; tests that need them are left out.
    utils.ServerPreset.tinyllama2 = small(utils.ServerPreset.tinyllama2)
    utils.ServerPreset.stories15m_moe = small(utils.ServerPreset.stories15m_moe)
    utils.ServerPreset.load_all = staticmethod(lambda: None)
    utils.download_file = downloaded
    config.pluginmanager.register(Selection(Path(os.environ["UPSTREAM_LIST"])))


def _refuse(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("this test downloads something: leave it out")


sys.modules["wget"] = ModuleType("wget")  # imported by utils for what `downloaded` replaces
