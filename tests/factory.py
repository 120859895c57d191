"""Synthetic responses, boots and receipts for tests: valid records, built from a few words.

A *token* here is a text, or a tuple `(text, logprob, runner_up_logprob)`. Equal texts get equal
ids, within and between responses, so that answers built from equal tokens compare as equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from generator.canonical import digest
from generator.engines.table import command_line
from generator.experiments import kinds
from generator.host import Host
from generator.receipt import (
    Answered,
    AskRecord,
    BootRecord,
    DeclarationRecord,
    EngineRecord,
    Failed,
    FileRecord,
    GeneratorRecord,
    LifeRecord,
    ModelRecord,
    PromptRecord,
    Receipt,
)
from generator.settings import Endpoint, Sampling, ServerSettings
from generator.wire import body_of

TokenLike = str | tuple[str, float, float]
CacheWord = Literal["cold", "warm", "any"]
SeedWord = Literal["fixed", "drawn", "engine"]

STARTED = "2026-01-02T03:04:05.000Z"
FINISHED = "2026-01-02T03:05:06.000Z"
MODEL = "tiny-model"
ENGINE = "tiny-engine"
PROMPT = "Say something"
LOGPROB, RUNNER_UP = -0.5, -1.5


def token_id(text: str) -> int:
    """Return the id that *text* has as a token, the same everywhere."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:3])


def token_entry(token: TokenLike) -> dict[str, Any]:
    """Return one position of a response's log probabilities, with two candidates.

    A runner-up above the chosen log probability stands first, as a server lists it.
    """
    text, chosen, other = token if isinstance(token, tuple) else (token, LOGPROB, RUNNER_UP)
    candidates = [_candidate(text, chosen), _candidate(f"not {text}", other)]
    return {
        **_candidate(text, chosen),
        "top_logprobs": sorted(candidates, key=lambda entry: -float(entry["logprob"])),
    }


def _candidate(text: str, logprob: float) -> dict[str, Any]:
    raw = list(text.encode("utf-8", "surrogatepass"))
    return {"id": token_id(text), "token": text, "bytes": raw, "logprob": logprob}


def _text(tokens: Sequence[TokenLike]) -> str:
    return "".join(token if isinstance(token, str) else token[0] for token in tokens)


def _timings(
    tokens: Sequence[TokenLike], cache_n: int, prompt_n: int, tokens_per_second: float
) -> dict[str, Any]:
    return {
        "cache_n": cache_n,
        "prompt_n": prompt_n,
        "predicted_n": len(tokens),
        "predicted_per_second": tokens_per_second,
    }


def completion_response(
    tokens: Sequence[TokenLike] = (" a", " b", " c"),
    *,
    text: str | None = None,
    stop: str = "limit",
    cache_n: int = 0,
    prompt_n: int = 10,
    tokens_per_second: float = 50.0,
) -> dict[str, Any]:
    """Return a response of `/completion`.

    Args:
        tokens: The generated tokens; their joined text is the content.
        text: The content, if it must differ from the tokens' text.
        stop: Its `stop_type`: `limit`, `eos` or `word`.
        cache_n: Prompt tokens taken from the cache.
        prompt_n: Prompt tokens evaluated.
        tokens_per_second: Generation speed.
    """
    return {
        "content": _text(tokens) if text is None else text,
        "stop_type": stop,
        "tokens": [token_entry(token)["id"] for token in tokens],
        "completion_probabilities": [token_entry(token) for token in tokens],
        "timings": _timings(tokens, cache_n, prompt_n, tokens_per_second),
    }


