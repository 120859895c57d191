"""An engine on a guard: its files are verified around each start, and it loads no others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generator.engines.base import Engine, RunningServer
from generator.engines.loaded import is_the_engines, loaded_code
from generator.errors import EngineError
from generator.settings import ServerSettings

_BUILD = re.compile(r"b(\d+)\b")


@dataclass(frozen=True)
class GuardedEngine:
    """An engine that is a program, of which every file is known.

    Attributes:
        inner: The engine itself.
        label: How it is called before the user.
        program: The program that it runs, links followed.
        files: The sha256 that each of its files must have, the program included, links followed.
        build: The build number that it must tell in `/props`.
        digest: Computes a file's sha256.
    """

    inner: Engine
    label: str
    program: Path
    files: Mapping[Path, str]
    build: int
    digest: Callable[[Path], str]

    @contextmanager
    def launch(
        self,
        settings: ServerSettings,
        model_path: Path,
        model_alias: str,
        template_path: Path | None = None,
    ) -> Iterator[RunningServer]:
        """Start a server, wait until it is ready, and kill it when the context is left.

        Raises:
            EngineError: It did not start, what answers is not what was started, one of its files
                is not as pinned, or it loaded one that is not pinned.
        """
        self._verify()
        with self.inner.launch(settings, model_path, model_alias, template_path) as server:
            loaded = loaded_code(server.process.pid)
            if loaded is not None:
                self._refuse_strangers(loaded)
            self._verify()
            self._compare_build(server.props)
            told = {} if loaded is None else {"loaded": sorted({path.name for path in loaded})}
            yield replace(server, effective={**server.effective, **told})

    def within(self, start_limit_s: float) -> GuardedEngine:
        """Return the same engine with a limit to how long a start may take, in seconds."""
        return replace(self, inner=self.inner.within(start_limit_s))

    def _verify(self) -> None:
        for path, expected in self.files.items():
            try:
                found = self.digest(path)
            except OSError as error:
                found = error.strerror or str(error)
            if found != expected:
                raise EngineError(
                    f"{self.label}: {path.name} has changed since it was verified.",
                    "Let nothing write to the engine while it is measured, then run again.",
                    [f"expected sha256 {expected}", f"found    {found}"],
                )

    def _refuse_strangers(self, loaded: list[Path]) -> None:
        """Refuse a file that the engine loaded and that is neither pinned nor the system's."""
        for path in loaded:
            if path not in self.files and is_the_engines(path, self.program):
                raise EngineError(
                    f"{self.label} loaded {path}, which is not one of its pinned files.",
                    "Look for it in LD_LIBRARY_PATH, the program's run path and the folder that"
                    " you are in; if it belongs to the engine, pin it anew: receipts pins update.",
                )

    def _compare_build(self, props: Mapping[str, Any]) -> None:
        told = _BUILD.match(str(props.get("build_info", "")))
        if told is not None and int(told[1]) != self.build:
            raise EngineError(
                f"{self.label} says that it is build {told[1]}, and build {self.build} is pinned.",
                "Pin it anew once you know why: receipts pins update.",
            )
