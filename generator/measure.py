"""Measuring an experiment: pins fetched and verified, the plan run, the receipt written whole."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from generator import __version__, host
from generator.declaration import Declaration, Experiment, Resolved
from generator.engines.base import Engine, RunningServer
from generator.engines.obtain import obtain
from generator.errors import Fault, InputError
from generator.experiments import kinds
from generator.host import Host
from generator.journal import Journal
from generator.ledger import Ledger
from generator.limits import Limits
from generator.lock import WORK
from generator.models.metadata import read_metadata
from generator.models.progress import Progress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.pins import Pins
from generator.plan import Ask, Boot, Plan
from generator.receipt import (
    DeclarationRecord,
    EngineRecord,
    FileRecord,
    GeneratorRecord,
    ModelRecord,
    Receipt,
    read,
    receipt_path,
    render,
    write_atomically,
)
from generator.run import Watcher, run_plan, utc_now

# what a measurement writes; git must not take it for a change of the program
MEASURED = (":!receipts/*/*.json", ":!receipts/*/SHA256SUMS", ":!site/*/articles/*.md")
TEMPLATES = Path("receipts", "chat-templates")


def plan_experiment(resolved: Resolved[Experiment]) -> Plan:
    """Expand an experiment to its boots and asks; pure."""
    kind = kinds()[resolved.spec.kind]
    return Plan(resolved.article, resolved.name, kind.name, kind.expand(resolved))


@dataclass
class Bench:
    """Everything fetched, verified and ready for measuring below one root."""

    root: Path
    pins: Pins
    store: Store
    progress: Progress
    limits: Limits = field(default_factory=Limits)
    host: Host = field(default_factory=host.probe)
    engines: dict[str, tuple[Engine, EngineRecord]] = field(default_factory=dict)
    models: dict[str, tuple[Path, ModelRecord]] = field(default_factory=dict)
    templates: dict[str, tuple[Path, FileRecord]] = field(default_factory=dict)

    def prepare(self, plan: Plan) -> None:
        """Fetch and verify what *plan* needs; nothing is launched before all of it is right."""
        for boot in plan.boots:
            if boot.engine not in self.engines:
                self.engines[boot.engine] = self._engine(boot.engine)
            if boot.model not in self.models:
                self.models[boot.model] = self._model(boot.model)
            name = boot.server.chat_template
            if name is not None and name not in self.templates:
                self.templates[name] = self._template(plan, name)

    def launch(self, boot: Boot) -> AbstractContextManager[RunningServer]:
        """Start the server that *boot* asks for."""
        engine, _ = self.engines[boot.engine]
        template = boot.server.chat_template
        return engine.launch(
            boot.server,
            self.models[boot.model][0],
            boot.model,
            self.templates[template][0] if template else None,
        )

    def ask_limit(self, boot: Boot, ask: Ask) -> float:
        """Return how long *ask* may take, in seconds."""
        model_bytes = self.models[boot.model][1].bytes
        return self.limits.of_ask(boot, ask, model_bytes, self.host)

    def _engine(self, name: str) -> tuple[Engine, EngineRecord]:
        pin = self.pins.engine(name)
        obtained = obtain(pin, self.store, self.progress, self.root)
        record = EngineRecord(
            pin=pin.name,
            type=pin.type,
            version=obtained.version,
            build=obtained.build,
            origin_sha256=obtained.origin_sha256,
            built=dict(obtained.built),
            files=[
                FileRecord(name=file.name, bytes=file.bytes, sha256=file.sha256)
                for file in obtained.files
            ],
        )
        limit_s = self.limits.start_s
        return obtained.engine if limit_s is None else obtained.engine.within(limit_s), record

    def _model(self, name: str) -> tuple[Path, ModelRecord]:
        pin = self.pins.model(name)
        path = fetch_model(pin, self.store, self.progress, root=self.root)
        metadata = read_metadata(path)
        return path, ModelRecord(
            pin=pin.name,
            title=pin.title,
            file=pin.file,
            bytes=pin.bytes,
            sha256=pin.sha256,
            license=pin.license,
            metadata=asdict(metadata),
            shards=[],
        )

    def _template(self, plan: Plan, name: str) -> tuple[Path, FileRecord]:
        path = chat_template_path(self.root, name)
        if path.parent != self.root / TEMPLATES or not path.is_file():
            file = f"receipts/{plan.article}.yaml"
            where = f"$.experiments.{plan.experiment}.server.chat_template"
            problem = f"there is no {(TEMPLATES / name).as_posix()}.jinja"
            raise InputError(
                [Fault(file, 1, 1, where, problem, "add the file or correct the name")]
            )
        return path, file_record(path)


def chat_template_path(root: Path, name: str) -> Path:
    """Return where the chat template *name* lies below *root*."""
    return root / TEMPLATES / f"{name}.jinja"


def file_record(path: Path) -> FileRecord:
    """Return a file's name, size and digest."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(name=path.name, bytes=path.stat().st_size, sha256=digest)


