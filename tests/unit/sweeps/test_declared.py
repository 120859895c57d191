"""What is refused of a sweep before anything is measured, each fault at its place."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from generator.settings import Sampling
from generator.sweeps.declared import Sweep
from tests.unit.experiments.sweeping import FACTORS

BECAUSE = {"zh": "因为", "en": "because"}
GREEDY = {"seed": 42, "temperature": 0}
ALONE = {"set": {"n_ubatch": {"prompt_tokens": -1}}, "predict": {"same_as": {"cache": "warm"}}}


def declared(**fields: Any) -> Sweep:
    return Sweep.model_validate(
        {
            "kind": "sweep",
            "title": {"zh": "标题", "en": "A title"},
            "prompt": "Hello",
            "endpoint": "completion",
            "factors": FACTORS,
            **fields,
        }
    )


def objections(sampling: dict[str, Any] | None = None, **fields: Any) -> list[str]:
    found = declared(**fields).objections(Sampling.model_validate(sampling or GREEDY))
    return [f"{'.'.join(where)}: {problem} → {remedy}" for where, problem, remedy in found]


def intervention(**fields: Any) -> dict[str, Any]:
    return {"interventions": {"one": {**ALONE, "because": BECAUSE, **fields}}}


def test_a_right_sweep_is_let_through() -> None:
    assert objections(**intervention()) == []
    assert objections(design="full", **intervention(cache="warm", reuse=False, set={})) == []


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        ({"seed": "drawn", "temperature": 0}, "sampling.seed: the seed differs from ask to ask"),
        ({"seed": 42, "temperature": 0.7}, "sampling.temperature: above temperature 0"),
        ({"seed": 43, "temperature": 0}, "control.seed: the negative control has the seed of"),
    ],
)
def test_dice_are_refused(sampling: dict[str, Any], expected: str) -> None:
    (found,) = objections(sampling)
    assert found.startswith(expected)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"factors": {"ubatch": [512, 256]}},
            "factors.ubatch: unknown factor 'ubatch' → did you mean `n_ubatch`?",
        ),
        (
            {"factors": {"n_ubatch": [512, 0]}},
            "factors.n_ubatch: 0 is no n_ubatch → write greater than or equal to 1",
        ),
        (
            {"design": "full", "factors": {name: [2, 1, 3, 4] for name in
             ("threads", "threads_batch", "n_ubatch", "n_batch")}},
            "design: 256 arrangements of the settings, each booted twice; at most 100 → name fewer",
        ),
        (
            {"interventions": {"baseline": {**ALONE, "because": BECAUSE}}},
            "interventions.baseline: the baseline is no intervention → give it another name",
        ),
        (
            intervention(set={}),
            "interventions.one: nothing is done → set something, or `reuse: false`",
        ),
        (
            intervention(reuse=False),
            "interventions.one.reuse: the first ask after a boot finds no cache to reuse → add",
        ),
        (
            intervention(set={"n_ubach": 3}),
            "interventions.one.set.n_ubach: unknown factor 'n_ubach' → did you mean `n_ubatch`?",
        ),
        (
            intervention(set={"cache": "warm"}),
            "interventions.one.set.cache: unknown factor 'cache' → ",
        ),
        (
            intervention(set={"prefix": {"prompt_tokens": -1}}),
            "interventions.one.set.prefix: a prefix is no number of tokens",
        ),
        *(
            (
                intervention(set={"n_ubatch": {"prompt_tokens": -1}, other: level}),
                "interventions.one.set.n_ubatch: the prompt's length is the baseline's",
            )
            for other, level in {"model": "big", "chat_template": "a.jinja", "jinja": False}.items()
        ),
        (
            intervention(set={"repack": {"prompt_tokens": 1}}),
            "interventions.one.set.repack: 1 is no repack → write a valid boolean",
        ),
        (
            intervention(predict={"same_as": {"threads": 1}}),
            "interventions.one.predict.same_as.threads: 'threads' is no factor of this sweep → ",
        ),
        (
            intervention(predict={"unlike": {"n_ubatch": 128}}),
            "interventions.one.predict.unlike.n_ubatch: 128 is no level of n_ubatch → write one ",
        ),
        (
            intervention(predict={"same_as": {"n_ubatch": 256, "flash_attn": "off"}}),
            "interventions.one.predict.same_as: this cell is not in the design",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], expected: str) -> None:
    (found,) = objections(**fields)
    assert found.startswith(expected)


def test_a_pair_may_be_predicted_where_pairs_are_measured() -> None:
    pair = intervention(predict={"same_as": {"n_ubatch": 256, "flash_attn": "off"}})
    assert objections(design="pairs", **pair) == []
    beside = intervention(predict={"same_as": {"n_ubatch": 256, "cache": "warm"}})
    assert objections(**beside) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"factors": {}},
        {"design": "random"},
        {"warm_asks": 0},
        {"control": {"seed": -1}},
        {"control": {"temperature": 0.0}},
        {"factors": {"threads": [2, 1.5]}},
        intervention(predict={}),
        intervention(predict={"same_as": {}, "unlike": {}}),
        intervention(cache="tepid"),
    ],
)
def test_shapes_that_are_no_sweep_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        declared(**fields)
