"""What `receipts run` warns of: busy machines, settings and answers that are not as declared."""

from __future__ import annotations

from collections.abc import Sequence

from generator.chat_template import impure
from generator.chat_template_files import warning
from generator.cli.console import note
from generator.clock import set_back
from generator.host import Host, load
from generator.limits import crowding, overload, usable_cpus
from generator.plan import Plan
from generator.receipt import Receipt
from generator.reported import odd_asks


def warn_before(plans: Sequence[Plan], host: Host) -> bool:
    """Warn of more threads than CPUs, and of a machine too busy to time anything.

    Returns:
        Whether the machine is too busy.
    """
    for plan in plans:
        for line in crowding(plan, host):
            note(f"warning: {line}")
    busy = overload(load()[:1], host, threads=0)  # none of ours run yet
    if busy is None:
        return False
    note(
        f"warning: the load is {busy:.1f} on {usable_cpus(host):g} usable CPUs, too much to time "
        "anything: answers do not depend on it, speeds do"
    )
    return True


def warn_after(receipts: Sequence[Receipt]) -> None:
    """Warn of experiments during which the machine was too busy to time anything."""
    loads = [receipt.overload for receipt in receipts if receipt.overload is not None]
    if loads:
        note(
            f"warning: the load reached {max(loads):.1f} while {len(loads)} of {len(receipts)} "
            "experiments were measured: compare no speeds of theirs"
        )


def warn_of(receipt: Receipt) -> None:
    """Warn of whatever in a receipt is not as it was declared or asked."""
    own = {
        str(boot.props.get("chat_template", "")): boot.model
        for boot in receipt.boots
        if boot.settings["chat_template"] is None
        and any(ask.endpoint == "chat" for ask in boot.asks)
    }
    for template, model in own.items():
        for call in impure(template):
            note(f"warning: {warning(f'the chat template of {model}', call)}")
    for asks, odd in odd_asks(receipt):
        note(
            f"warning: {receipt.experiment}, {asks}: {odd.name} was asked as {odd.declared!r} and "
            f"is reported as {odd.effective!r}; these answers do not count"
        )
    for boot in receipt.boots:
        for odd in boot.mismatches:
            note(
                f"warning: {receipt.experiment}, boot {boot.name}: {odd.name} was declared "
                f"{odd.declared!r} and is {odd.effective!r}"
            )
    back = set_back(receipt)
    if back is not None:
        note(
            f"warning: {receipt.experiment}: the clock was set back by {back.seconds:.0f} s before "
            f"{back.where}: the receipt's dates are wrong, its durations are not; set the clock "
            "and measure again"
        )
