"""The spin count of OpenMP changes when an answer comes, and no bit of it."""

from __future__ import annotations

from typing import Any

import pytest

from generator.client import Client
from generator.engines.base import Obtained, RunningServer
from generator.outcome import Answered
from generator.settings import Sampling, ServerSettings, sampling_fields
from tests.engine.conftest import ROOT, Launch, launching

pytestmark = pytest.mark.engine

GCC_DEFAULT = 300_000
COUNTS = (GCC_DEFAULT, ServerSettings().gomp_spincount, 1_000)
TWO_THREADS = {"threads": 2, "threads_batch": 2}
PROMPT = ROOT / "receipts" / "prompts" / "feynman.txt"


def answer(server: RunningServer) -> dict[str, Any]:
    sampling = Sampling(seed=42, temperature=0, max_tokens=6, n_probs=8)
    body = {
        **sampling_fields(sampling, "completion"),
        "prompt": PROMPT.read_text(encoding="utf-8"),
        "seed": 42,
        "cache_prompt": False,
        "return_tokens": True,
    }
    with Client(server) as client:
        outcome = client.ask("completion", body, 120.0)
    assert isinstance(outcome, Answered), outcome
    told = ("content", "tokens", "completion_probabilities")
    return {name: outcome.response[name] for name in told}


def test_the_spin_count_is_in_effect_and_changes_no_bit_of_an_answer(launch: Launch) -> None:
    answers = []
    for count in COUNTS:
        with launch(gomp_spincount=count, **TWO_THREADS) as server:
            assert server.effective["gomp_spincount"] == count
            assert server.mismatches == ()
            answers.append(answer(server))
    assert len(answers[0]["tokens"]) == len(answers[0]["completion_probabilities"]) == 6
    assert answers[1:] == answers[:1] * 2


def test_an_engine_without_openmp_reports_no_spin_count(built: Obtained, model: Any) -> None:
    with launching(built.engine, model)(gomp_spincount=7) as server:
        assert "gomp_spincount" not in server.effective
        assert server.mismatches == ()
