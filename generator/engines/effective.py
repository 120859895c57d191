"""What a server says of its settings, by its log and `/props`, beside what was declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from generator.settings import ServerSettings

# `/props` names a path of this machine, and a mark that is drawn afresh at each start.
ONE_TIME_PROPS = ("model_path", "media_marker")


@dataclass(frozen=True)
class Mismatch:
    """A setting that the server reports otherwise than it was declared."""

    name: str
    declared: Any
    effective: Any


def _word(text: str) -> bool:
    return text == "true"


LOG_LINES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "threads": (r"system_info: n_threads = (\d+)", int),
    "threads_batch": (r"system_info: .*?n_threads_batch = (\d+)", int),
    "threads_http": (r"using (\d+) threads for HTTP server", int),
    "n_ctx": (r"llama_context: n_ctx += (\d+)", int),
    "n_batch": (r"llama_context: n_batch += (\d+)", int),
    "n_ubatch": (r"llama_context: n_ubatch += (\d+)", int),
    "n_parallel": (r"load_model: initializing, n_slots = (\d+)", int),
    "kv_unified": (r"load_model: initializing, .*kv_unified = '(\w+)'", _word),
    "cache_type_k": (r"llama_kv_cache: size = .*\bK \((\w+)\)", str),
    "cache_type_v": (r"llama_kv_cache: size = .*\bV \((\w+)\)", str),
    "flash_attn": (r"llama_context: flash_attn += (\w+)", str),
    "cache_ram_mib": (r"prompt cache is enabled, size limit: (\d+) MiB", int),
    "gomp_spincount": (r"^ *GOMP_SPINCOUNT = '(\d+)'", int),
}
"""Where the log tells a setting, and how its words become a value. The last line counts."""
FLASH_WORDS = {"enabled": "on", "disabled": "off"}


def observe(log: str, props: Mapping[str, Any], template: str | None) -> dict[str, Any]:
    """Collect what the server says of its settings, by our names; what it does not say is absent.

    Besides settings it holds `system` (what the engine was built with), `flash_attn_used` (what
    `auto` came to), and `weights_repacked`.

    Args:
        log: The server's log at verbosity 4.
        props: Its `/props`.
        template: The text of the declared chat template, if there is one.
    """
    seen: dict[str, Any] = {}
    for name, (pattern, convert) in LOG_LINES.items():
        found = re.findall(pattern, log, flags=re.MULTILINE)
        if found:
            seen[name] = convert(found[-1])
    if "prompt cache is disabled" in log:
        seen["cache_ram_mib"] = 0
    if "flash_attn" in seen:
        seen["flash_attn"] = FLASH_WORDS.get(seen["flash_attn"], seen["flash_attn"])
        resolved = re.findall(r"Flash Attention (enabled|disabled)", log)
        seen["flash_attn_used"] = FLASH_WORDS[resolved[-1]] if resolved else seen["flash_attn"]
    if "total_slots" in props:
        seen["n_parallel"] = props["total_slots"]
    if template is not None and "chat_template" in props:
        seen["chat_template_used"] = props["chat_template"].strip() == template.strip()
    system = re.findall(r"system_info: [^|]*\| (.*?)\|?\s*$", log, flags=re.MULTILINE)
    if system:
        seen["system"] = system[-1].strip()
    seen["weights_repacked"] = "CPU_REPACK model buffer size" in log
    return seen


def compare(settings: ServerSettings, effective: Mapping[str, Any]) -> tuple[Mismatch, ...]:
    """List the settings that the server reports otherwise than they were declared.

    Args:
        settings: What was declared.
        effective: What `observe` found.
    """
    declared = settings.model_dump()
    found = [
        Mismatch(name, declared[name], effective[name])
        for name in LOG_LINES
        if name in effective
        and effective[name] != declared[name]
        # what `auto` comes to is the engine's choice, told by flash_attn_used
        and (name, declared[name]) != ("flash_attn", "auto")
    ]
    used = effective.get("flash_attn_used", settings.flash_attn)
    if settings.flash_attn not in ("auto", used) and used != effective.get("flash_attn"):
        found.append(Mismatch("flash_attn", settings.flash_attn, used))
    if not effective.get("chat_template_used", True):
        found.append(Mismatch("chat_template", settings.chat_template, "another template"))
    if effective.get("weights_repacked") and not settings.repack:
        found.append(Mismatch("repack", declared["repack"], True))
    return tuple(found)


def scrub_props(props: Mapping[str, Any]) -> dict[str, Any]:
    """Return `/props` as they may be recorded: no path of this machine, nothing drawn at start."""
    return {name: value for name, value in props.items() if name not in ONE_TIME_PROPS}