def chat_response(
    content: str | None = None,
    *,
    thinking: str | None = None,
    tokens: Sequence[TokenLike] | None = None,
    stop: str = "stop",
    cache_n: int = 0,
    prompt_n: int = 10,
    tokens_per_second: float = 50.0,
) -> dict[str, Any]:
    """Return a response of `/v1/chat/completions`.

    Args:
        content: The answer; by default the tokens' text, or `hello` without tokens.
        thinking: The `reasoning_content`; none leaves the field out.
        tokens: The generated tokens; by default the characters of thinking, close tag and content
            (no close tag if the content is empty).
        stop: Its `finish_reason`: `stop` or `length`.
        cache_n: Prompt tokens taken from the cache.
        prompt_n: Prompt tokens evaluated.
        tokens_per_second: Generation speed.
    """
    if content is None:
        content = "hello" if tokens is None else _text(tokens)
    if tokens is None:
        close = "</think>" if thinking is not None and content else ""
        tokens = list((thinking or "") + close + content)
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if thinking is not None:
        message["reasoning_content"] = thinking
    return {
        "choices": [
            {
                "index": 0,
                "finish_reason": stop,
                "message": message,
                "logprobs": {"content": [token_entry(token) for token in tokens]},
            }
        ],
        "timings": _timings(tokens, cache_n, prompt_n, tokens_per_second),
    }


def make_ask(
    response: Mapping[str, Any] | None,
    *,
    name: str = "1",
    cache: CacheWord = "cold",
    seed: int | None = 42,
    seed_word: SeedWord | None = None,
    endpoint: Endpoint | None = None,
    failure: str = "reset",
    together: str | None = None,
    prompt: str | None = PROMPT,
) -> AskRecord:
    """Return an answered ask, or a failed one if *response* is None.

    Args:
        response: What came back.
        name: The ask's name in its boot.
        cache: What was planned of the cache.
        seed: The seed that was sent; None sends none.
        seed_word: Where it came from; by default `fixed`, or `engine` without a seed.
        endpoint: By default what the response looks like, else `completion`.
        failure: The kind of the failure.
        together: The word of the asks that were sent at once with it.
        prompt: The text that the model was given; None leaves it unknown.
    """
    if endpoint is None:
        endpoint = "chat" if response is not None and "choices" in response else "completion"
    request = {"prompt": PROMPT, **({} if seed is None else {"seed": seed})}
    return AskRecord(
        name=name,
        endpoint=endpoint,
        cache=cache,
        together=together,
        seed=seed_word or ("engine" if seed is None else "fixed"),
        request=request,
        prompt=None if prompt is None else make_prompt(prompt).sha256,
        prompt_unknown="nobody knows" if prompt is None else None,
        started=STARTED,
        mismatches=[],
        outcome=_failed(failure) if response is None else _answered(response),
    )


def make_prompt(text: str = PROMPT, count: int = 10) -> PromptRecord:
    """Return a prompt of *count* tokens."""
    return PromptRecord(text=text, ids=list(range(count)))


def _answered(response: Mapping[str, Any]) -> Answered:
    raw = body_of(response, None)
    return Answered(
        status="answered",
        http_status=200,
        response=dict(response),
        raw_bytes=len(raw),
        raw_sha256=hashlib.sha256(raw).hexdigest(),
        raw=None,
        wall_s=0.25,
    )


def _failed(kind: str) -> Failed:
    return Failed(
        status="failed",
        kind=kind,
        message=f"the connection ended: {kind}",
        http_status=None,
        body=None,
        wall_s=0.125,
    )


def make_boot(
    asks: Sequence[AskRecord | Mapping[str, Any] | None] = (),
    *,
    name: str = "main",
    settings: ServerSettings | None = None,
    effective: Mapping[str, Any] | None = None,
    lives: int = 1,
) -> BootRecord:
    """Return a boot.

    Args:
        asks: Ask records, or bare responses (None for a failure), which become cold asks named
            `1`, `2`, ….
        name: The boot's name.
        settings: Its server's settings.
        effective: What the server reports of them beside the context.
        lives: How many lives it took.
    """
    declared = (settings or ServerSettings()).model_dump(mode="json")
    records = [
        ask if isinstance(ask, AskRecord) else make_ask(ask, name=str(index))
        for index, ask in enumerate(asks, start=1)
    ]
    return BootRecord(
        name=name,
        engine=ENGINE,
        model=MODEL,
        settings=declared,
        effective={"n_ctx": declared["n_ctx"], **(effective or {})},
        command_line=command_line(settings or ServerSettings(), MODEL),
        props={"total_slots": 1},
        mismatches=[],
        lives=[make_life() for _ in range(lives)],
        asks=records,
    )


