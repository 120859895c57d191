"""The one table of server settings: our name, llama-server's flag, the embedded engine's field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from generator.settings import ServerSettings

FLASH_ATTN = {
    "on": "LLAMA_FLASH_ATTN_TYPE_ENABLED",
    "off": "LLAMA_FLASH_ATTN_TYPE_DISABLED",
    "auto": "LLAMA_FLASH_ATTN_TYPE_AUTO",
}


def _same(value: Any) -> Any:
    return value


def _ggml_type(value: str) -> str:
    return f"GGML_TYPE_{value.upper()}"


def _reasoning(value: str) -> str:
    return f"COMMON_REASONING_FORMAT_{value.replace('-', '_').upper()}"


def _valued(flag: str) -> Callable[[Any], list[str]]:
    return lambda value: [flag, str(value)]


def _switch(on: str | None, off: str | None) -> Callable[[Any], list[str]]:
    return lambda value: [flag for flag in (on if value else off,) if flag]


@dataclass(frozen=True)
class Knob:
    """How one setting is said to each engine.

    Attributes:
        arguments: From its value to llama-server's arguments.
        field: Where it lies in the embedded engine's parameters.
        convert: From its value to the field's; an enumeration's member is given by name.
    """

    arguments: Callable[[Any], list[str]]
    field: str
    convert: Callable[[Any], Any] = _same


TABLE: Mapping[str, Knob] = {
    "threads": Knob(_valued("--threads"), "cpuparams.n_threads"),
    "threads_batch": Knob(_valued("--threads-batch"), "cpuparams_batch.n_threads"),
    "threads_http": Knob(_valued("--threads-http"), "n_threads_http"),
    "n_ctx": Knob(_valued("--ctx-size"), "n_ctx"),
    "n_batch": Knob(_valued("--batch-size"), "n_batch"),
    "n_ubatch": Knob(_valued("--ubatch-size"), "n_ubatch"),
    "n_parallel": Knob(_valued("--parallel"), "n_parallel"),
    "n_gpu_layers": Knob(_valued("--n-gpu-layers"), "n_gpu_layers"),
    "flash_attn": Knob(_valued("--flash-attn"), "flash_attn_type", FLASH_ATTN.__getitem__),
    "repack": Knob(_switch("--repack", "--no-repack"), "no_extra_bufts", lambda on: not on),
    "cache_prompt": Knob(_switch("--cache-prompt", "--no-cache-prompt"), "cache_prompt"),
    "cache_ram_mib": Knob(_valued("--cache-ram"), "cache_ram_mib"),
    "cache_type_k": Knob(_valued("--cache-type-k"), "cache_type_k", _ggml_type),
    "cache_type_v": Knob(_valued("--cache-type-v"), "cache_type_v", _ggml_type),
    "kv_unified": Knob(_switch("--kv-unified", "--no-kv-unified"), "kv_unified"),
    "swa_full": Knob(_switch("--swa-full", None), "swa_full"),
    "context_shift": Knob(_switch("--context-shift", "--no-context-shift"), "ctx_shift"),
    "cont_batching": Knob(_switch("--cont-batching", "--no-cont-batching"), "cont_batching"),
    "fit": Knob(lambda on: ["--fit", "on" if on else "off"], "fit_params"),
    "warmup": Knob(_switch("--warmup", "--no-warmup"), "warmup"),
    "jinja": Knob(_switch("--jinja", "--no-jinja"), "use_jinja"),
    "reasoning_format": Knob(_valued("--reasoning-format"), "reasoning_format", _reasoning),
}
"""Every setting but `chat_template`, which is a file, `gomp_spincount`, which is a variable of the
environment, and `extra`, which has no fixed names."""


def environment(settings: ServerSettings) -> dict[str, str]:
    """Return the variables with which a server is started, by their names.

    They are not in the command line: an engine without GCC's OpenMP does not read them, and with it
    they change when an answer comes and no bit of it. OpenMP writes what it uses into the log.
    """
    return {"GOMP_SPINCOUNT": str(settings.gomp_spincount), "OMP_DISPLAY_ENV": "VERBOSE"}


def command_line(settings: ServerSettings, model: str, *, template: str | None = None) -> list[str]:
    """Return the llama-server command line, by default with names where files are meant.

    What lies under `extra` is written as flags of the same name; the embedded engine's name for a
    parameter may differ from llama-server's, which then refuses it.

    Args:
        settings: The settings.
        model: The model's name, or its path.
        template: The chat template's path, in place of its name.
    """
    line = ["llama-server", "--model", model]
    for name, knob in TABLE.items():
        line += knob.arguments(getattr(settings, name))
    if settings.chat_template is not None:
        line += ["--chat-template-file", template or settings.chat_template]
    for name, value in settings.extra.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        line += [f"--{name.replace('_', '-')}", text]
    return line


def wheel_fields(settings: ServerSettings, template: str | None) -> dict[str, Any]:
    """Return the embedded engine's fields and their values, without `extra`.

    Args:
        settings: The settings.
        template: The chat template's text, if the model's own is not to be used.
    """
    fields = {knob.field: knob.convert(getattr(settings, name)) for name, knob in TABLE.items()}
    if template is not None:
        fields["chat_template"] = template
    return fields
