"""A model that is not what it should be: it is refused before an engine sees it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.conftest import Fault
from tests.faults.stage import Stage

NOT_HAD = 4

SPOIL: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda whole: whole[: len(whole) // 2],
    "bit_flipped": lambda whole: whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
    "no_gguf": lambda _: b"<!DOCTYPE html><title>429 Too Many Requests</title>",
}


@pytest.mark.parametrize("how", SPOIL)
def test_a_model_that_changed_after_it_was_pinned(stage: Stage, fault: Fault, how: str) -> None:
    model = stage.root / "tiny.gguf"
    model.write_bytes(SPOIL[how](model.read_bytes()))
    end = stage.run("run")
    assert end.code == NOT_HAD
    fault(f"model_{how}", end)
    assert stage.events("start") == []


@pytest.mark.parametrize("how", ["truncated", "no_gguf"])
def test_a_model_that_was_pinned_so(stage: Stage, fault: Fault, how: str) -> None:
    model = stage.root / "tiny.gguf"
    model.write_bytes(SPOIL[how](model.read_bytes()))
    stage.pin_file()
    end = stage.run("run")
    assert end.code == NOT_HAD
    fault(f"model_pinned_{how}", end)
    assert stage.events("start") == []
