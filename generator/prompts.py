"""What the model was given: a request's prompt as the server renders and tokenizes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from generator.chat_template import impure
from generator.client import Client
from generator.outcome import Failed
from generator.plan import Ask
from generator.receipt import PromptRecord

LIMIT_S = 60.0


class PromptReader:
    """Asks one server what it makes of requests, once for each distinct text.

    A completion's prompt is tokenized as it stands. A chat's messages go through a template, which
    may read a clock: they are rendered before the ask and after it, and only a text that is the
    same both times is the one that the model was given.

    Args:
        client: The server's client.
        chat_template: The template that the server uses, as its `/props` tell; None if unknown.
    """

    def __init__(self, client: Client, chat_template: str | None) -> None:
        self._client = client
        self._calls = impure(chat_template or "")
        self._read: dict[str, PromptRecord] = {}

    def text(self, ask: Ask, request: Mapping[str, Any]) -> str | Failed:
        """Return the prompt's text as it is at this moment, or why it cannot be had."""
        if ask.endpoint == "completion":
            return str(request["prompt"])
        outcome = self._client.post("/apply-template", request, LIMIT_S)
        if isinstance(outcome, Failed):
            return outcome
        return str(outcome.response.get("prompt", ""))

    def given(
        self, ask: Ask, request: Mapping[str, Any], before: str | Failed
    ) -> PromptRecord | str:
        """Return the prompt that an answered ask was given, or why it is unknown.

        Args:
            ask: The ask.
            request: What was sent.
            before: The prompt's text before it was sent, as `text` returned it.
        """
        drawn = [call.name for call in self._calls if call.kind == "random"]
        if ask.endpoint == "chat" and drawn:
            return f"the chat template draws at random: {', '.join(drawn)}"
        after = self.text(ask, request)
        for text in (before, after):
            if isinstance(text, Failed):
                return f"the server did not render the messages: {text.message}"
        if before != after:
            clock = [call.name for call in self._calls if call.kind == "clock"]
            cause = f"the chat template reads the clock: {', '.join(clock)}; " if clock else ""
            return f"{cause}the messages were rendered otherwise before the ask than after it"
        return self._tokenized(str(after))

    def _tokenized(self, text: str) -> PromptRecord | str:
        if text not in self._read:
            body = {"content": text, "add_special": True, "parse_special": True}
            outcome = self._client.post("/tokenize", body, LIMIT_S)
            if isinstance(outcome, Failed):
                return f"the server did not tokenize the prompt: {outcome.message}"
            try:
                ids = [int(token) for token in outcome.response["tokens"]]
            except (LookupError, TypeError, ValueError):
                return "the server did not tokenize the prompt: its response has no tokens"
            self._read[text] = PromptRecord(text=text, ids=ids)
        return self._read[text]
