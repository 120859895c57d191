"""Prompts to try: made up from a seed, short ones before long ones, or read from a file."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

from generator.errors import Fault, InputError

# In each round every length once: whether a prompt flips depends on its length and on its text.
LINES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
SUBJECTS = (
    *("the server", "a thread", "the cache", "the compiler", "a reader", "the kernel"),
    *("the scheduler", "a queue", "the model", "the clock", "an engineer", "the network"),
)
VERBS = (
    *("reads", "keeps", "counts", "sends", "checks", "splits", "orders", "measures", "forgets"),
    *("copies", "compares", "repeats"),
)
OBJECTS = (
    *("a block of memory", "the last result", "every request", "a table of numbers"),
    *("the next word", "two equal sums", "a long list", "the log of the day", "a small error"),
    *("the shape of the batch", "a page of text", "the order of the terms"),
)
ENDINGS = (
    *("The most important point is", "In short,", "This shows that", "The next step is to"),
    *("Most people think that", "The reason is"),
)

Draw = Callable[[], float]


def generated(seed: int) -> Iterator[str]:
    """Make prompts without end; a seed gives the same ones in the same order on every machine.

    Args:
        seed: Any whole number.
    """
    for number in count():
        # of all that Random offers, only random() is promised never to change
        draw = random.Random(f"{seed}/{number}").random  # noqa: S311 - this keeps no secret
        yield _prompt(LINES[number % len(LINES)], draw)


def _prompt(lines: int, draw: Draw) -> str:
    numbered = [f"{number}. {_sentence(draw)}" for number in range(1, lines + 1)]
    return "\n".join(numbered) + f"\n\n{_pick(ENDINGS, draw)}"


def _sentence(draw: Draw) -> str:
    first = _clause(draw)
    middle = f" after {int(draw() * 90) + 10} steps" if draw() < 0.3 else ""  # noqa: PLR2004
    return f"{first[0].upper()}{first[1:]}{middle}, and {_clause(draw)}."


def _clause(draw: Draw) -> str:
    return " ".join(_pick(words, draw) for words in (SUBJECTS, VERBS, OBJECTS))


def _pick(words: Sequence[str], draw: Draw) -> str:
    return words[int(draw() * len(words))]


def read_prompts(path: Path) -> list[str]:
    """Read prompts from a file, the shortest first.

    Args:
        path: One prompt a line; or, if its name ends in `.jsonl`, one JSON value a line: a text, or
            an object with the text under `prompt`.

    Raises:
        InputError: With every line that is no prompt, or the file that has none.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Fault(str(path), 1, 1, "$", f"it cannot be read: {error}",
                                "name a UTF-8 text file")]) from error  # fmt: skip
    read = _json if path.suffix == ".jsonl" else str
    prompts: list[str] = []
    faults: list[Fault] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        prompt = read(line)
        if prompt:
            prompts.append(prompt)
        else:
            allowed = 'write a text, such as "Once", or {"prompt": "Once"}'
            faults.append(Fault(str(path), number, 1, "$", "this line is no prompt", allowed))
    if not prompts and not faults:
        faults.append(Fault(str(path), 1, 1, "$", "there is no prompt in it", "write one a line"))
    if faults:
        raise InputError(faults)
    return sorted(dict.fromkeys(prompts), key=len)


def _json(line: str) -> str | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    prompt = value.get("prompt") if isinstance(value, dict) else value
    # half of a surrogate pair is no text that a declaration's file could hold
    told = isinstance(prompt, str) and not re.search("[\ud800-\udfff]", prompt)
    return prompt if told else None
