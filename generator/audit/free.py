"""What an audit cannot check offline: each place in a receipt that may be changed unseen, and why.

A test changes every leaf of real receipts and holds this list to it: whatever is changed is caught,
or stands here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_MACHINE = "a fact of the machine that measured, which nothing else in a receipt tells"
_CLOCK = "told by a clock; only its order among the other times can be checked"
_SERVER = "told by the server of itself, and by nothing else"

FREE: Mapping[str, str] = {
    "/host/*": _MACHINE,
    "/generator/*": "the program that measured; a commit can be looked up in the repository",
    "/declaration/sha256": "the declaration as it was, whose wording may have been mended since",
    "/declaration/replaced/*": "pins that a run put in the declared ones' place",
    "/started": _CLOCK,
    "/finished": _CLOCK,
    "/boots/*/lives/*": "when a server was started, how long it took, how busy the machine was",
    "/interrupted/*": "boots that were cut off, which no analysis reads",
    "/boots/*/asks/*/started": _CLOCK,
    "/boots/*/asks/*/outcome/wall_s": _CLOCK,
    "/boots/*/asks/*/outcome/message": "why an ask failed, in words",
    "/boots/*/asks/*/outcome/body": "what was received of a response that failed",
    "/boots/*/asks/*/prompt_unknown": "why a prompt is unknown, in words",
    "/boots/*/effective/system": _SERVER,
    "/boots/*/effective/*": _SERVER,
    "/boots/*/props/*": _SERVER,
    "/models/*/metadata/*": "read from the model's file, which an audit does not have",
    "/engines/*/files/*": "of files other than the pinned one, known by their digests alone",
    "/engines/*/built/*": "how a compiler was called on the machine that measured",
    "/files/*": "files of the author's that a setting names; they are not in the repository",
    "/prompts/*/text": "a chat's messages as the template renders them, which takes the engine",
    "/prompts/*/ids/*": "the tokens that the model's own tokenizer makes of a text",
}
"""Patterns of JSON pointers, in which `*` is any number of steps, and the reason of each."""


def reason(pointer: str) -> str | None:
    """Return why what stands at a JSON pointer is free, or None if it is checked."""
    for pattern, why in FREE.items():
        if re.fullmatch(re.escape(pattern).replace(r"\*", ".+"), pointer):
            return why
    return None
