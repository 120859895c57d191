"""What an unquoted YAML word means here, and which words are refused as traps."""

from __future__ import annotations

import math
import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_FALSE_FRIENDS = re.compile(r"(?i)(yes|no|on|off|y|n|true|false)")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)?(?P<dot>\.[0-9]*)?([eE][-+]?[0-9]+)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_OTHER_BASE = re.compile(r"(?i)[-+]?0(o[0-7]+|x[0-9a-f]+|b[01]+)")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?")
_INFINITE = re.compile(r"(?i)[-+]?\.(inf|nan)")
_HASH_LIKE = re.compile(r"(?P<mantissa>[0-9]+)[eE](?P<exponent>[0-9]+)")
_STARTS_NUMBER = re.compile(r"[-+]?[0-9.]")
_MOST_DIGITS = 15
_MOST_HASH_MANTISSA = 3
_MOST_HASH_EXPONENT = 30


class TrapError(ValueError):
    """A word that YAML readers take for different things.

    Args:
        problem: What it could be taken for.
        remedy: How to write what is meant.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


def read_plain(word: str) -> Scalar:
    """Give the value of an unquoted *word*.

    Raises:
        TrapError: The word is not the same thing to every reader of YAML.
    """
    if word in _WORDS:
        return _WORDS[word]
    _refuse_false_friends(word)
    _refuse_odd_numbers(word)
    if _INTEGER.fullmatch(word):
        return int(word)
    if _is_float(word):
        return _read_float(word)
    return word


def _is_float(word: str) -> bool:
    match = _FLOAT.fullmatch(word)
    return match is not None and any(sign.isdigit() for sign in word.lower().partition("e")[0])


def _refuse_false_friends(word: str) -> None:
    if _FALSE_FRIENDS.fullmatch(word):
        raise TrapError(
            f"the bare word `{word}` is a boolean to some readers of YAML and a text to others",
            "write true or false, or quote it",
        )
    if word.lower() == "null":
        raise TrapError(
            f"the bare word `{word}` is nothing to some readers of YAML and a text to others",
            "write null, or quote it",
        )


def _refuse_odd_numbers(word: str) -> None:
    if _OTHER_BASE.fullmatch(word):
        raise TrapError(f"`{word}` is not a decimal number", "write it in decimal, or quote it")
    if _LEADING_ZERO.fullmatch(word):
        raise TrapError(
            f"`{word}` begins with 0: an octal number to some, a decimal to others",
            "quote it, or write it in decimal without the leading 0",
        )
    if _SEXAGESIMAL.fullmatch(word):
        raise TrapError(f"`{word}` is a number to the base 60 to some readers of YAML", "quote it")
    if _INFINITE.fullmatch(word):
        raise TrapError(f"`{word}` is not a finite number", "quote it, or write a decimal number")
    bare = word.replace("_", "")
    if bare != word and _STARTS_NUMBER.match(word) and _looks_numeric(bare):
        raise TrapError(
            f"`{word}` is a number with underscores to some readers of YAML",
            "quote it, or write the number without underscores",
        )
    _refuse_disguised_hash(word)


def _looks_numeric(word: str) -> bool:
    patterns = (_INTEGER, _OTHER_BASE, _LEADING_ZERO, _SEXAGESIMAL)
    return _is_float(word) or any(pattern.fullmatch(word) for pattern in patterns)


def _refuse_disguised_hash(word: str) -> None:
    if word.isdecimal() and len(word) > _MOST_DIGITS:
        raise TrapError(
            f"`{word[:20]}…` has {len(word)} digits, more than a number keeps exactly",
            "quote it: looks like a hash",
        )
    match = _HASH_LIKE.fullmatch(word)
    if match and (
        len(match["mantissa"]) > _MOST_HASH_MANTISSA
        or match["mantissa"] == "0"
        or len(match["exponent"]) > len(str(_MOST_HASH_EXPONENT))
        or int(match["exponent"]) > _MOST_HASH_EXPONENT
    ):
        raise TrapError(
            f"`{word[:20]}` could be a number or a hash",
            "quote it: looks like a hash (or write the number with a decimal point)",
        )


def _read_float(word: str) -> float:
    value = float(word)
    mantissa = word.lower().partition("e")[0]
    if math.isinf(value) or (value == 0 and any(sign in "123456789" for sign in mantissa)):
        raise TrapError(
            f"`{word[:20]}` is too large or too small for a number", "write a number in range"
        )
    return value
