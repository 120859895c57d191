"""Run `pip install` of this interpreter with what is the user's of pip's settings, and no more."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from generator.surroundings import ISOLATED, pip_environment

if __name__ == "__main__":
    command = [sys.executable, *ISOLATED, "-m", "pip", "install", *sys.argv[1:]]
    os.execve(sys.executable, command, pip_environment("install"))  # noqa: S606 - no shell
