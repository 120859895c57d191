"""A sweep finds a real flip of a real engine, and an intervention shows its cause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.experiments import sweep
from generator.sweeps.declared import Sweep
from tests.engine.conftest import ONE_THREAD, ROOT, Measure
from tests.unit.experiments.resolving import resolved

pytestmark = pytest.mark.engine

PROMPT = (ROOT / "receipts" / "prompts" / "p04k0n24.txt").read_text()
SERVER = {**ONE_THREAD, "n_ctx": 1024, "n_batch": 1024, "warmup": False, "cache_prompt": True}
SAMPLING = {"temperature": 0.0, "seed": 42, "max_tokens": 16, "n_probs": 3}


def test_a_token_is_moved_by_evaluating_the_last_one_alone(measure: Measure) -> None:
    alone = {
        "set": {"n_ubatch": {"prompt_tokens": -1}},
        "predict": {"same_as": {"cache": "warm"}},
        "because": {"zh": "单独算", "en": "evaluated alone"},
    }
    declared = resolved(
        Sweep,
        server=SERVER,
        sampling=SAMPLING,
        factors={"cache": ["cold", "warm"]},
        interventions={"last-token-alone": alone},
    )
    experiment = replace(declared, prompts={"prompt": PROMPT})
    boots = measure(sweep.expand(experiment))
    result = sweep.KIND.analyse(boots)
    assert (result.failed, result.invalid) == (0, 0)
    assert result.detector_works
    assert result.aa_identical
    assert (result.outcome, result.movers) == ("attributed", ["cache=warm"])
    assert (result.cause, result.interventions_as_predicted) == ("shown", 1)
    assert result.mechanism_holds
    widths = {b.name: b.settings["n_ubatch"] for b in boots if b.name.startswith("last-token")}
    assert result.prompt_tokens is not None
    assert set(widths.values()) == {result.prompt_tokens - 1}
