"""Every setting of a server and of its sampling: names, defaults, and what is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, field_validator

from generator.schema import Model

SEED_MAX = 2**32 - 2
RANDOM_SEEDS = (-1, 2**32 - 1)
# request fields that a plan writes: under `extra` they would change what is measured unseen
PLANNED = {
    *("cache_prompt", "logprobs", "messages", "n_predict", "prompt", "return_tokens", "stream"),
    "top_logprobs",
}


def _integral(value: object) -> object:
    """Let `1e3`, a float in YAML, be the whole number it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_integral)]
Positive = Annotated[Whole, Field(ge=1)]
Natural = Annotated[Whole, Field(ge=0)]
Number = Annotated[float, Field(allow_inf_nan=False)]
NotNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
Endpoint = Literal["completion", "chat"]
PATHS: Mapping[Endpoint, str] = {"completion": "/completion", "chat": "/v1/chat/completions"}
"""Where a server is asked, by the endpoint."""
Scalar = bool | int | Number | str
KvType = Literal["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"]

V = TypeVar("V")


def _without(extra: dict[str, V], reserved: Collection[str]) -> dict[str, V]:
    named = sorted(name for name in extra if name in reserved)
    if named:
        raise ValueError(f"{', '.join(named)}: has its own setting, so not under `extra`")
    return extra


class ServerSettings(Model):
    """What a server process is started with; no default is left to the engine.

    The names are llama.cpp's own. `generator/engines/table.py` has each one's llama-server flag and
    its field in the embedded engine.

    Attributes:
        threads: Threads that generate; `threads_batch` those that read the prompt.
        n_ctx: Context of all slots together, in tokens.
        n_batch: Logical batch, in tokens; llama.cpp lowers it to `n_ctx`.
        n_ubatch: Physical batch, in tokens; llama.cpp lowers it to `n_batch`.
        n_parallel: Slots. More than one makes answers depend on what else is being asked.
        n_gpu_layers: Layers given to a GPU; the embedded engine has none.
        cache_prompt: Whether an ask may reuse the prompt tokens that an earlier one left in its
            slot; an ask's own `cache_prompt` wins.
        cache_ram_mib: Memory for prompts that left their slot, in MiB; 0 keeps none.
        cache_type_k: Type of the stored keys; `cache_type_v` that of the values.
        fit: Whether the engine may change undeclared settings to fit the memory it finds.
        chat_template: Name of a template file; none means the model's own.
        reasoning_format: Where thinking goes in a chat answer.
        gomp_spincount: How often a thread of GCC's OpenMP looks for the others before it sleeps, by
            the variable of that name; GCC's own default is 300,000. With that, one busy neighbour
            nearly stops two threads on two CPUs; with 10,000 a quiet machine loses nothing. An
            engine without OpenMP does not read it.
        extra: Engine parameters that have no name here, passed through by the engine's own names.
    """

    threads: Positive = 2
    threads_batch: Positive = 2
    threads_http: Positive = 2
    n_ctx: Positive = 4096
    n_batch: Positive = 2048
    n_ubatch: Positive = 512
    n_parallel: Positive = 1
    n_gpu_layers: Natural = 0
    flash_attn: Literal["on", "off", "auto"] = "auto"
    repack: bool = True
    cache_prompt: bool = True
    cache_ram_mib: Natural = 0
    cache_type_k: KvType = "f16"
    cache_type_v: KvType = "f16"
    kv_unified: bool = False
    swa_full: bool = False
    context_shift: bool = False
    cont_batching: bool = True
    fit: bool = False
    warmup: bool = True
    jinja: bool = True
    chat_template: Annotated[str, Field(min_length=1)] | None = None
    reasoning_format: Literal["none", "auto", "deepseek", "deepseek-legacy"] = "deepseek"
    gomp_spincount: Natural = 10_000
    extra: dict[str, Scalar] = Field(default_factory=dict)

    @field_validator("extra")
    @classmethod
    def _not_named(cls, extra: dict[str, Scalar]) -> dict[str, Scalar]:
        return _without(extra, cls.model_fields.keys())


