"""The request that was sent and the server that was asked, as commands to paste into a shell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from generator.canonical import pretty
from generator.receipt import BootRecord, EngineRecord, FileRecord, ModelRecord
from generator.settings import PATHS, Endpoint

ADDRESS = "http://127.0.0.1:8080"
# in bytes; Linux takes no word of more than 128 KiB
LONGEST_WORD = 100_000
_WIDTH = 88
# where files lie is the reader's affair: they stand in variables of the shell
_FILES = {"--model": '"$MODEL"', "--chat-template-file": '"$TEMPLATE"'}


def arguments(boot: BootRecord) -> list[str]:
    """Return a boot's arguments for llama-server as words of bash, its files in variables."""
    given = boot.command_line[1:]
    return [
        _FILES.get(before) or shlex.quote(argument)
        for before, argument in zip(["", *given], given, strict=False)
    ]


def server_command(
    boot: BootRecord,
    model: ModelRecord,
    engine: EngineRecord,
    templates: Mapping[str, FileRecord],
) -> str:
    """Return the lines that start the server of a boot, by hand.

    The digests of the files stand beside their variables.

    Args:
        boot: The boot.
        model: The model's record.
        engine: The engine's record.
        templates: The records of the chat templates by name.
    """
    lines = [f"# llama-server b{engine.build}", f"# MODEL: sha256 {model.sha256}"]
    lines.append(f"MODEL={shlex.quote(model.file)}")
    name = boot.settings["chat_template"]
    if name is not None:
        lines.append(f"# TEMPLATE: sha256 {templates[name].sha256}")
        lines.append(f"TEMPLATE={shlex.quote(templates[name].name)}")
    words = ["llama-server", *arguments(boot), "--host", "127.0.0.1", "--port", "8080"]
    return "\n".join([*lines, _wrapped(words)])


def curl(endpoint: Endpoint, request: Mapping[str, Any]) -> str:
    """Return the curl command that sends *request*, whole, to that server."""
    # written by pretty(), which lets no invisible character into the command
    pairs = [f"  {json.dumps(key)}: {_on_one_line(request[key])}" for key in sorted(request)]
    body = "{\n" + ",\n".join(pairs) + "\n}"
    command = f"curl -s {ADDRESS}{PATHS[endpoint]} \\\n  -H 'Content-Type: application/json' \\\n  "
    if len(body.encode()) > LONGEST_WORD:
        return f"{command}--data-binary @- <<'REQUEST'\n{body}\nREQUEST"
    return f"{command}-d {shlex.quote(body)}"


def _wrapped(words: list[str]) -> str:
    """Return a command over several lines, each flag with its value on one of them."""
    lines = [words[0]]
    for index, word in enumerate(words[1:], start=1):
        starts_pair = word.startswith("--")
        following = words[index + 1] if starts_pair and index + 1 < len(words) else ""
        needed = len(word) + (0 if following.startswith("--") else len(following) + 1)
        if starts_pair and len(lines[-1]) + 1 + needed > _WIDTH:
            lines.append(f"  {word}")
        else:
            lines[-1] += f" {word}"
    return " \\\n".join(lines)


def _on_one_line(value: Any) -> str:
    """Return JSON on one line; a line break within a text is written as two characters there."""
    parts = [part.strip() for part in pretty(value).splitlines()]
    text = parts[0]
    for part in parts[1:]:
        tight = text[-1] in "[{" or part[0] in "]}"
        text += part if tight else f" {part}"
    return text
