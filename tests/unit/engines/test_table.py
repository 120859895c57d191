"""The table covers every setting and says it to both engines."""

from __future__ import annotations

import shlex

import pytest

from generator.engines.table import TABLE, command_line, environment, wheel_fields
from generator.settings import ServerSettings


def test_every_setting_is_in_the_table() -> None:
    elsewhere = {"chat_template", "extra", "gomp_spincount"}
    assert set(TABLE) | elsewhere == set(ServerSettings.model_fields)


def test_the_spin_count_goes_by_the_environment() -> None:
    assert environment(ServerSettings())["GOMP_SPINCOUNT"] == "10000"
    assert environment(ServerSettings(gomp_spincount=7))["GOMP_SPINCOUNT"] == "7"
    assert "7" not in command_line(ServerSettings(gomp_spincount=7), "m")


def test_no_two_settings_share_a_field() -> None:
    assert len({knob.field for knob in TABLE.values()}) == len(TABLE)


def test_the_default_command_line() -> None:
    assert shlex.join(command_line(ServerSettings(), "smollm2")) == (
        "llama-server --model smollm2 --threads 2 --threads-batch 2 --threads-http 2 "
        "--ctx-size 4096 --batch-size 2048 --ubatch-size 512 --parallel 1 --n-gpu-layers 0 "
        "--flash-attn auto --repack --cache-prompt --cache-ram 0 --cache-type-k f16 "
        "--cache-type-v f16 --no-kv-unified --no-context-shift --cont-batching --fit off "
        "--warmup --jinja --reasoning-format deepseek"
    )


def test_the_other_side_of_every_switch() -> None:
    settings = ServerSettings(
        repack=False,
        cache_prompt=False,
        kv_unified=True,
        swa_full=True,
        context_shift=True,
        cont_batching=False,
        fit=True,
        warmup=False,
        jinja=False,
        chat_template="thinking",
        extra={"n_keep": 4, "no_perf": True, "numa": "x y"},
    )
    line = command_line(settings, "m")
    for flag in (
        "--no-repack",
        "--no-cache-prompt",
        "--kv-unified",
        "--swa-full",
        "--context-shift",
        "--no-cont-batching",
        "--no-warmup",
        "--no-jinja",
    ):
        assert flag in line
    assert line[-8:] == [
        *("--chat-template-file", "thinking", "--n-keep", "4"),
        *("--no-perf", "true", "--numa", "x y"),
    ]


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        (ServerSettings(repack=False), "no_extra_bufts", True),
        (ServerSettings(flash_attn="off"), "flash_attn_type", "LLAMA_FLASH_ATTN_TYPE_DISABLED"),
        (ServerSettings(cache_type_k="q8_0"), "cache_type_k", "GGML_TYPE_Q8_0"),
        (
            ServerSettings(reasoning_format="deepseek-legacy"),
            "reasoning_format",
            "COMMON_REASONING_FORMAT_DEEPSEEK_LEGACY",
        ),
        (ServerSettings(threads=7), "cpuparams.n_threads", 7),
    ],
)
def test_values_become_the_wheels(settings: ServerSettings, field: str, value: object) -> None:
    assert wheel_fields(settings, None)[field] == value


def test_a_template_goes_as_text() -> None:
    assert wheel_fields(ServerSettings(), "{{ x }}")["chat_template"] == "{{ x }}"
    assert "chat_template" not in wheel_fields(ServerSettings(), None)
