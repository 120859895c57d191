"""The text of a bug report: what was expected and observed, and what anybody needs to see it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from markupsafe import Markup

from generator.answers import Candidate
from generator.article.html import fenced
from generator.article.page import template_environment
from generator.bugreport.files import Needed, needed, package_page
from generator.bugreport.flips import Asked, Flip
from generator.bugreport.markdown import plain
from generator.bugreport.script import render_script, told
from generator.canonical import pretty, visible
from generator.pin_types import ModelPin
from generator.receipt import BootRecord, EngineRecord, FileRecord, Receipt
from generator.schema import Model
from generator.settings import PATHS

MOST_CHARACTERS = 60_000
"""How long a report may be that holds its script; an issue on GitHub takes 65,536 characters."""


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
    boot, boots = flip.left.boot, [flip.left.boot, flip.right.boot]
    engine, model = receipt.engines[boot.engine], receipt.models[boot.model]
    files = needed(model, pin)
    name = boot.settings.get("chat_template")
    chat_template = receipt.chat_templates[name] if name else None
    others = _named(receipt, boots)
    script = render_script(templates, flip, files, chat_template, others, build=f"b{engine.build}")
    context: dict[str, Any] = {
        "receipt": receipt,
        "receipt_sha256": receipt_sha256,
        "flip": flip,
        "told": told(flip),
        "candidates": _candidates(flip),
        "path": PATHS[flip.left.ask.endpoint],
        "engine": engine,
        "model": model,
        "files": files,
        "chat_template": chat_template,
        "others": others,
        "commands": _commands(boots, files, chat_template),
        "effective": _different([boot.effective for boot in boots]),
        "versions": _versions(receipt, engine),
        "plain": plain,
        "json": json.dumps,
        "block": lambda value, language: fenced(visible(value), language),
        "data": _data,
    }
    template = template_environment(templates).get_template("bug-report/report.md.j2")
    report = template.render(context, script=script)
    # what is shown must be what runs: a script with hidden characters in it can only be attached
    if len(report) > MOST_CHARACTERS or visible(script) != script:
        report = template.render(context, script=None)
    return BugReport(report, script)


def _data(value: Any) -> Markup:
    """Return a value as a block of JSON in which nothing is hidden."""
    plain_value = value.model_dump(mode="json") if isinstance(value, Model) else value
    return fenced(pretty(plain_value).rstrip("\n"), "json")


def _candidates(flip: Flip) -> list[tuple[str, ...]]:
    """Return a row of words for each rank: text, id and logprob on the left, and on the right."""
    sides = [_weighed(side, flip.divergence.token) for side in (flip.left, flip.right)]
    nothing = ("", "", "")
    return [(*left, *right) for left, right in zip_longest(*sides, fillvalue=nothing)]


def _weighed(asked: Asked, index: int) -> list[tuple[str, str, str]]:
    """Return the candidates of an answer at a token, the chosen one first."""
    tokens = asked.answer.tokens
    if index >= len(tokens):
        return [("the answer had ended", "", "")]
    chosen = tokens[index]
    if chosen.logprob is None:
        return [("the beginning of a character", str(chosen.id), "")]
    own = Candidate(chosen.id, chosen.text, chosen.logprob)
    others = [other for other in chosen.top if other.id != chosen.id]
    return [(json.dumps(c.text), str(c.id), f"{c.logprob:.6f}") for c in (own, *others)]


def _named(receipt: Receipt, boots: Sequence[BootRecord]) -> list[FileRecord]:
    """Return the further files that the boots' settings name."""
    settings = {name for boot in boots for name in boot.settings.get("extra", {})}
    return [file for label, file in receipt.files.items() if label.partition(": ")[0] in settings]


def _different(values: Sequence[Any]) -> list[Any]:
    """Return each different value once, in order."""
    return [value for number, value in enumerate(values) if value not in values[:number]]


def _versions(receipt: Receipt, engine: EngineRecord) -> list[str]:
    """Return the lines that a maintainer asks for first."""
    host = receipt.host
    name, _, version = engine.version.partition(" ")
    packaged = engine.type in ("wheel", "source") and version
    return [
        f"engine  llama.cpp b{engine.build}, from {engine.version}",
        *([f"        {package_page(name, version)}"] if packaged else []),
        f"        sha256 {engine.origin_sha256}",
        f"cpu     {host.cpu}, {host.arch}, {host.usable} of {host.threads} threads usable",
        f"        {' '.join(host.isa)}",
        f"system  {host.os}, {host.kernel}, {host.libc}",
    ]


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
