"""Checks of the prompts that models were given, and of what responses report of themselves."""

from __future__ import annotations

from generator.audit.findings import NOTHING, Report
from generator.receipt import Answered, AskRecord, BootRecord, Receipt
from generator.reported import mismatches


def check_prompts(report: Report, file: str, receipt: Receipt) -> None:
    """Check each prompt's digest, each ask's reference to one, and its mismatches, derived anew."""
    used: set[str] = set()
    for key, boots in {"boots": receipt.boots, "interrupted": receipt.interrupted}.items():
        for i, boot in enumerate(boots):
            for j, ask in enumerate(boot.asks):
                at = f"/{key}/{i}/asks/{j}"
                if ask.prompt is not None:
                    used.add(ask.prompt)
                _check_ask(report, file, at, receipt, boot=boot, ask=ask)
    report.expect(
        file,
        "/prompts",
        "what asks were given",
        expected=sorted(used),
        found=sorted(receipt.prompts),
    )
    for sha256, prompt in receipt.prompts.items():
        at = f"/prompts/{sha256}"
        report.expect(file, at, "has its digest", expected=sha256, found=prompt.sha256)


def _check_ask(
    report: Report, file: str, at: str, receipt: Receipt, *, boot: BootRecord, ask: AskRecord
) -> None:
    known = ask.prompt is not None
    report.expect(
        file,
        f"{at}/prompt_unknown",
        "says why a prompt is unknown, and only then",
        expected=not known,
        found=ask.prompt_unknown is not None,
    )
    prompt = receipt.prompts.get(ask.prompt) if ask.prompt is not None else None
    if known:
        found = NOTHING if prompt is None else ask.prompt
        report.expect(file, f"{at}/prompt", "is recorded", expected=ask.prompt, found=found)
    asked = ask.request.get("prompt")
    if prompt is not None and ask.endpoint == "completion" and isinstance(ask.outcome, Answered):
        at_text = f"/prompts/{ask.prompt}/text"
        report.expect(file, at_text, "the prompt as sent", expected=asked, found=prompt.text)
    try:
        fresh: object = [m.model_dump(mode="json") for m in mismatches(boot, ask, prompt)]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        fresh = f"cannot be derived: {type(error).__name__}"
    report.expect_json(
        file,
        f"{at}/mismatches",
        "derived again from request and response",
        expected=fresh,
        found=[m.model_dump(mode="json") for m in ask.mismatches],
    )
