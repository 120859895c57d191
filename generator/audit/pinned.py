"""Checks of what pins a receipt: models, engines and chat templates, byte for byte."""

from __future__ import annotations

from pathlib import Path

from generator.audit.findings import NOTHING, Report
from generator.bench import file_record
from generator.chat_template_files import chat_template_path
from generator.errors import InputError
from generator.pins import Pins
from generator.receipt import Receipt


def check_pins(report: Report, root: Path, file: str, pins: Pins, receipt: Receipt) -> None:
    """Check models, engines and chat templates against the pins and files of the project."""
    for name, model in receipt.models.items():
        try:
            pin = pins.model(name)
        except InputError:
            report.expect(file, f"/models/{name}", "pinned", expected="a pin", found=NOTHING)
            continue
        for key in ("sha256", "bytes", "file"):
            report.expect(
                file,
                f"/models/{name}/{key}",
                "as pinned in receipts/pins/models.yaml",
                expected=getattr(pin, key),
                found=getattr(model, key),
            )
    for name, engine in receipt.engines.items():
        try:
            engine_pin = pins.engine(name)
        except InputError:
            report.expect(file, f"/engines/{name}", "pinned", expected="a pin", found=NOTHING)
            continue
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
