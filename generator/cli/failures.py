"""What to say of asks that failed: on one screen, each cause once, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from generator.errors import RunError
from generator.outcome import Kind
from generator.receipt import Failed, Receipt

MOST_CAUSES = 5
MOST_CHARACTERS = 200
AGAIN = "The receipts record each failure; when it is mended, measure again: receipts run."
REMEDIES: Mapping[Kind, str] = {
    "timeout": "Give it longer (--ask-limit SECONDS), or declare fewer tokens or threads.",
    "died": "Look at the cause: for want of memory, declare a smaller n_ctx or a smaller model.",
    "impostor": "End the other program that answers in the engine's place.",
    "http_status": "Look at the body in the receipt: the engine says there what it refused.",
}
OTHERWISE = "The engine broke off or answered wrongly: see the outcomes in the receipts."


def failed_asks(receipts: Iterable[Receipt], asks: int) -> RunError | None:
    """Return the error that tells of all failed asks of a run, or None if there is none.

    Args:
        receipts: What was measured.
        asks: How many asks there were in all.
    """
    causes: dict[tuple[str, str, str], list[str]] = {}
    shapeless = 0
    for receipt in receipts:
        failures = [
            (boot.name, ask.name, ask.outcome)
            for boot, ask in receipt.asks()
            if isinstance(ask.outcome, Failed)
        ]
        shapeless += int(receipt.analysis.get("failed", 0)) - len(failures)
        for boot, ask, outcome in failures:
            cause = (f"{receipt.experiment} · {boot}", outcome.kind, outcome.message)
            causes.setdefault(cause, []).append(ask)
    count = sum(map(len, causes.values())) + shapeless
    if not count:
        return None
    details = [
        f"{where} · ask {', '.join(names)}: {kind}: {message}"
        for (where, kind, message), names in causes.items()
    ]
    if shapeless:
        details.append(f"{shapeless} got a response that is no answer of their endpoint")
    more = len(details) - MOST_CAUSES
    shown = [line[:MOST_CHARACTERS] for line in details[:MOST_CAUSES]]
    first = next((kind for _, kind, _ in causes), "")
    remedy = next((text for kind, text in REMEDIES.items() if kind == first), OTHERWISE)
    return RunError(
        f"{count} of {asks} asks failed.",
        f"{remedy} {AGAIN}",
        [*shown, *([f"… and {more} more causes"] if more > 0 else [])],
    )
