"""Checks of receipts: schema, declaration, plan, pins, requests, and the analysis recomputed."""

from __future__ import annotations

from pathlib import Path

from generator.audit.findings import NOTHING, Finding, Report
from generator.declaration import Declaration, Override
from generator.errors import AuditError, InputError
from generator.evidence import declare
from generator.measure import chat_template_path, file_record, plan_experiment
from generator.pins import Pins, load_pins
from generator.plan import Plan, seed_word
from generator.publish import analyse
from generator.receipt import Receipt, read, receipt_path, render


def check_receipts(
    report: Report, root: Path, declaration: Declaration
) -> dict[str, Receipt] | None:
    """Check every receipt of an article.

    Returns:
        The receipts by experiment, or None if one cannot be read at all.
    """
    receipts: dict[str, Receipt] = {}
    unreadable = False
    pins = load_pins(root)
    for name in declaration.experiments:
        path = receipt_path(root, declaration.article, name)
        if not path.is_file():
            continue
        file = path.relative_to(root).as_posix()
        try:
            receipt = read(path, name=file)
        except AuditError as error:
            report.checked += 1
            lines = error.details or (error.what,)
            report.findings += [Finding(file, "", "schema", "a receipt", line) for line in lines]
            unreadable = True
            continue
        receipts[name] = receipt
        text = path.read_text(encoding="utf-8")
        report.expect(
            file, "", "written as we write it", expected=True, found=text == render(receipt)
        )
        _check_declared(report, root, file, declaration, receipt)
        _check_pins(report, root, file, pins, receipt)
        report.expect_json(
            file,
            "/analysis",
            "analysis recomputed from the raw responses",
            expected=analyse(receipt).analysis,
            found=receipt.analysis,
        )
    return None if unreadable else receipts


def _check_declared(
    report: Report, root: Path, file: str, declaration: Declaration, receipt: Receipt
) -> None:
    report.expect(
        file,
        "/declaration/sha256",
        f"digest of {declaration.file}",
        expected=declaration.sha256,
        found=receipt.declaration.sha256,
    )
    record = receipt.declaration.experiment
    override = Override(record.get("model"), record.get("engine"))
    resolved = declare(root, declaration.article, override).experiments[receipt.experiment]
    report.expect_json(
        file,
        "/declaration/experiment",
        f"the experiment as {declaration.file} declares it",
        expected=resolved.as_json(),
        found=record,
    )
    plan = plan_experiment(resolved)
    report.expect(
        file, "/plan_sha256", "digest of the plan", expected=plan.sha256, found=receipt.plan_sha256
    )
    _check_requests(report, file, plan, receipt)


def _check_requests(report: Report, file: str, plan: Plan, receipt: Receipt) -> None:
    """Check that what was sent is what the plan says, ask by ask."""
    planned = [(boot, ask) for boot in plan.boots for ask in boot.asks]
    if not report.expect(
        file,
        "/boots",
        "asks in the plan's order",
        expected=[(boot.name, ask.name) for boot, ask in planned],
        found=[(boot.name, ask.name) for boot, ask in receipt.asks()],
    ):
        return
    at = {
        (boot.name, ask.name): f"/boots/{i}/asks/{j}"
        for i, boot in enumerate(receipt.boots)
        for j, ask in enumerate(boot.asks)
    }
    for (boot, ask), (_, record) in zip(planned, receipt.asks(), strict=True):
        word = seed_word(ask.seed)
        expected = {**ask.body}
        if isinstance(word, int):
            expected["seed"] = word
        elif word == "drawn":
            expected["seed"] = record.request.get("seed", NOTHING)
        pointer = f"{at[boot.name, ask.name]}/request"
        report.expect_json(
            file, pointer, "request as planned", expected=expected, found=record.request
        )


def _check_pins(report: Report, root: Path, file: str, pins: Pins, receipt: Receipt) -> None:
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
            artifacts = pins.engine(name).artifacts.values()
        except InputError:
            report.expect(file, f"/engines/{name}", "pinned", expected="a pin", found=NOTHING)
            continue
        pinned = {artifact.library_sha256 for artifact in artifacts}
        report.expect(
            file,
            f"/engines/{name}/files",
            "library as pinned in receipts/pins/engines.yaml",
            expected=True,
            found=bool(pinned & {record.sha256 for record in engine.files}),
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
