"""Checks of what a receipt says was done, against the plan made again from the declaration."""

from __future__ import annotations

from dataclasses import replace

from generator.audit.findings import NOTHING, Report
from generator.named_files import for_receipt
from generator.plan import Ask, Boot, Plan, seed_word
from generator.receipt import AskRecord, BootRecord, Receipt
from generator.run import prompt_evaluated


def check_plan(report: Report, file: str, plan: Plan, receipt: Receipt) -> None:
    """Check that what was booted and sent is what the plan says, boot by boot and ask by ask."""
    _check_named(report, file, plan, receipt)
    if not report.expect(
        file,
        "/boots",
        "asks in the plan's order",
        expected=[[boot.name, [ask.name for ask in boot.asks]] for boot in plan.boots],
        found=[[boot.name, [ask.name for ask in boot.asks]] for boot in receipt.boots],
    ):
        return
    for i, (boot, booted) in enumerate(zip(plan.boots, receipt.boots, strict=True)):
        _check_boot(report, file, f"/boots/{i}", _with_derived(boot, receipt), booted)
        for j, (ask, record) in enumerate(zip(boot.asks, booted.asks, strict=True)):
            _check_ask(report, file, f"/boots/{i}/asks/{j}", ask, record)


def _check_named(report: Report, file: str, plan: Plan, receipt: Receipt) -> None:
    """Check that just those models, engines and chat templates are recorded that were used."""
    templates = {boot.server.chat_template for boot in plan.boots}
    everything: dict[str, set[str]] = {
        "models": {boot.model for boot in plan.boots},
        "engines": {boot.engine for boot in plan.boots},
        "chat_templates": {name for name in templates if name is not None},
    }
    for key, used in everything.items():
        report.expect(
            file,
            f"/{key}",
            "what the plan uses",
            expected=sorted(used),
            found=sorted(getattr(receipt, key)),
        )


def _with_derived(boot: Boot, receipt: Receipt) -> Boot:
    """Return *boot* with the settings that it takes from what earlier boots told."""
    values = {}
    for derived in boot.derived:
        for earlier, ask in receipt.asks():
            if (earlier.name, ask.name) == (derived.boot, derived.ask):
                evaluated = prompt_evaluated(ask)
                if evaluated is not None:
                    values[derived.setting] = max(1, evaluated + derived.offset)
    return replace(boot, server=boot.server.model_copy(update=values))


def _check_boot(report: Report, file: str, at: str, boot: Boot, record: BootRecord) -> None:
    for key, expected in {
        "engine": boot.engine,
        "model": boot.model,
        "settings": for_receipt(boot.server).model_dump(mode="json"),
    }.items():
        report.expect_json(
            file, f"{at}/{key}", "as planned", expected=expected, found=getattr(record, key)
        )


def _check_ask(report: Report, file: str, at: str, ask: Ask, record: AskRecord) -> None:
    word = seed_word(ask.seed)
    for key, expected in {
        "endpoint": ask.endpoint,
        "cache": ask.cache,
        "together": ask.together,
        "seed": "fixed" if isinstance(word, int) else word,
    }.items():
        report.expect(
            file, f"{at}/{key}", "as planned", expected=expected, found=getattr(record, key)
        )
    sent = {**ask.body}
    if isinstance(word, int):
        sent["seed"] = word
    elif word == "drawn":
        sent["seed"] = record.request.get("seed", NOTHING)
    report.expect_json(
        file, f"{at}/request", "request as planned", expected=sent, found=record.request
    )
