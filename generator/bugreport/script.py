"""The script of a bug report: servers, requests and a comparison, with bash, curl and jq alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from generator.article.request import arguments
from generator.bugreport.files import Needed
from generator.bugreport.flips import Asked, Flip
from generator.canonical import digest
from generator.receipt import AskRecord, FileRecord
from generator.settings import PATHS


@dataclass(frozen=True)
class Sent:
    """One ask of the script: which request, where to, and what its answer's file is called."""

    request: str
    path: str
    answer: str


@dataclass(frozen=True)
class Serve:
    """One server of the script: its arguments as words of bash, its asks in groups sent at once."""

    arguments: Sequence[str]
    groups: Sequence[Sequence[Sent]]


def render_script(
    templates: Sequence[Path],
    flip: Flip,
    files: Sequence[Needed],
    chat_template: FileRecord | None,
    others: Sequence[FileRecord],
    *,
    build: str,
) -> str:
    """Write the script that shows a flip.

    Args:
        templates: Folders searched in order.
        flip: The flip.
        files: The model's files.
        chat_template: The chat template's file, if the model's own was not used.
        others: Further files that settings name.
        build: What llama.cpp calls the build that was measured, such as `b11434`.
    """
    environment = Environment(
        loader=FileSystemLoader([str(folder) for folder in templates], encoding="utf-8"),
        autoescape=False,  # noqa: S701 - this is no HTML, and finalize() quotes for the shell
        finalize=quoted,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    requests = _requests(flip)
    return environment.get_template("bug-report/repro.sh.j2").render(
        files=files,
        chat_template=chat_template,
        others=others,
        how=how,
        requests={name: _verbatim(request) for request, name in requests.values()},
        serves=_serves(flip, {key: name for key, (_, name) in requests.items()}),
        reported=told(flip),
        build=build,
    )


def _verbatim(request: dict[str, object]) -> Markup:
    """Return a request as it was sent: one line of ASCII."""
    return Markup(json.dumps(request, allow_nan=False))  # noqa: S704 - no shell reads it


def told(flip: Flip) -> str:
    """Return what the script prints when it sees the same flip."""
    sides = [flip.divergence.baseline, flip.divergence.chosen]
    before, after = ("null" if side is None else json.dumps(side) for side in sides)
    return f"FLIP at token {flip.divergence.token}: {before} → {after}"


def how(file: Needed) -> str:
    """Say how a file can be had, where the script cannot fetch it."""
    if not file.commands:
        return "Set MODEL to where it is."
    return "Set MODEL to where it is, or get it by: " + " && ".join(file.commands)


def quoted(value: object) -> str:
    """Return a value as one word of the shell, unless it is marked as shell already."""
    return value if isinstance(value, Markup) else shlex.quote(str(value))


def _requests(flip: Flip) -> dict[str, tuple[dict[str, object], str]]:
    """Name each different request that is sent, by its digest, in order."""
    found: dict[str, tuple[dict[str, object], str]] = {}
    for ask in [*_replayed(flip.left), *_replayed(flip.right)]:
        key = digest(ask.request)
        found.setdefault(key, (ask.request, f"request-{len(found) + 1}"))
    return found


def _serves(flip: Flip, names: dict[str, str]) -> list[Serve]:
    """Plan one server if both asks are of one boot, else two."""
    left, right = flip.left, flip.right
    ours, theirs = _answers(left, "left"), _answers(right, "right")
    if left.boot is not right.boot:
        return [_serve(left, ours, names), _serve(right, theirs, names)]
    wanted = ours | theirs | {left.ask.name: "left", right.ask.name: "right"}
    return [_serve(max(left, right, key=lambda one: len(one.before)), wanted, names)]


def _answers(one: Asked, side: str) -> dict[str, str]:
    """Name an ask's answer, and those of its equals in its company: the server tells none apart."""
    equals = [ask for ask in one.company if ask.request == one.ask.request]
    return {one.ask.name: side} | {a.name: f"{side}-{n}" for n, a in enumerate(equals, start=2)}


def _serve(last: Asked, wanted: dict[str, str], names: dict[str, str]) -> Serve:
    """Plan a server that is asked everything up to *last*, in the order and company it was."""
    groups: list[list[tuple[AskRecord, Sent]]] = []
    for number, ask in enumerate(_replayed(last), start=1):
        answer = wanted.get(ask.name, f"other-{number}")
        sent = ask, Sent(names[digest(ask.request)], PATHS[ask.endpoint], answer)
        if ask.together is not None and groups and groups[-1][-1][0].together == ask.together:
            groups[-1].append(sent)
        else:
            groups.append([sent])
    words = [Markup(word) for word in arguments(last.boot)]  # noqa: S704 - of the shell already
    return Serve(words, [[sent for _, sent in group] for group in groups])


def _replayed(one: Asked) -> list[AskRecord]:
    """Return an ask and all that its server was asked before or with it, in order."""
    wanted = {ask.name for ask in (*one.before, one.ask)}
    return [ask for ask in one.boot.asks if ask.name in wanted]