def _seed(value: object) -> object:
    number = _integral(value)
    if isinstance(number, int) and not isinstance(number, bool):
        if number in RANDOM_SEEDS:
            raise ValueError(
                f"{number} means a random seed in llama.cpp; write `drawn` (a fresh seed an ask, "
                "recorded) or `engine` (the engine rolls its own and does not tell)"
            )
        if not 0 <= number <= SEED_MAX:
            raise ValueError(f"a fixed seed is a whole number from 0 to {SEED_MAX}")
    elif number not in ("drawn", "engine"):
        raise ValueError(f"a seed is `drawn`, `engine`, or a whole number from 0 to {SEED_MAX}")
    return number


class Sampling(Model):
    """How an answer's tokens are chosen; no default is left to the engine.

    Attributes:
        seed: A fixed number; `drawn`, a fresh recorded one for each ask; or `engine`, none sent.
        repeat_last_n: How many of the last tokens the penalties look at; -1 is the whole context.
        max_tokens: After how many tokens an answer is cut off.
        n_probs: How many most likely tokens are reported at each place.
        logit_bias: Added to a token's logit, by its number or text; `false` forbids it.
        extra: Request fields that have no name here, passed through by the server's own names.
    """

    seed: Annotated[int | Literal["drawn", "engine"], BeforeValidator(_seed)] = "drawn"
    temperature: NotNegative = 0.8
    top_k: Natural = 40
    top_p: Share = 0.95
    min_p: Share = 0.05
    typical_p: Share = 1.0
    repeat_penalty: NotNegative = 1.0
    repeat_last_n: Annotated[Whole, Field(ge=-1)] = 64
    presence_penalty: Number = 0.0
    frequency_penalty: Number = 0.0
    max_tokens: Positive = 64
    n_probs: Natural = 0
    logit_bias: dict[str, Number | Literal[False]] = Field(default_factory=dict)
    ignore_eos: bool = False
    stop: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    extra: dict[str, Any] = Field(default_factory=dict)

    @field_validator("extra")
    @classmethod
    def _not_named(cls, extra: dict[str, Any]) -> dict[str, Any]:
        return _without(extra, cls.model_fields.keys() | PLANNED)


M = TypeVar("M", bound=Model)


def merge(model: type[M], base: Mapping[str, Any], overlay: Mapping[str, Any]) -> M:
    """Build settings from two layers, as read from YAML.

    Args:
        model: `ServerSettings` or `Sampling`.
        base: The lower layer, such as a declaration's defaults.
        overlay: Wins over *base*; its `extra` is merged key by key, so that an experiment can add
            one parameter without repeating the others.

    Returns:
        The settings, with the model's own defaults for what neither layer names.

    Raises:
        pydantic.ValidationError: A layer does not fit the schema.
    """
    merged = {**base, **overlay}
    lower, upper = base.get("extra"), overlay.get("extra")
    if isinstance(lower, Mapping) and isinstance(upper, Mapping):
        merged["extra"] = {**lower, **upper}
    return model.model_validate(merged)


def sampling_fields(sampling: Sampling, endpoint: Endpoint) -> dict[str, Any]:
    """Return the request fields that *sampling* means to *endpoint*, all but the seed.

    The two endpoints differ in one: a completion reports its likely tokens by `n_probs`, a chat by
    `logprobs` and `top_logprobs`.
    """
    fields = sampling.model_dump(exclude={"seed", "extra", "n_probs", "max_tokens"})
    if endpoint == "completion":
        fields |= {"n_predict": sampling.max_tokens, "n_probs": sampling.n_probs}
    else:
        fields["max_tokens"] = sampling.max_tokens
        if sampling.n_probs:
            fields |= {"logprobs": True, "top_logprobs": sampling.n_probs}
    return {name: value for name, value in fields.items() if value not in ({}, [])} | sampling.extra
