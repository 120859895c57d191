"""Settings: strict, explicit, and safe against the seeds that are not seeds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from generator.settings import (
    PLANNED,
    RANDOM_SEEDS,
    SEED_MAX,
    Sampling,
    ServerSettings,
    merge,
    sampling_fields,
)


def problem(model: type[Any], **fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        model(**fields)
    return str(caught.value)


@given(st.integers(0, SEED_MAX))
def test_every_fixed_seed_is_kept(seed: int) -> None:
    assert Sampling(seed=seed).seed == seed


@pytest.mark.parametrize("seed", RANDOM_SEEDS)
def test_seeds_that_mean_random_are_refused_with_the_reason(seed: int) -> None:
    assert "means a random seed in llama.cpp" in problem(Sampling, seed=seed)


@pytest.mark.parametrize("seed", [-2, 2**32, 1.5, True, None, "random"])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    assert "0 to 4294967294" in problem(Sampling, seed=seed)


def test_a_float_that_is_whole_is_a_whole_number() -> None:
    settings = merge(ServerSettings, {}, {"n_ctx": 1e3})
    assert (settings.n_ctx, type(settings.n_ctx)) == (1000, int)
    assert merge(Sampling, {}, {"seed": 42.0}).seed == 42


def test_a_whole_number_is_taken_where_a_float_is_meant() -> None:
    temperature = Sampling(temperature=0).temperature
    assert (temperature, type(temperature)) == (0.0, float)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ServerSettings, {"n_ctx": 1.5}),
        (ServerSettings, {"n_ctx": True}),
        (ServerSettings, {"n_ctx": "4096"}),
        (ServerSettings, {"threads": 0}),
        (ServerSettings, {"flash_attn": True}),
        (ServerSettings, {"repack": 1}),
        (ServerSettings, {"ubatch": 512}),
        (ServerSettings, {"extra": {"n_keep": [1]}}),
        (Sampling, {"temperature": True}),
        (Sampling, {"temperature": -0.1}),
        (Sampling, {"temperature": float("nan")}),
        (Sampling, {"top_p": 1.1}),
        (Sampling, {"max_tokens": 0}),
        (Sampling, {"stop": [""]}),
        (Sampling, {"logit_bias": {"</": True}}),
    ],
)
def test_what_does_not_fit_is_refused(model: type[Any], fields: dict[str, Any]) -> None:
    assert "validation error" in problem(model, **fields)


@pytest.mark.parametrize("name", ["seed", "temperature", *sorted(PLANNED)])
def test_a_named_setting_cannot_hide_under_extra(name: str) -> None:
    assert f"{name}: has its own setting" in problem(Sampling, extra={name: 1})


def test_a_named_server_setting_cannot_hide_under_extra() -> None:
    assert "n_ctx: has its own setting" in problem(ServerSettings, extra={"n_ctx": 1})


def test_the_upper_layer_wins_and_adds_to_extra() -> None:
    merged = merge(
        ServerSettings,
        {"n_ctx": 512, "threads": 1, "extra": {"n_keep": 4, "no_perf": True}},
        {"threads": 2, "extra": {"n_keep": 8}},
    )
    assert (merged.n_ctx, merged.threads) == (512, 2)
    assert merged.extra == {"n_keep": 8, "no_perf": True}


def test_extra_keeps_the_type_of_each_value() -> None:
    extra = ServerSettings(extra={"a": True, "b": 1, "c": 1.0, "d": "1"}).extra
    assert [type(value) for value in extra.values()] == [bool, int, float, str]


def test_settings_survive_json() -> None:
    settings = ServerSettings(n_ubatch=8192, extra={"n_keep": 4})
    assert ServerSettings.model_validate(settings.model_dump(mode="json")) == settings


def test_each_endpoint_gets_its_own_words() -> None:
    sampling = Sampling(max_tokens=7, n_probs=2, logit_bias={"</": False}, extra={"mirostat": 1})
    completion = sampling_fields(sampling, "completion")
    chat = sampling_fields(sampling, "chat")
    assert (completion["n_predict"], completion["n_probs"]) == (7, 2)
    assert (chat["max_tokens"], chat["logprobs"], chat["top_logprobs"]) == (7, True, 2)
    for fields in (completion, chat):
        assert fields["logit_bias"] == {"</": False}
        assert fields["mirostat"] == 1
        assert "seed" not in fields
        assert "stop" not in fields


def test_no_likely_tokens_are_asked_of_a_chat_unless_declared() -> None:
    assert "logprobs" not in sampling_fields(Sampling(), "chat")
