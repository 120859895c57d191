"""Checks of what pins a receipt: models, engines and chat templates, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from generator.audit.findings import NOTHING, Report
from generator.bench import file_record
from generator.chat_template_files import chat_template_path
from generator.errors import InputError
from generator.pin_types import EnginePin, PathEngine, SourceEngine, WheelEngine
from generator.pins import Pins
from generator.receipt import EngineRecord, Receipt

_MODEL = ("title", "license", "sha256", "bytes", "file")


def check_pins(report: Report, root: Path, file: str, pins: Pins, receipt: Receipt) -> None:
    """Check models, engines and chat templates against the pins and files of the project."""
    for name, model in receipt.models.items():
        try:
            pin = pins.model(name)
        except InputError:
            report.expect(file, f"/models/{name}", "pinned", expected="a pin", found=NOTHING)
            continue
        shards = [
            {"name": shard.file, "bytes": shard.bytes, "sha256": shard.sha256}
            for shard in pin.shards
        ]
        for key, expected, found in (
            *((key, getattr(pin, key), getattr(model, key)) for key in _MODEL),
            ("pin", name, model.pin),
            ("metadata/file_type", pin.quantization, model.metadata.get("file_type")),
            ("shards", shards, [shard.model_dump() for shard in model.shards]),
        ):
            report.expect_json(
                file,
                f"/models/{name}/{key}",
                "as pinned in receipts/pins/models.yaml",
                expected=expected,
                found=found,
            )
    for name, engine in receipt.engines.items():
        try:
            engine_pin = pins.engine(name)
        except InputError:
            report.expect(file, f"/engines/{name}", "pinned", expected="a pin", found=NOTHING)
            continue
        for key, expected_one, found_one in _engine(engine_pin, engine):
            report.expect(
                file,
                f"/engines/{name}/{key}",
                "as pinned in receipts/pins/engines.yaml",
                expected=expected_one,
                found=found_one,
            )
        found = engine.origin_sha256
        report.expect(
            file,
            f"/engines/{name}/origin_sha256",
            "as pinned in receipts/pins/engines.yaml",
            expected=found if found in engine_pin.origins else sorted(engine_pin.origins),
            found=found,
        )
        if engine_pin.programs:
            report.expect(
                file,
                f"/engines/{name}/files",
                "program as pinned in receipts/pins/engines.yaml",
                expected=True,
                found=bool(engine_pin.programs & {record.sha256 for record in engine.files}),
            )
    for name, template in receipt.chat_templates.items():
        path = chat_template_path(root, name)
        report.expect_json(
            file,
            f"/chat_templates/{name}",
            "the chat template's file",
            expected=file_record(path).model_dump() if path.is_file() else NOTHING,
            found=template.model_dump(),
        )


def _engine(pin: EnginePin, engine: EngineRecord) -> Iterator[tuple[str, object, object]]:
    """Yield what a pin fixes of an engine's record, and what the record holds."""
    yield "pin", pin.name, engine.pin
    yield "type", pin.type, engine.type
    yield "build", pin.build, engine.build
    match pin:
        case WheelEngine() | SourceEngine():
            yield "version", f"{pin.distribution} {pin.version}", engine.version
        case PathEngine():
            yield "version", pin.version, engine.version
        case _:
            pass
    if isinstance(pin, WheelEngine):
        yield "built", {}, engine.built
        for artifact in pin.artifacts.values():
            if artifact.sha256 == engine.origin_sha256:
                sizes = {file.sha256: (file.name, file.bytes) for file in engine.files}
                library = (artifact.library, artifact.library_bytes)
                yield "files", library, sizes.get(artifact.library_sha256)
