"""Which files below `receipts/` are published beside the pages."""

from __future__ import annotations

from pathlib import Path

_GLOBS = ("*.yaml", "pins/*.yaml", "prompts/*", "chat-templates/*", "*/*.json", "*/SHA256SUMS")


def published(root: Path) -> list[Path]:
    """Return the files that a build copies as they are, in order; hidden ones never.

    Args:
        root: The project's root.
    """
    found = (path for glob in _GLOBS for path in (root / "receipts").glob(glob))
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))
