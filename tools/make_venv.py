"""Make the virtual environment, or say what a bare machine lacks for it."""

import sys
import venv
from pathlib import Path

MINIMUM = (3, 11)


def main(target: Path) -> int:
    """Create a virtual environment with pip at *target*; return the exit code."""
    if sys.version_info < MINIMUM:
        found = ".".join(map(str, sys.version_info[:3]))
        print(
            f"Python {found} is too old: 3.11 or newer is needed.\nRemedy: make PYTHON=python3.11"
        )
        return 1
    try:
        import ensurepip  # noqa: F401, PLC0415 - Debian ships venv without it
    except ImportError:
        print(
            "This Python cannot make a virtual environment: its ensurepip module is missing.\n"
            "Remedy (Debian, Ubuntu): apt-get install python3-venv"
        )
        return 1
    venv.create(target, with_pip=True, clear=not (target / "bin" / "pip").exists())
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
