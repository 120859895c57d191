"""Commands to paste: whole, quoted for bash, and with nothing hidden in them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generator.article.request import curl, server_command
from generator.engines.table import command_line
from generator.receipt import BootRecord
from generator.settings import Endpoint, ServerSettings
from tests.factory import make_boot, make_receipt

HOSTILE = [
    "it's 你好\nand more",
    "$(touch /tmp/x) `id` ${HOME} !! \\ \" '",
    "'; exit 1 #",
    "a\\nb\ttab\r\n",
    "{[ spaces \n between ]}",
    "\u202e\u2028\x00\x07",
    "“quotes” 👩\u200d👩\u200d👧",
    "-d @/etc/passwd",
    "x" * 20_000,
    "REQUEST\n你好 '$x' \\ `y`\n" * 5_000,
]
CURL = """#!/bin/bash
printf '%s\\0' "$@"
if [ "${*: -1}" = @- ]; then cat; else printf '%s\\n' "${*: -1}"; fi
"""


def printed(command: str, folder: Path) -> list[str]:
    """Return the arguments that bash gives curl, and what it is to send; it only prints them."""
    (folder / "curl").write_text(CURL)
    (folder / "curl").chmod(0o755)
    script = f'PATH="{folder}:$PATH"\n{command}\n'
    done = subprocess.run(
        ["bash", "-eu"], input=script.encode("utf-8"), capture_output=True, check=True
    )
    return done.stdout.decode("utf-8").split("\0")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("endpoint", ["completion", "chat"])
def test_bash_sends_just_the_request(text: str, endpoint: Endpoint, tmp_path: Path) -> None:
    request: dict[str, Any] = {
        "cache_prompt": False,
        "prompt": text,
        "messages": [{"role": "user", "content": text}],
        "seed": 4294967294,
        "temperature": 0.7,
        "stop": [text],
        "logit_bias": {"1": False},
        "empty": [],
    }
    *words, body = printed(curl(endpoint, request), tmp_path)
    assert json.loads(body) == request
    assert words[1].endswith("/completion" if endpoint == "completion" else "/v1/chat/completions")


def test_what_cannot_be_seen_is_escaped() -> None:
    body = shlex.split(curl("chat", {"p": "\u202e\ud800\u2028"}))[-1]
    assert body == '{\n  "p": "\\u202e\\ud800\\u2028"\n}'


def boot_with(settings: ServerSettings) -> BootRecord:
    boot = make_boot(settings=settings)
    return boot.model_copy(update={"command_line": command_line(settings, boot.model)})


@pytest.mark.parametrize("template", [None, "it's a template"])
def test_the_server_is_started_with_every_setting_and_files_in_variables(
    template: str | None,
) -> None:
    settings = ServerSettings(chat_template=template, extra={"rope-scale": 2})
    boot, receipt = boot_with(settings), make_receipt("repeat", [])
    file = receipt.engines[boot.engine].files[0]
    command = server_command(
        boot, receipt.models[boot.model], receipt.engines[boot.engine], {str(template): file}
    )
    script = 'llama-server() { printf "%s\\0" "$@"; }\n' + command
    done = subprocess.run(["bash", "-eu", "-c", script], capture_output=True, check=True)
    words = done.stdout.decode().split("\0")[:-1]
    model, wanted = receipt.models[boot.model].file, list(boot.command_line[1:])
    wanted[wanted.index("--model") + 1] = model
    if template is not None:
        wanted[wanted.index("--chat-template-file") + 1] = file.name
    assert words == [*wanted, "--host", "127.0.0.1", "--port", "8080"]
    assert receipt.models[boot.model].sha256 in command


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    boot, receipt = boot_with(ServerSettings()), make_receipt("repeat", [])
    server = server_command(boot, receipt.models[boot.model], receipt.engines[boot.engine], {})
    for name, command in {"server": server, "curl": curl("chat", {"p": "it's"})}.items():
        path = tmp_path / f"{name}.sh"
        path.write_text(f"#!/bin/bash\n{command}\n", encoding="utf-8")
        shellcheck = Path(sys.executable).with_name("shellcheck")
        done = subprocess.run([shellcheck, path], capture_output=True, text=True, check=False)
        assert done.stdout == ""
        assert done.returncode == 0


def test_lines_are_short_enough_to_be_read() -> None:
    boot, receipt = boot_with(ServerSettings()), make_receipt("repeat", [])
    server = server_command(boot, receipt.models[boot.model], receipt.engines[boot.engine], {})
    assert max(map(len, server.splitlines())) < 100
