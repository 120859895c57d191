"""Measuring an experiment: pins fetched and verified, the plan run, the receipt written whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from generator import __version__, host
from generator.bench import Bench, file_record
from generator.checkout import checkout
from generator.claims import conditions
from generator.declaration import Declaration, Experiment, Resolved
from generator.experiments import kinds, plan_experiment
from generator.files import write_atomically
from generator.journal import Journal
from generator.ledger import Ledger
from generator.lock import WORK
from generator.plan import Plan
from generator.receipt import (
    BootRecord,
    DeclarationRecord,
    FileRecord,
    GeneratorRecord,
    PromptRecord,
    Receipt,
    read,
    receipt_path,
    render,
)
from generator.run import Watcher, run_plan, utc_now


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
    key = _key(bench, plan, resolved, conditions(declaration, resolved.name))
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


def _key(
    bench: Bench, plan: Plan, resolved: Resolved[Experiment], claims: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return what must be the same for a journal to be resumed.

    Wording is not in it. Claims' conditions are: none may be written between two answers.
    """
    return {
        "plan": plan.sha256,
        "experiment": resolved.as_json(),
        "claims": dict(claims),
        "models": {name: bench.models[name][1].sha256 for name in _used(plan, "model")},
        "engines": {
            name: [file.sha256 for file in bench.engines[name][1].files]
            for name in _used(plan, "engine")
        },
        "chat_templates": {name: record.sha256 for name, (_, record) in _templates(bench, plan)},
        "files": {name: record.sha256 for name, record in bench.named(plan).items()},
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
        schema_version=2,
        article=resolved.article,
        experiment=resolved.name,
        kind=plan.kind,
        plan_sha256=plan.sha256,
        declaration=DeclarationRecord(
            file=declaration.file, sha256=declaration.sha256, experiment=resolved.as_json()
        ),
        claims=conditions(declaration, resolved.name),
        models={name: bench.models[name][1] for name in _used(plan, "model")},
        engines={name: bench.engines[name][1] for name in _used(plan, "engine")},
        chat_templates={name: record for name, (_, record) in _templates(bench, plan)},
        files=bench.named(plan),
        prompts=_prompts(journal, [*boots, *journal.interrupted]),
        host=host.probe(),
        generator=_generator(),
        started=journal.started,
        finished=finished,
        measured_on=journal.started[:10],
        boots=boots,
        interrupted=journal.interrupted,
        analysis=result.model_dump(mode="json"),
    )


def _prompts(journal: Journal, boots: Sequence[BootRecord]) -> dict[str, PromptRecord]:
    """Return the prompts to which an ask refers."""
    given = {ask.prompt for boot in boots for ask in boot.asks if ask.prompt is not None}
    return {sha256: journal.prompts[sha256] for sha256 in sorted(given)}


def _generator() -> GeneratorRecord:
    """Return this program's version, and the commit of its own checkout or why it is unknown."""
    found = checkout()
    if isinstance(found, str):
        return GeneratorRecord(version=__version__, commit=None, dirty=None, commit_unknown=found)
    return GeneratorRecord(
        version=__version__, commit=found.commit, dirty=found.dirty, commit_unknown=None
    )


def write_sums(root: Path, article: str) -> None:
    """Write `SHA256SUMS` over an article's receipts, for `sha256sum -c`."""
    folder = root / "receipts" / article
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.glob("[!.]*.json"))
    ]
    write_atomically(folder / "SHA256SUMS", "".join(lines))
