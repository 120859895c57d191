"""A measured project to spoil; golden files, written anew with `pytest --regenerate-golden`."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.project import measured_project

GOLDEN = Path(__file__).parent / "golden"

# how long an example takes is the machine's business; pytest has a limit for the whole test
settings.register_profile("receipts", deadline=None)
settings.load_profile("receipts")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one flag that writes all golden files anew."""
    parser.addoption(
        "--regenerate-golden",
        action="store_true",
        help="Write the golden files anew; the diff shows what changed.",
    )


def pytest_configure() -> None:
    """Hear signals though we may have been started in the background, where they are ignored.

    What ignores a signal hands that on to the commands that tests start and interrupt.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with the golden file of a name."""
    regenerate = request.config.getoption("--regenerate-golden")

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if regenerate:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
        assert path.read_bytes().decode() == text, f"{name} changed: pytest --regenerate-golden"

    return check


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the fixture project, measured and rendered once; nobody may write to it."""
    return measured_project(tmp_path_factory.mktemp("measured"))


@pytest.fixture
def project(measured: Path, tmp_path: Path) -> Path:
    """Return a copy of the measured fixture project, to do anything with."""
    return Path(shutil.copytree(measured, tmp_path / "project"))
