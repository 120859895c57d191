"""Change the code that decides truth, one place at a time, and report what no test notices."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".toml")
EQUIVALENT = ROOT / "tests" / "equivalent-mutants.yaml"
WORK = ROOT / ".work" / "mutants"
KILLED = frozenset({"killed", "timeout", "segfault"})
OPEN = frozenset({"not checked", "check was interrupted by user"})
# mutmut copies these two itself; the rest is only read, where a test looks into the repository.
COPIED = frozenset({"generator", "tests", "pyproject.toml", "public"})
SETTINGS = """
[tool.mutmut]
source_paths = ["generator"]
only_mutate = [{module}]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["--hypothesis-seed=0", "-p", "no:cacheprovider"]
use_git_change_detection = false
track_dependencies = false
"""


@dataclass(frozen=True)
class Mutant:
    """One change of the code.

    Attributes:
        name: What mutmut calls it; the number in it changes with the code around it.
        was: The lines that it takes away, without their indentation.
        becomes: The lines that it puts there.
        status: What mutmut says became of it: `killed`, `survived`, `timeout`, `no tests`, ….
    """

    module: str
    function: str
    name: str
    was: str
    becomes: str
    status: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the mutant is known by, however mutmut numbers it."""
        return self.module, self.function, self.was, self.becomes


@dataclass(frozen=True)
class Score:
    """How many mutants of a module were killed; those that change nothing are not counted."""

    mutants: int
    killed: int
    timeout: int
    survived: int
    no_tests: int
    equivalent: int

    @property
    def percent(self) -> float:
        """Killed ones, in percent of those that change something."""
        counted = self.mutants - self.equivalent
        return 100.0 * self.killed / counted if counted else 100.0


def score(mutants: Iterable[Mutant], equivalent: Collection[tuple[str, str, str, str]]) -> Score:
    """Count what became of *mutants*; a timeout is a kill, too."""
    listed = list(mutants)
    alive = [m for m in listed if m.status not in KILLED]
    same = sum(m.key in equivalent for m in alive)
    counted = Counter(m.status for m in alive if m.key not in equivalent)
    no_tests = counted.pop("no tests", 0)
    return Score(
        mutants=len(listed),
        killed=len(listed) - len(alive),
        timeout=sum(m.status == "timeout" for m in listed),
        survived=counted.total(),
        no_tests=no_tests,
        equivalent=same,
    )


def total(scores: Sequence[Score]) -> Score:
    """Add *scores* up."""
    return Score(
        *(
            sum(getattr(s, field) for s in scores)
            for field in ("mutants", "killed", "timeout", "survived", "no_tests", "equivalent")
        )
    )


def stale(
    mutants: Sequence[Mutant], equivalent: Collection[tuple[str, str, str, str]]
) -> list[tuple[str, str, str, str]]:
    """Return entries of the list that fit no living mutant of a module among *mutants*'."""
    alive = {m.key for m in mutants if m.status not in KILLED}
    modules = {m.module for m in mutants}
    return sorted(key for key in equivalent if key[0] in modules and key not in alive)


def read_equivalent(text: str) -> dict[tuple[str, str, str, str], str]:
    """Return the reason for each mutant that changes nothing, from the list's YAML.

    Raises:
        ValueError: An entry has no reason, or is there twice.
    """
    found: dict[tuple[str, str, str, str], str] = {}
    for entry in yaml.safe_load(text) or []:
        key = (entry["module"], entry["function"], entry["was"].strip(), entry["becomes"].strip())
        if key in found or not entry["why"].strip():
            raise ValueError(f"{EQUIVALENT.name}: {key} has no reason, or is there twice")
        found[key] = entry["why"]
    return found


