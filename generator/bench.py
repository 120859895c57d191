"""The bench: everything that a plan needs, fetched, verified and ready to be launched."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from generator import host
from generator.chat_template import refusal
from generator.chat_template_files import chat_template_path, refused_by_engine, template_fault
from generator.engines.base import Engine, RunningServer
from generator.engines.obtain import obtain
from generator.errors import EngineError, InputError
from generator.host import Host
from generator.limits import Limits
from generator.models.metadata import read_metadata
from generator.models.progress import Progress
from generator.models.sources import fetch_model
from generator.models.store import Store
from generator.named_files import NamedFile, for_engine, named_files
from generator.pins import Pins
from generator.plan import Ask, Boot, Plan
from generator.receipt import EngineRecord, FileRecord, ModelRecord


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
    files: dict[str, FileRecord] = field(default_factory=dict)

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
            for named in named_files(boot.server, self.root):
                self.files.setdefault(_label(named), file_record(named.path, named.name))

    @contextmanager
    def launch(self, boot: Boot) -> Iterator[RunningServer]:
        """Start the server that *boot* asks for.

        Raises:
            EngineError: It did not start.
            InputError: It cannot use the chat template that was declared.
        """
        engine, _ = self.engines[boot.engine]
        template = boot.server.chat_template
        with ExitStack() as held:
            try:
                server = held.enter_context(
                    engine.launch(
                        for_engine(boot.server, self.root),
                        self.models[boot.model][0],
                        boot.model,
                        self.templates[template][0] if template else None,
                    )
                )
            except EngineError as error:
                refused = refusal("\n".join([error.what, *error.details]))
                if template is None or refused is None:
                    raise
                raise InputError(
                    [refused_by_engine(template, refused)],
                    "Mend the template and run again; what was answered is kept.",
                ) from error
            yield server

    def named(self, plan: Plan) -> dict[str, FileRecord]:
        """Return the record of every file that a setting of *plan* names, by setting and name."""
        labels = {_label(n) for boot in plan.boots for n in named_files(boot.server, self.root)}
        return {label: self.files[label] for label in sorted(labels)}

    def ask_limit(self, boot: Boot, ask: Ask) -> float:
        """Return how long *ask* may take, in seconds."""
        model = self.models[boot.model][1]
        model_bytes = model.bytes + sum(shard.bytes for shard in model.shards)
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
            shards=[
                FileRecord(name=shard.file, bytes=shard.bytes, sha256=shard.sha256)
                for shard in pin.shards
            ],
        )

    def _template(self, plan: Plan, name: str) -> tuple[Path, FileRecord]:
        fault = template_fault(self.root, f"receipts/{plan.article}.yaml", plan.experiment, name)
        if fault is not None:
            raise InputError([fault])
        path = chat_template_path(self.root, name)
        return path, file_record(path)


def file_record(path: Path, name: str | None = None) -> FileRecord:
    """Return a file's size and digest, under its own name or another one."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(name=name or path.name, bytes=path.stat().st_size, sha256=digest)


def _label(named: NamedFile) -> str:
    return f"{named.setting}: {named.name}"
