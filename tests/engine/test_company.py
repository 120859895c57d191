"""Asks in company and cached openings, for real: the server does what the plans rely on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from generator.company.declared import Concurrency
from generator.declaration import Resolved
from generator.experiments import concurrency, prefix
from generator.prefixes.declared import Prefix
from tests.engine.conftest import ONE_THREAD, Measure
from tests.unit.experiments.resolving import resolved

pytestmark = pytest.mark.engine

TEXT = "The kernel splits the work. A cache stores recent results. Rounding errors accumulate."
SERVER = {**ONE_THREAD, "n_ctx": 256, "n_batch": 256, "n_ubatch": 256, "warmup": False}
SAMPLING = {"temperature": 0.0, "seed": 42, "max_tokens": 6}


def asked(experiment: Resolved[Any]) -> Resolved[Any]:
    return replace(experiment, prompts={"needle": TEXT})


def test_asks_at_once_are_answered_in_slots_of_their_own(measure: Measure) -> None:
    server = {**SERVER, "cache_prompt": False}
    crowd = asked(
        resolved(Concurrency, mode="identical", slots=[4], asks=4, server=server, sampling=SAMPLING)
    )
    boots = measure(concurrency.expand(crowd))
    assert all(boot.mismatches == [] for boot in boots)
    assert boots[0].effective["n_ctx"] == 4 * SERVER["n_ctx"]
    result = concurrency.KIND.analyse(boots)
    assert (result.answered, result.failed, result.invalid) == (7, 0, 0)
    assert (result.detector_works, result.aa_identical) == (True, True)
    assert result.outcome in ("same", "drifts", "moves")
    (line,) = result.lines
    assert (line.slots, line.slots_used, line.at_once, line.answers) == (4, 4, 4, 4)
    assert sum(line.sizes) == 4
    assert line.seconds is not None
    assert line.seconds > 0


def test_a_server_takes_from_the_cache_what_an_opening_left_there(measure: Measure) -> None:
    openings = asked(resolved(Prefix, lengths=[60, len(TEXT)], server=SERVER, sampling=SAMPLING))
    result = prefix.KIND.analyse(measure(prefix.expand(openings)))
    assert (result.failed, result.invalid, result.compared) == (0, 0, 2)
    assert (result.detector_works, result.aa_identical) == (True, True)
    part, whole = result.rows
    length = result.prompt_tokens
    assert length is not None
    assert part.opening_tokens is not None
    assert 1 < part.opening_tokens < length
    assert (part.cache_n, part.prompt_n) == (part.opening_tokens, length - part.opening_tokens)
    assert (whole.opening_tokens, whole.cache_n, whole.prompt_n) == (length, length - 1, 1)
    assert (part.width, whole.width) == (part.cache_n, whole.cache_n)
    assert (result.interventions_open, result.interventions_failed) == (0, 0)
    assert result.unused_is_cold