def changed(diff: str) -> tuple[str, str]:
    """Return the lines that a unified diff takes away and puts there, without indentation."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    was, becomes = (
        "\n".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )
    return was, becomes


def _digest(paths: Iterable[Path]) -> str:
    files = sorted(
        file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])
    )
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


class Workspace:
    """A folder in which mutmut changes copies of one module.

    What was found there counts as long as neither the module nor its tests are changed.
    """

    def __init__(self, module: str, tests: Sequence[str]) -> None:
        self.module, self.tests = module, tests
        self.folder = WORK / module.removeprefix("generator/").removesuffix(".py").replace("/", ".")
        self._meta = self.folder / "mutants" / f"{module}.meta"
        self._state = self.folder / "state.json"
        self._digests = {
            "module": _digest([ROOT / module]),
            "tests": _digest(ROOT / test for test in tests),
        }

    def prepare(self, *, anew: bool, survivors: bool) -> list[str]:
        """Make the folder; return the mutants to be tried again, none for all that are open."""
        known = json.loads(self._state.read_text()) if self._state.is_file() else {}
        same_module = known.get("module") == self._digests["module"]
        fresh = anew or not same_module or (known != self._digests and not survivors)
        if fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        again = [] if fresh or known == self._digests else self._alive()
        (self.folder / "mutants").mkdir(parents=True, exist_ok=True)
        if again:
            (self.folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
            shutil.rmtree(self.folder / "mutants" / "tests", ignore_errors=True)
        self._link()
        settings = SETTINGS.format(module=json.dumps(self.module), tests=json.dumps(self.tests))
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8") + settings
        (self.folder / "pyproject.toml").write_text(text, encoding="utf-8")
        self._state.write_text(json.dumps(self._digests))
        return again

    def _link(self) -> None:
        for entry in ROOT.iterdir():
            if entry.name.startswith(".") or entry.name == "pyproject.toml":
                continue
            inner = [] if entry.name in COPIED else [self.folder / "mutants" / entry.name]
            for link in (self.folder / entry.name, *inner):
                if not link.is_symlink():
                    link.symlink_to(entry)

    def _statuses(self) -> dict[str, int | None]:
        if not self._meta.is_file():
            return {}
        codes: dict[str, int | None] = json.loads(self._meta.read_text())["exit_code_by_key"]
        return codes

    def _alive(self) -> list[str]:
        return [mutant.name for mutant in self.mutants() if mutant.status not in KILLED]

    def run(self, again: Sequence[str]) -> None:
        """Let mutmut try the mutants that are open, or those of *again*.

        Raises:
            RuntimeError: The tests fail without a mutation, too, or mutmut does.
        """
        if self._statuses() and not again and None not in self._statuses().values():
            return
        log = self.folder / "mutmut.log"
        mutmut = Path(sys.executable).with_name("mutmut")
        with log.open("wb") as file:
            done = subprocess.run(
                [mutmut, "run", "--max-children", "1", *again],
                cwd=self.folder,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode or None in self._statuses().values():
            raise RuntimeError(f"{self.module}: mutmut did not come to its end; see {log}")

    def mutants(self) -> list[Mutant]:
        """Return every mutant of the module and what became of it."""
        # They are mutmut's own words and diffs; it is pinned, and its command shows one at a time.
        # Only `make mutants` installs it, so the rest of this module is tested without it.
        from mutmut.mutation.diff_apply import get_diff_for_mutant  # noqa: PLC0415
        from mutmut.stats import status_by_exit_code  # noqa: PLC0415
        from mutmut.utils.format_utils import (  # noqa: PLC0415
            orig_function_and_class_names_from_key,
        )

        before = Path.cwd()
        os.chdir(self.folder)  # where mutmut looks for its copies
        try:
            found = []
            for name, code in self._statuses().items():
                function, owner = orig_function_and_class_names_from_key(name)
                was, becomes = changed(get_diff_for_mutant(name, path=self.module))
                function = function.rpartition(".")[2]
                shown = f"{owner}.{function}" if owner else function
                status = status_by_exit_code[code]
                found.append(Mutant(self.module, shown, name, was, becomes, status))
            return found
        finally:
            os.chdir(before)


def table(scores: Mapping[str, Score]) -> list[str]:
    """Return *scores* as the rows of a Markdown table, with their sum."""
    rows = [
        "| module | mutants | killed | by timeout | survived | no tests | equivalent | score |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, s in {**scores, "all": total(list(scores.values()))}.items():
        counts = (s.mutants, s.killed, s.timeout, s.survived, s.no_tests, s.equivalent)
        rows.append(f"| {name} | {' | '.join(map(str, counts))} | {s.percent:.1f} % |")
    return rows


def _options(modules: Collection[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="such as generator/wire.py; default: all")
    parser.add_argument("--anew", action="store_true", help="forget what was found before")
    parser.add_argument(
        "--survivors",
        action="store_true",
        help="where only tests changed, try just those again that survived",
    )
    parser.add_argument("--report", action="store_true", help="only report what was found before")
    options = parser.parse_args()
    unknown = sorted(set(options.modules) - set(modules))
    if unknown:
        parser.error(f"not in {TABLE.name}: {', '.join(unknown)}")
    return options


def main() -> int:
    """Try the mutants of the chosen modules; return 1 if the score is below the goal."""
    settings = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    options = _options(settings["modules"])
    equivalent = read_equivalent(EQUIVALENT.read_text(encoding="utf-8"))
    scores: dict[str, Score] = {}
    entries: list[tuple[str, str, str, str]] = []
    for module in options.modules or settings["modules"]:
        workspace = Workspace(module, settings["modules"][module])
        if not options.report:
            print(f"Mutating {module} …", file=sys.stderr, flush=True)
            try:
                workspace.run(workspace.prepare(anew=options.anew, survivors=options.survivors))
            except RuntimeError as error:
                print(error, file=sys.stderr)
                return 2
        mutants = workspace.mutants()
        scores[module] = score(mutants, equivalent)
        entries += stale(mutants, equivalent)
        for mutant in mutants:
            if mutant.status not in KILLED and mutant.key not in equivalent:
                print(f"{mutant.status}: {module}, {mutant.function}\n- {mutant.was}")
                print(f"+ {mutant.becomes}\n")
    print("\n".join(table(scores)))
    for key in entries:
        print(f"{EQUIVALENT.name}: no mutant that lives is {key}")
    short = total(list(scores.values())).percent < settings["goal_percent"]
    if short:
        print(f"Below the goal of {settings['goal_percent']} %: write a test, or give a reason.")
    return 1 if short or entries else 0


if __name__ == "__main__":
    sys.exit(main())
