"""An answer that does not come whole: a failure of a known kind, and what came before is kept."""

from __future__ import annotations

import pytest

from generator.client import Client
from generator.engines.native import NativeEngine
from generator.outcome import Answered, Failed
from generator.settings import ServerSettings
from tests.faults.conftest import Fault
from tests.faults.stage import Stage

FAILED_ASKS = 6


@pytest.mark.parametrize(
    ("server", "kinds"),
    [
        ("killed_while_answering", ["answered", "died", "died", "died"]),
        ("aborts_in_the_middle_of_an_answer", ["answered", "died", "died", "died"]),
        ("hangs_while_answering", ["answered", "timeout", "died", "died"]),
        ("resets_in_the_middle_of_an_answer", ["answered", "reset", "answered", "answered"]),
        ("cuts_its_json", ["answered", "not_json", "answered", "answered"]),
        ("breaks_its_utf8", ["answered", "invalid_utf8", "answered", "answered"]),
    ],
)
def test_an_answer_that_fails(stage: Stage, fault: Fault, server: str, kinds: list[str]) -> None:
    stage.pin_server(server)
    end = stage.run("run", "broken/runs", "--ask-limit", "0.5")
    assert end.code == FAILED_ASKS
    fault(server, end)
    receipt = stage.receipts()["runs"]
    outcomes = [ask["outcome"] for ask in receipt["boots"][0]["asks"]]
    assert [outcome.get("kind", "answered") for outcome in outcomes] == kinds
    assert receipt["analysis"]["failed"] == 4 - kinds.count("answered")
    assert stage.processes() == []


def test_a_character_split_between_chunks_is_whole(stage: Stage) -> None:
    stage.pin_server("breaks_its_utf8")
    stage.run("run", "broken/runs")
    first = stage.receipts()["runs"]["boots"][0]["asks"][0]
    assert first["outcome"]["response"]["content"] == "种\u2028子"


def test_a_stream_with_odd_separators_and_one_that_is_reset(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(stage.tmp))
    engine = NativeEngine(stage.program("streams_oddly"))
    model = stage.root / "tiny.gguf"
    with engine.launch(ServerSettings(), model, "tiny") as server, Client(server) as client:
        whole, cut = (client.ask("completion", {"stream": True}, 5.0) for _ in range(2))
    assert isinstance(whole, Answered)
    assert whole.response == {"events": [{"content": "一\u2028二\x85三", "stop": True}]}
    assert isinstance(cut, Failed)
    assert cut.kind == "reset"
    assert cut.body is not None
    assert cut.body.startswith('data: {"content": "一')
    assert stage.processes() == []