def make_life() -> LifeRecord:
    """Return one life of a server."""
    return LifeRecord(
        started=STARTED,
        ready_s=0.5,
        load_before=[0.1, 0.2, 0.3],
        load_after=[0.2, 0.2, 0.3],
        peak_memory_bytes=200_000_000,
    )


def width_boot(
    width: int, cold: Mapping[str, Any] | None, *warm: Mapping[str, Any] | None
) -> BootRecord:
    """Return a boot of the kind `ubatch`: one cold ask, then warm ones; None is a failure."""
    return make_boot(
        [
            make_ask(cold, name="1", cache="cold"),
            *(
                make_ask(response, name=str(index), cache="warm")
                for index, response in enumerate(warm, start=2)
            ),
        ],
        name=f"ub-{width}",
        settings=ServerSettings(n_ubatch=width, n_batch=max(width, 2048)),
    )


def make_host() -> Host:
    """Return a machine."""
    return Host(
        cpu="Test CPU",
        isa=["avx2"],
        cores=2,
        threads=2,
        usable=2,
        cpu_limit=None,
        memory_bytes=8_000_000_000,
        memory_limit_bytes=None,
        governor=None,
        mhz_max=None,
        arch="x86_64",
        os="Test OS 1",
        kernel="Linux 6.1",
        libc="glibc 2.36",
        python="CPython 3.11.2",
    )


def experiment_json(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    """Return an experiment as a receipt keeps it; *fields* are the kind's own."""
    return {
        "name": name,
        "kind": kind,
        "title": {"zh": "标题", "en": "A title"},
        "prompt": PROMPT,
        "endpoint": "completion",
        "model": MODEL,
        "engine": ENGINE,
        "server": ServerSettings().model_dump(mode="json"),
        "sampling": Sampling().model_dump(mode="json"),
        **fields,
    }


def make_receipt(
    kind: str,
    boots: Sequence[BootRecord],
    *,
    article: str = "some-article",
    experiment: str = "some-experiment",
    interrupted: Sequence[BootRecord] = (),
    **fields: Any,
) -> Receipt:
    """Return a receipt whose analysis is what *kind* makes of *boots*.

    Args:
        kind: The kind's name.
        boots: Its boots.
        article: The article's name.
        experiment: The experiment's name.
        interrupted: Boots that were cut off.
        fields: Replace fields of the receipt, such as `measured_on`.
    """
    declared = experiment_json(kind, experiment)
    values: dict[str, Any] = {
        "schema_version": 2,
        "article": article,
        "experiment": experiment,
        "kind": kind,
        "plan_sha256": digest([article, experiment, kind]),
        "declaration": DeclarationRecord(
            file=f"receipts/{article}.yaml", sha256=digest(declared), experiment=declared
        ),
        "claims": {},
        "models": {MODEL: _model()},
        "engines": {ENGINE: _engine()},
        "chat_templates": {},
        "files": {},
        "prompts": {make_prompt().sha256: make_prompt()},
        "host": make_host(),
        "generator": GeneratorRecord(
            version="0.0.0", commit="0" * 40, dirty=False, commit_unknown=None
        ),
        "started": STARTED,
        "finished": FINISHED,
        "measured_on": STARTED[:10],
        "boots": list(boots),
        "interrupted": list(interrupted),
        "analysis": kinds()[kind].analyse(boots).model_dump(mode="json"),
    }
    return Receipt(**(values | fields))


def _model() -> ModelRecord:
    return ModelRecord(
        pin=MODEL,
        title="Tiny Model",
        file="tiny.gguf",
        bytes=1_000_000,
        sha256=digest("model"),
        license="Apache-2.0",
        metadata={
            "architecture": "llama",
            "chat_template_sha256": digest("template"),
            "context_length": 2048,
            "file_type": "Q4_1",
            "name": "Tiny",
            "parameters": 1_000_000,
            "tokenizer": "gpt2",
        },
        shards=[],
    )


def _engine() -> EngineRecord:
    return EngineRecord(
        pin=ENGINE,
        type="wheel",
        version="tiny 1.2.3",
        build=3,
        origin_sha256=digest("wheel"),
        built={},
        files=[FileRecord(name="libtiny.so", bytes=1000, sha256=digest("library"))],
    )
