"""What to say of asks that failed: on one screen, each cause once, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from generator.answers import read_answers
from generator.chat_template import refusal
from generator.chat_template_files import template_file
from generator.errors import RunError
from generator.outcome import Kind
from generator.receipt import Answered, BootRecord, Failed, Receipt
from generator.run import NOT_ASKED
from generator.wire import WireError, parse_object

MOST_CAUSES = 6
MOST_CHARACTERS = 230
AGAIN = "The receipts record each failure; once it is mended, measure again: receipts run."
MEMORY = "Free memory, or declare a smaller n_ctx or a smaller model."
REMEDIES: Mapping[Kind, str] = {
    "timeout": "Give it longer (--ask-limit SECONDS), or declare fewer tokens or threads.",
    "died": "The engine has a fault: try another build of it, or other settings.",
    "impostor": "End the other program that answers in the engine's place.",
    "http_status": "The engine refused: the body in the receipt says what.",
}
OTHERWISE = "The engine broke off or answered wrongly: try another build of it."


@dataclass
class Cause:
    """One cause and the asks that failed by it, or were not asked any more because of it."""

    where: str
    kind: str
    message: str
    asks: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Say it in a line or three."""
        unasked = f" ({', '.join(self.unasked)} not asked any more)" if self.unasked else ""
        asks = f"ask {', '.join(self.asks)}{unasked}"
        return f"{self.where} · {asks}: {self.kind}: {self.message}"[:MOST_CHARACTERS]

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if "memory" in self.message:
            return MEMORY
        return next((text for kind, text in REMEDIES.items() if kind == self.kind), OTHERWISE)


def failed_asks(receipts: Iterable[Receipt], asks: int) -> RunError | None:
    """Return the error that tells of all failed asks of a run, or None if there is none.

    Args:
        receipts: What was measured.
        asks: How many asks there were in all.
    """
    causes = [cause for receipt in receipts for cause in _causes(receipt)]
    if not causes:
        return None
    count = sum(len(cause.asks) + len(cause.unasked) for cause in causes)
    more = len(causes) - MOST_CAUSES
    rest = [f"… and {more} more like these"] if more > 0 else []
    return RunError(
        f"{count} of {asks} asks failed.",
        f"{causes[0].remedy} {AGAIN}",
        [*map(str, causes[:MOST_CAUSES]), *rest],
    )


def _causes(receipt: Receipt) -> Iterator[Cause]:
    """Yield a receipt's causes; an ask that was not asked belongs to the one before it."""
    answered = {(answer.boot, answer.ask) for answer in read_answers(receipt.boots)}
    causes: list[Cause] = []
    for boot, ask in receipt.asks():
        if (boot.name, ask.name) in answered:
            continue
        where = f"{receipt.experiment} · {boot.name}"
        kind, message = _why(boot, ask.outcome)
        if message.startswith(NOT_ASKED) and causes and causes[-1].where == where:
            causes[-1].unasked.append(ask.name)
            continue
        same = [c for c in causes if (c.where, c.kind, c.message) == (where, kind, message)]
        if not same:
            same = [Cause(where, kind, message)]
            causes += same
        same[0].asks.append(ask.name)
    yield from causes


def _why(boot: BootRecord, outcome: Answered | Failed) -> tuple[str, str]:
    match outcome:
        case Failed(kind="http_status"):
            return outcome.kind, ": ".join([outcome.message, *_refused(boot, outcome.body or "")])
        case Failed():
            return outcome.kind, outcome.message
        case Answered():
            return "odd", "the response is no answer of its endpoint"


def _refused(boot: BootRecord, body: str) -> Iterator[str]:
    """Yield what a refusing server says, with the chat template's file and line if it is that."""
    try:
        message = str(parse_object(body.encode())["error"]["message"])
    except (WireError, LookupError, TypeError):
        return
    refused, template = refusal(message), boot.settings["chat_template"]
    if refused is None:
        yield message.partition("\n")[0]
        return
    own = f"the chat template of {boot.model}"
    yield f"{own if template is None else template_file(template)}:{refused.line}:{refused.column}"
    yield refused.message
