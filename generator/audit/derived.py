"""Checks of what follows from a receipt's other parts: command lines, bodies, times, invariants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise

from pydantic import ValidationError

from generator.audit.findings import Report
from generator.audit.invariants import statements
from generator.audit.reply import Reply
from generator.engines.effective import compare
from generator.engines.table import command_line
from generator.receipt import Answered, AskRecord, BootRecord, Receipt
from generator.settings import ServerSettings
from generator.wire import WireError, body_of, parse_object


def check_derived(report: Report, file: str, receipt: Receipt) -> None:
    """Check every boot and ask, those too that were interrupted."""
    report.expect(
        file,
        "/declaration/file",
        "the article's declaration",
        expected=f"receipts/{receipt.article}.yaml",
        found=receipt.declaration.file,
    )
    for key, boots in {"boots": receipt.boots, "interrupted": receipt.interrupted}.items():
        for i, boot in enumerate(boots):
            at = f"/{key}/{i}"
            _check_boot(report, file, at, boot)
            for j, ask in enumerate(boot.asks):
                if isinstance(ask.outcome, Answered):
                    _check_body(report, file, f"{at}/asks/{j}/outcome", ask.outcome)
                    _check_invariants(report, file, f"{at}/asks/{j}/outcome", boot, ask)
    _check_times(report, file, receipt)


def _check_boot(report: Report, file: str, at: str, boot: BootRecord) -> None:
    try:
        settings = ServerSettings.model_validate(boot.settings)
    except ValidationError as error:
        for fault in error.errors():
            pointer = "/".join(str(part) for part in fault["loc"])
            where = f"{at}/settings/{pointer}"
            report.expect(file, where, "a setting", expected=fault["msg"], found=fault["input"])
        return
    report.expect_json(
        file,
        f"{at}/command_line",
        "follows from the settings",
        expected=command_line(settings, boot.model),
        found=boot.command_line,
    )
    report.expect_json(
        file,
        f"{at}/mismatches",
        "follows from declared and effective settings",
        expected=[
            {"name": m.name, "declared": m.declared, "effective": m.effective}
            for m in compare(settings, boot.effective)
        ],
        found=[m.model_dump(mode="json") for m in boot.mismatches],
    )
    divisible = all(ask.cache == "cold" and ask.together is None for ask in boot.asks)
    report.expect(
        file,
        f"{at}/lives",
        "one life, or several where a boot may go on in another process",
        expected=True,
        found=len(boot.lives) == 1 or (divisible and len(boot.lives) > 1),
    )


def _check_body(report: Report, file: str, at: str, outcome: Answered) -> None:
    """Write the body again and check its length and digest, and that it was an answer's."""
    body = body_of(outcome.response, outcome.raw)
    if outcome.raw is not None:
        try:
            read: object = parse_object(body)
        except WireError:
            read = outcome.response if "events" in outcome.response else "no JSON"
        report.expect_json(
            file, f"{at}/response", "read from the body", expected=read, found=outcome.response
        )
    for key, check, expected, found in (
        ("http_status", "of an answer", 200, outcome.http_status),
        ("raw_bytes", "length of the body, written again", len(body), outcome.raw_bytes),
        (
            "raw_sha256",
            "digest of the body, written again",
            hashlib.sha256(body).hexdigest(),
            outcome.raw_sha256,
        ),
    ):
        report.expect(file, f"{at}/{key}", check, expected=expected, found=found)


def _check_invariants(report: Report, file: str, at: str, boot: BootRecord, ask: AskRecord) -> None:
    if not isinstance(ask.outcome, Answered):
        return
    try:
        for rule, one in statements(Reply(boot, ask, ask.outcome)):
            report.expect(file, f"{at}{one.pointer}", rule, expected=one.expected, found=one.found)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # a response that was tampered with may have any shape
        found = f"{type(error).__name__}: {error}"
        report.expect(file, at, "reads as an answer", expected="an answer", found=found)


def _check_times(report: Report, file: str, receipt: Receipt) -> None:
    """Check that what is dated later did not happen earlier."""
    dated = [("/started", receipt.started), *_dates(receipt), ("/finished", receipt.finished)]
    for (_, before), (pointer, after) in pairwise(dated):
        report.expect(
            file,
            pointer,
            f"not before {before}, when what came before it happened",
            expected=True,
            found=after >= before or after,
        )


def _dates(receipt: Receipt) -> Iterator[tuple[str, str]]:
    """Yield what is dated, in the order of the plan; asks that were sent at once have none."""
    for i, boot in enumerate(receipt.boots):
        if boot.lives:
            yield f"/boots/{i}/lives/0/started", boot.lives[0].started
        for j, ask in enumerate(boot.asks):
            if ask.together is None:
                yield f"/boots/{i}/asks/{j}/started", ask.started
