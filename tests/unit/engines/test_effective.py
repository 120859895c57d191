"""What the engine did with a setting is noticed where it says so."""

from __future__ import annotations

import pytest

from generator.engines.effective import Mismatch, compare, observe, scrub_props
from generator.settings import ServerSettings

# Lines as the wheel 2026.10.11549 writes them at verbosity 4.
LOG = """\
OPENMP DISPLAY ENVIRONMENT BEGIN
  GOMP_STACKSIZE = '0'
  GOMP_SPINCOUNT = '10000'
OPENMP DISPLAY ENVIRONMENT END
0.00.002.947 I cmn  common_param: system_info: n_threads = 2 (n_threads_batch = 2) / 2 | CPU : \
SSE3 = 1 | LLAMAFILE = 1 | OPENMP = 1 | REPACK = 1 | \n\
0.00.003.659 I srv          init: using 2 threads for HTTP server
0.00.361.137 I load_tensors:   CPU_Mapped model buffer size =    92.10 MiB
0.00.363.953 I llama_context: n_ctx                 = 4096
0.00.363.953 I llama_context: n_ctx_seq             = 4096
0.00.363.954 I llama_context: n_batch               = 2048
0.00.363.954 I llama_context: n_ubatch              = 512
0.00.363.955 I llama_context: flash_attn            = auto
0.00.688.813 I llama_kv_cache: size =   90.00 MiB (  4096 cells,  30 layers,  1/1 seqs), \
K (f16):   45.00 MiB, V (f16):   45.00 MiB
0.00.693.891 I resolve_fused_ops: Flash Attention enabled
0.01.686.342 I srv    load_model: initializing, n_slots = 1, n_ctx_slot = 4096, kv_unified = 'false'
0.01.686.505 I srv    load_model: prompt cache is disabled - use `--cache-ram N` to enable it
"""
PROPS = {"total_slots": 1, "chat_template": "{{ a }}\n"}


def mismatches(
    log: str, settings: ServerSettings | None = None, template: str | None = None
) -> list[Mismatch]:
    return list(compare(settings or ServerSettings(), observe(log, PROPS, template)))


def test_everything_the_log_tells_is_read() -> None:
    assert observe(LOG, PROPS, None) == {
        "threads": 2,
        "threads_batch": 2,
        "threads_http": 2,
        "gomp_spincount": 10_000,
        "n_ctx": 4096,
        "n_batch": 2048,
        "n_ubatch": 512,
        "n_parallel": 1,
        "kv_unified": False,
        "cache_type_k": "f16",
        "cache_type_v": "f16",
        "cache_ram_mib": 0,
        "flash_attn": "auto",
        "flash_attn_used": "on",
        "system": "CPU : SSE3 = 1 | LLAMAFILE = 1 | OPENMP = 1 | REPACK = 1",
        "weights_repacked": False,
    }


def test_an_engine_that_does_as_it_is_told_differs_in_nothing() -> None:
    assert mismatches(LOG) == []


def test_a_log_that_tells_nothing_differs_in_nothing() -> None:
    assert mismatches("") == []


@pytest.mark.parametrize(
    ("settings", "name", "declared", "effective"),
    [
        (ServerSettings(n_ubatch=8192), "n_ubatch", 8192, 512),
        (ServerSettings(threads=4), "threads", 4, 2),
        (ServerSettings(n_parallel=4), "n_parallel", 4, 1),
        (ServerSettings(cache_type_k="q8_0"), "cache_type_k", "q8_0", "f16"),
        (ServerSettings(cache_ram_mib=100), "cache_ram_mib", 100, 0),
        (ServerSettings(gomp_spincount=0), "gomp_spincount", 0, 10_000),
    ],
)
def test_a_setting_that_became_another_is_named(
    settings: ServerSettings, name: str, declared: object, effective: object
) -> None:
    assert mismatches(LOG, settings) == [Mismatch(name, declared, effective)]


def test_flash_attention_that_was_declared_and_could_not_be_had_is_named() -> None:
    log = LOG.replace("= auto", "= enabled").replace("Attention enabled", "Attention disabled")
    found = mismatches(log, ServerSettings(flash_attn="on"))
    assert found == [Mismatch("flash_attn", "on", "off")]


def test_repacked_weights_are_named_where_they_were_forbidden() -> None:
    log = LOG + "load_tensors:   CPU_REPACK model buffer size =    92.10 MiB\n"
    assert mismatches(log, ServerSettings(repack=False)) == [Mismatch("repack", False, True)]
    assert mismatches(log, ServerSettings(repack=True)) == []


def test_another_template_is_named() -> None:
    settings = ServerSettings(chat_template="mine")
    assert mismatches(LOG, settings, "{{ a }}") == []
    assert mismatches(LOG, settings, "{{ b }}") == [
        Mismatch("chat_template", "mine", "another template")
    ]


def test_props_are_recorded_without_paths_and_one_time_marks() -> None:
    props = {"model_path": "/home/me/m.gguf", "media_marker": "<__x__>", "total_slots": 1}
    assert scrub_props(props) == {"total_slots": 1}


@pytest.mark.parametrize(("came_to", "other"), [("on", "off"), ("off", "on")])
def test_what_auto_comes_to_is_no_mismatch(came_to: str, other: str) -> None:
    seen = {"flash_attn": came_to, "flash_attn_used": came_to}
    assert compare(ServerSettings(flash_attn="auto"), seen) == ()
    declared = ServerSettings.model_validate({"flash_attn": other})
    assert [m.name for m in compare(declared, seen)] == ["flash_attn"]
