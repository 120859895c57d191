"""The text of a bug report: what was expected and observed, and what anybody needs to see it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from generator.answers import Candidate
from generator.article.html import fenced
from generator.article.page import template_environment
from generator.bugreport.files import Needed, needed
from generator.bugreport.flips import Asked, Flip
from generator.bugreport.script import render_script, told
from generator.canonical import pretty, visible
from generator.client import PATHS
from generator.pin_types import ModelPin
from generator.receipt import BootRecord, FileRecord, Receipt
from generator.schema import Model


@dataclass(frozen=True)
class BugReport:
    """A report in Markdown and the script that shows what it reports."""

    report: str
    script: str


def bug_report(
    templates: Sequence[Path],
    receipt: Receipt,
    receipt_sha256: str,
    flip: Flip,
    pin: ModelPin | None,
) -> BugReport:
    """Write the report and the script of a flip; pure but for reading the templates.

    Nothing of the machine is in them but what the receipt's own machine was: no path, no name.

    Args:
        templates: Folders searched in order.
        receipt: The receipt.
        receipt_sha256: The digest of its file.
        flip: The flip.
        pin: The model's pin, which tells where it can be had, if there is one.
    """
    left, right = flip.left, flip.right
    boot = left.boot
    files = needed(receipt.models[boot.model], pin)
    name = boot.settings.get("chat_template")
    chat_template = receipt.chat_templates[name] if name else None
    others = _named(receipt, left.boot, right.boot)
    template = template_environment(templates).get_template("bug-report/report.md.j2")
    report = template.render(
        receipt=receipt,
        receipt_sha256=receipt_sha256,
        token=flip.divergence.token,
        told=told(flip),
        sides=[_side(left, flip), _side(right, flip)],
        path=PATHS[left.ask.endpoint],
        equal=left.ask.request == right.ask.request,
        one_boot=left.boot is right.boot,
        differing=_differing(left.boot, right.boot),
        engine=receipt.engines[boot.engine],
        model=receipt.models[boot.model],
        files=files,
        chat_template=chat_template,
        others=others,
        commands=_commands([left.boot, right.boot], files, chat_template),
        text=lambda value: fenced(visible(value), "text"),
        command=lambda value: fenced(visible(value), "sh"),
        data=_data,
    )
    return BugReport(report, render_script(templates, flip, files, chat_template, others))


def _data(value: Any) -> Markup:
    """Return a value as a block of JSON in which nothing is hidden."""
    plain = value.model_dump(mode="json") if isinstance(value, Model) else value
    return fenced(pretty(plain).rstrip("\n"), "json")


@dataclass(frozen=True)
class Side:
    """One of the two answers, and its candidates where they part, the chosen one first."""

    asked: Asked
    candidates: Sequence[dict[str, Any]]


def _side(asked: Asked, flip: Flip) -> Side:
    tokens, index = asked.answer.tokens, flip.divergence.token
    if index >= len(tokens):  # the answer ended here
        return Side(asked, [])
    chosen = tokens[index]
    if chosen.logprob is None:  # the server told nothing of it
        return Side(asked, [])
    own = Candidate(chosen.id, chosen.text, chosen.logprob)
    others = [other for other in chosen.top if other.id != chosen.id]
    return Side(
        asked, [{"id": c.id, "token": c.text, "logprob": c.logprob} for c in (own, *others)]
    )


def _named(receipt: Receipt, *boots: BootRecord) -> list[FileRecord]:
    """Return the further files that the boots' settings name."""
    settings = {name for boot in boots for name in boot.settings.get("extra", {})}
    return [file for label, file in receipt.files.items() if label.partition(": ")[0] in settings]


def _differing(left: BootRecord, right: BootRecord) -> dict[str, list[Any]]:
    """Return the server settings that differ between two boots, by name."""
    ours, theirs = left.settings, right.settings
    return {
        name: [ours.get(name), theirs.get(name)]
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    }


def _commands(
    boots: Sequence[BootRecord], files: Sequence[Needed], chat_template: FileRecord | None
) -> list[str]:
    """Return the different command lines of servers, with the names of their files."""
    names = {"--model": files[0].name}
    if chat_template is not None:
        names["--chat-template-file"] = chat_template.name
    lines = []
    for boot in boots:
        before = ["", *boot.command_line]
        line = [names.get(b, a) for b, a in zip(before, boot.command_line, strict=False)]
        lines.append(shlex.join(line))
    return list(dict.fromkeys(lines))
