"""Programs in place of llama-server, compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.engines.compiled import compile_server


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return two compiled programs in place of llama-server, by build; copy, never change them."""
    folder = tmp_path_factory.mktemp("builds")
    return {
        build: compile_server(folder / f"llama-b{build}", build).parent for build in (6543, 6600)
    }
