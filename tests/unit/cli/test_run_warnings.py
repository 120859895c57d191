"""What is warned of about a busy machine: before a run, and after what was measured on it."""

from __future__ import annotations

import pytest

from generator.cli import run_warnings
from generator.cli.run_warnings import warn_after, warn_before
from generator.receipt import Receipt
from tests.factory import completion_response, make_ask, make_boot, make_host, make_life
from tests.factory import make_receipt as factory_receipt


def loaded(load: float) -> Receipt:
    life = make_life().model_copy(update={"load_after": [load, 0.0, 0.0]})
    boot = make_boot([make_ask(completion_response())]).model_copy(update={"lives": [life]})
    return factory_receipt("repeat", [boot])


@pytest.mark.parametrize(("load", "busy"), [(0.0, False), (2.5, False), (2.9, True)])
def test_a_busy_machine_is_told_before_a_run(
    load: float, busy: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_warnings, "load", lambda: [load, 0.0, 0.0])
    assert warn_before([], make_host()) is busy
    said = (
        f"warning: the load is {load} on 2 usable CPUs, too much to time anything: answers do not "
        "depend on it, speeds do\n"
    )
    assert capsys.readouterr().err == (said if busy else "")


def test_the_highest_load_of_what_was_measured_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    warn_after([loaded(0.1), loaded(7.3), loaded(4.0)])
    assert capsys.readouterr().err == (
        "warning: the load reached 7.3 while 2 of 3 experiments were measured: compare no speeds "
        "of theirs\n"
    )


def test_nothing_is_told_of_a_quiet_machine(capsys: pytest.CaptureFixture[str]) -> None:
    warn_after([loaded(0.1), loaded(2.0)])
    assert capsys.readouterr().err == ""