def measure(
    bench: Bench,
    declaration: Declaration,
    resolved: Resolved[Experiment],
    watcher: Watcher,
    ledger: Ledger,
) -> Receipt:
    """Measure one experiment and write its receipt.

    An interrupted run leaves a journal below `.work/`, and the finished receipt of an earlier run
    untouched; the next run goes on from the journal, and skips what the ledger knows as finished.

    Raises:
        EngineError: A server did not start.
        FetchError: An engine or model is not what was pinned.
        RunError: The journal cannot be written.
    """
    plan = plan_experiment(resolved)
    bench.prepare(plan)
    key = _key(bench, plan, resolved)
    path = bench.root / WORK / resolved.article / f"{resolved.name}.jsonl"
    target = receipt_path(bench.root, resolved.article, resolved.name)
    known = ledger.finished(resolved.name, key)
    if known is not None and target.is_file() and file_record(target).sha256 == known:
        path.unlink(missing_ok=True)
        return _told_again(plan, read(target, name=target.name), watcher)
    with Journal(path, key, utc_now()) as journal:
        run_plan(plan, bench.launch, journal, watcher, bench.ask_limit)
        receipt = _receipt(bench, declaration, resolved, plan, journal)
        write_atomically(target, render(receipt))
        ledger.note(resolved.name, key, file_record(target).sha256)
        journal.remove()
    return receipt


def open_ledger(root: Path, article: str) -> Ledger:
    """Return the ledger of an article's runs."""
    return Ledger(root / WORK / article / "ledger.jsonl")


def _told_again(plan: Plan, receipt: Receipt, watcher: Watcher) -> Receipt:
    boots = {boot.name: boot for boot in plan.boots}
    for boot, ask in receipt.asks():
        watcher.asked(plan, boots[boot.name], ask, resumed=True)
    return receipt


def _used(plan: Plan, attribute: str) -> list[str]:
    return sorted({str(getattr(boot, attribute)) for boot in plan.boots})


def _key(bench: Bench, plan: Plan, resolved: Resolved[Experiment]) -> Mapping[str, Any]:
    """Return what must be the same for a journal to be gone on with."""
    return {
        "plan": plan.sha256,
        "experiment": resolved.as_json(),
        "models": {name: bench.models[name][1].sha256 for name in _used(plan, "model")},
        "engines": {
            name: [file.sha256 for file in bench.engines[name][1].files]
            for name in _used(plan, "engine")
        },
        "chat_templates": {name: record.sha256 for name, (_, record) in _templates(bench, plan)},
        "generator": __version__,
        "host": bench.host.model_dump(mode="json"),
    }


def _templates(bench: Bench, plan: Plan) -> list[tuple[str, tuple[Path, FileRecord]]]:
    names = {boot.server.chat_template for boot in plan.boots} - {None}
    return [(name, bench.templates[name]) for name in sorted(str(name) for name in names)]


def _receipt(
    bench: Bench,
    declaration: Declaration,
    resolved: Resolved[Experiment],
    plan: Plan,
    journal: Journal,
) -> Receipt:
    boots = [journal.boots[boot.name].whole() for boot in plan.boots]
    result = kinds()[plan.kind].analyse(boots)
    finished = utc_now()
    return Receipt(
        schema_version=1,
        article=resolved.article,
        experiment=resolved.name,
        kind=plan.kind,
        plan_sha256=plan.sha256,
        declaration=DeclarationRecord(
            file=declaration.file, sha256=declaration.sha256, experiment=resolved.as_json()
        ),
        models={name: bench.models[name][1] for name in _used(plan, "model")},
        engines={name: bench.engines[name][1] for name in _used(plan, "engine")},
        chat_templates={name: record for name, (_, record) in _templates(bench, plan)},
        files={},
        host=host.probe(),
        generator=_generator(bench.root),
        started=journal.started,
        finished=finished,
        measured_on=journal.started[:10],
        boots=boots,
        interrupted=journal.interrupted,
        analysis=result.model_dump(mode="json"),
    )


def _generator(root: Path) -> GeneratorRecord:
    """Return this program's version, and the commit of the checkout that it runs in."""

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(root), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    commit = git("rev-parse", "HEAD")
    # what was measured is no change of the program that measured it
    status = git("status", "--porcelain", "--", ".", *MEASURED)
    return GeneratorRecord(
        version=__version__, commit=commit, dirty=None if status is None else bool(status)
    )


def write_sums(root: Path, article: str) -> None:
    """Write `SHA256SUMS` over an article's receipts, for `sha256sum -c`."""
    folder = root / "receipts" / article
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.glob("*.json"))
    ]
    write_atomically(folder / "SHA256SUMS", "".join(lines))
