"""What of Python's own the embedded engine imports, its process has imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from generator.engines import child
from generator.engines.launching import ISOLATED
from generator.engines.wheel import WheelEngine

pytestmark = pytest.mark.engine

# prints the modules with a file that come with Python and are imported after the engine's process
# has set that no bytecode is read
LATER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("child", sys.argv[1])
spec.loader.exec_module(importlib.util.module_from_spec(spec))
sys.path.insert(0, sys.argv[2])
before = set(sys.modules)
import xllamacpp
later = set(sys.modules) - before
assert "xllamacpp" in later
print(*[m for m in later & sys.stdlib_module_names if getattr(sys.modules[m], "__cached__", None)])
"""


def test_the_engine_compiles_nothing_of_pythons_own(engine: WheelEngine) -> None:
    command = [sys.executable, *ISOLATED, "-c", LATER, child.__file__, str(engine.root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
