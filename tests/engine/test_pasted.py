"""A reader who pastes the page's server and request into a shell gets the receipt's tokens."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from generator.cli import invoke
from generator.engines.ready import free_port

ROOT = Path(__file__).resolve().parents[2]
DECLARATION = """
title: {zh: 粘贴, en: Pasted}
summary: {zh: 贴上就能重放, en: What a reader pastes}
author: {name: tests, prose: machine}
defaults:
  model: smollm2-135m-instruct-q4_1
  engine: llama-server-b11434
  server: {threads: 1, threads_batch: 1, n_ctx: 512, cache_prompt: false}
  sampling: {temperature: 0.7, seed: drawn, max_tokens: 12}
experiments:
  chat:
    kind: repeat
    title: {zh: 聊天, en: Chat}
    endpoint: chat
    prompt: "Say 'hello' to $USER,\\nplease: 你好"
    runs: 2
  whole:
    kind: repeat
    title: {zh: 补全, en: Completion}
    endpoint: completion
    prompt: {file: prompts/bread.txt}
    runs: 2
    server: {cache_prompt: true}
  thought:
    kind: thinking
    title: {zh: 思考, en: Thinking}
    prompt: "Why is the sky blue?"
    runs: 2
    endpoint: chat
    server: {chat_template: smollm2-think, reasoning_format: deepseek}
claims: {}
"""
NAMES = ("chat", "whole", "thought")

pytestmark = pytest.mark.engine


def blocks(page: str) -> list[str]:
    """Return the page's commands as a reader copies them."""
    return re.findall(r"^```+bash\n(.*?)\n```+$", page, flags=re.DOTALL | re.MULTILINE)


def pasted(server: str, request: str, program: Path, model: Path) -> dict[str, Any]:
    """Run both commands in bash; the files' paths and the port are this machine's."""
    port = str(free_port())
    here = re.sub(r"^MODEL=.*$", f"MODEL={model}", server, flags=re.MULTILINE)
    template = f"TEMPLATE={ROOT}/receipts/chat-templates/"
    here = re.sub(r"^TEMPLATE=", template, here, flags=re.MULTILINE)
    here = here.replace("--port 8080", f"--port {port}")
    start = f'llama-server() {{ exec "{program}" "$@"; }}\n{here}\n'
    process = subprocess.Popen(
        ["bash", "-c", start], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        ready(f"http://127.0.0.1:{port}/health")
        command = request.replace(":8080/", f":{port}/")
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=120)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def ready(address: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if httpx.get(address, trust_env=False).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    pytest.fail("the pasted server was not ready within a minute")


def what_was_written(endpoint: str, response: dict[str, Any]) -> Any:
    if endpoint == "completion":
        return response["content"], response["tokens"], response["completion_probabilities"]
    choice = response["choices"][0]
    return choice["message"], choice.get("logprobs")


def test_the_pasted_commands_give_the_recorded_tokens(
    tmp_path: Path, server_program: Path, model: Path
) -> None:
    for folder in ("pins", "prompts", "chat-templates"):
        shutil.copytree(ROOT / "receipts" / folder, tmp_path / "receipts" / folder)
    (tmp_path / "receipts/pasted.yaml").write_text(DECLARATION, encoding="utf-8")
    templates = tmp_path / "templates/articles/pasted"
    templates.mkdir(parents=True)
    for lang in ("zh", "en"):
        text = "".join(f'{{{{ request("{name}") }}}}\n\n' for name in NAMES)
        (templates / f"{lang}.md.j2").write_text(text)
    root = ["--root", str(tmp_path)]
    assert invoke([*root, "run"]) == 0
    assert invoke([*root, "render"]) == 0
    zh, page = (
        (tmp_path / f"site/{lang}/articles/pasted.md").read_text(encoding="utf-8")
        for lang in ("zh", "en")
    )
    assert blocks(zh) == blocks(page)
    copied = blocks(page)
    for name, server, request in zip(NAMES, copied[::2], copied[1::2], strict=True):
        receipt = json.loads((tmp_path / f"receipts/pasted/{name}.json").read_text("utf-8"))
        ask = receipt["boots"][0]["asks"][0]
        assert f'"cache_prompt": {str(name == "whole").lower()}' in request
        recorded = what_was_written(ask["endpoint"], ask["outcome"]["response"])
        answer = pasted(server, request, server_program, model)
        assert what_was_written(ask["endpoint"], answer) == recorded
