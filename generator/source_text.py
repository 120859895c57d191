"""The text of an author's file: decoded, and free of what cannot be seen and of conflicts."""

from __future__ import annotations

import re
from pathlib import Path

from yaml.reader import Reader

from generator.errors import Fault, InputError

_MOST_BYTES = 1 << 20
_MOST_NOTED = 20
_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = (b"\xff\xfe", b"\xfe\xff")
_UNSEEN = re.compile(
    "\r(?!\n)|[\t\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    f"|{Reader.NON_PRINTABLE.pattern}"
)
# `=======` underlines a heading in Markdown; the markers beside it cannot be missed
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|>{7})(?= |\r?$)", re.MULTILINE)
_NAMED = {
    "\t": ("a tab", "Write spaces, or \\t within double quotes"),
    "\0": ("a NUL character", "Remove it"),
    "\r": ("a carriage return without a line feed", "End lines with a line feed"),
}


def read_text(path: Path, name: str, *, allowed: str = "") -> tuple[str, list[Fault]]:
    """Read and decode *path*.

    Args:
        path: The file.
        name: The file as it is to be named in faults.
        allowed: Unseen characters that may stand in it.

    Returns:
        The text, every unseen character replaced by a space so that reading can go on, and a
        fault for each of them.

    Raises:
        InputError: The file cannot be read, is not UTF-8, or holds a merge conflict.
    """
    raw = _read_bytes(path, name)
    faults: list[Fault] = []
    if raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
        problem = "the file begins with a byte order mark"
        faults.append(Fault(name, 1, 1, "$", problem, "Save it as UTF-8 without BOM"))
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode()) + 1
        utf16 = raw.startswith(_OTHER_BOMS)
        problem = (
            "the file is UTF-16" if utf16 else f"the byte 0x{raw[error.start]:02x} is not UTF-8"
        )
        fault = Fault(name, line, column, "$", problem, "Save the file as UTF-8")
        raise InputError([*faults, fault]) from error
    conflicts = [_conflict(name, text, match) for match in _CONFLICT.finditer(text)]
    if conflicts:
        raise InputError([*faults, *conflicts])
    unseen = [match for match in _UNSEEN.finditer(text) if match[0] not in allowed]
    faults += [_unseen(name, text, match) for match in unseen[:_MOST_NOTED]]
    return _UNSEEN.sub(lambda match: match[0] if match[0] in allowed else " ", text), faults


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError as error:
        problem, remedy = "no such file", "Write it, or mend its name"
        raise InputError([Fault(name, 1, 1, "$", problem, remedy)]) from error
    except OSError as error:
        problem, remedy = f"it cannot be read: {error.strerror}", "Make it a readable file"
        raise InputError([Fault(name, 1, 1, "$", problem, remedy)]) from error
    if len(raw) > _MOST_BYTES:
        problem = f"the file is larger than {_MOST_BYTES} bytes"
        raise InputError([Fault(name, 1, 1, "$", problem, "Split it into several files")])
    return raw


def _conflict(name: str, text: str, match: re.Match[str]) -> Fault:
    line = text.count("\n", 0, match.start()) + 1
    remedy = "Keep what belongs there, and remove the lines of <<<<<<<, ======= and >>>>>>>"
    return Fault(name, line, 1, "$", f"a merge conflict was left here: {match[0]}", remedy)


def _unseen(name: str, text: str, match: re.Match[str]) -> Fault:
    line = text.count("\n", 0, match.start()) + 1
    column = match.start() - text.rfind("\n", 0, match.start())
    code = ord(match[0])
    escape = f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
    unnamed = (
        f"the unseen character U+{code:04X}",
        f"Remove it, or write {escape} within double quotes",
    )
    return Fault(name, line, column, "$", *_NAMED.get(match[0], unnamed))
