"""Both pinned engines, for real: they start, prove themselves, and answer as they should."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from generator.client import Client
from generator.engines.base import Obtained, RunningServer
from generator.engines.wheel import WheelEngine
from generator.outcome import Answered
from generator.plan import Ask, FixedSeed
from generator.prompts import PromptReader
from generator.receipt import PromptRecord
from generator.reported import mismatches
from generator.settings import Sampling, sampling_fields
from tests.engine.conftest import ALIAS, Launch, launching
from tests.factory import make_ask, make_boot

pytestmark = pytest.mark.engine

PROMPT = "What is the best programming language? Answer in one word:"


@pytest.fixture(scope="module", params=["embedded", "built"])
def launch(
    request: pytest.FixtureRequest, engine: WheelEngine, built: Obtained, model: Path
) -> Launch:
    return launching(engine if request.param == "embedded" else built.engine, model)


@pytest.fixture(scope="module")
def server(launch: Launch) -> Iterator[RunningServer]:
    with launch() as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server) as opened:
        yield opened


def completion(client: Client, **changes: Any) -> dict[str, Any]:
    body = {
        **sampling_fields(Sampling(max_tokens=16), "completion"),
        "prompt": PROMPT,
        "cache_prompt": False,
        "return_tokens": True,
        **changes,
    }
    outcome = client.ask("completion", body, 60.0)
    assert isinstance(outcome, Answered), outcome
    return outcome.response


def test_it_does_as_it_is_told_and_says_so(server: RunningServer) -> None:
    assert server.mismatches == ()
    assert server.props["total_slots"] == 1
    told = {"threads": 1, "threads_batch": 1, "n_ctx": 4096, "n_batch": 2048, "n_ubatch": 512}
    assert server.effective.items() >= told.items()
    assert server.effective["flash_attn_used"] in ("on", "off")
    assert "CPU" in server.effective["system"]


def test_a_stranger_is_turned_away(server: RunningServer) -> None:
    for key in (None, "wrong"):
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = httpx.post(
            f"{server.base_url}/completion",
            json={"prompt": PROMPT, "n_predict": 1},
            headers=headers,
            trust_env=False,
        )
        assert answer.status_code == httpx.codes.UNAUTHORIZED


def test_it_listens_on_loopback_only(server: RunningServer) -> None:
    port = int(server.base_url.rsplit(":", 1)[1])
    assert server.process.listens_on(port)
    assert server.base_url.startswith("http://127.0.0.1:")


def test_one_seed_gives_one_answer(client: Client) -> None:
    answers = [completion(client, seed=42) for _ in range(3)]
    assert answers[0]["generation_settings"]["seed"] == 42
    assert len({tuple(answer["tokens"]) for answer in answers}) == 1


def test_other_seeds_give_other_answers(client: Client) -> None:
    prompt = "Write a sentence about"
    answers = [completion(client, seed=seed, prompt=prompt) for seed in range(4)]
    assert len({answer["content"] for answer in answers}) > 1


def test_an_unseeded_ask_does_not_tell_its_dice(client: Client) -> None:
    assert completion(client)["generation_settings"]["seed"] == 2**32 - 1


def test_every_declared_sampling_setting_reaches_the_engine(client: Client) -> None:
    sampling = Sampling(
        temperature=0.5,
        top_k=7,
        top_p=0.75,
        min_p=0.125,
        typical_p=0.5,
        repeat_penalty=1.5,
        repeat_last_n=3,
        presence_penalty=0.25,
        frequency_penalty=0.5,
        max_tokens=2,
        n_probs=3,
        ignore_eos=True,
        stop=["zzz"],
        logit_bias={"12": 1.0},
        extra={"mirostat_tau": 4.5},
    )
    answer = completion(client, seed=1, **sampling_fields(sampling, "completion"))
    used = answer["generation_settings"]
    declared = sampling.model_dump(exclude={"seed", "extra", "logit_bias", "ignore_eos"})
    assert {name: used[name] for name in declared} == declared
    assert used["ignore_eos"] is True
    assert used["mirostat_tau"] == 4.5
    assert {"bias": 1.0, "token": 12} in used["logit_bias"]
    assert len(answer["completion_probabilities"][0]["top_logprobs"]) == 3


def test_what_is_reported_of_declared_settings_is_no_mismatch(client: Client) -> None:
    sampling = Sampling(
        temperature=0.7,
        top_p=0.95,
        min_p=0.05,
        repeat_penalty=1.1,
        max_tokens=2,
        n_probs=3,
        ignore_eos=True,
        stop=["zzz", "\n\n"],
        logit_bias={"12": 1.3, "77": False, " the world": -1.5},
        extra={
            "samplers": ["top-k", "temperature"],
            "dry_sequence_breakers": ["a", "b"],
            "grammar": "root ::= [a-z ]+",
            "mirostat_tau": 4.3,
        },
    )
    request = {**sampling_fields(sampling, "completion"), "prompt": PROMPT, "seed": 2**32 - 2}
    answer = completion(client, **request)
    boot = make_boot().model_copy(update={"model": ALIAS})
    asked = make_ask(answer).model_copy(update={"request": request})
    assert mismatches(boot, asked, None) == []
    assert len(answer["generation_settings"]["logit_bias"]) > 3
    for name, other in {
        "temperature": 0.8,
        "logit_bias": {"12": 1.4},
        "samplers": ["top_k"],
        "dry_sequence_breakers": ["a"],
        "stop": ["zzz"],
    }.items():
        sent = asked.model_copy(update={"request": {**request, name: other}})
        assert [found.name for found in mismatches(boot, sent, None)] == [name]


def test_a_cold_ask_reads_the_whole_prompt_and_a_warm_one_its_last_token(launch: Launch) -> None:
    with launch() as fresh, Client(fresh) as client:
        ask = Ask("1", "completion", {}, FixedSeed(1), "cold")
        given = PromptReader(client, None).given(ask, {"prompt": PROMPT}, PROMPT)
        assert isinstance(given, PromptRecord)
        tokens = len(given.ids)
        cold, warm = (completion(client, cache_prompt=True, seed=1)["timings"] for _ in range(2))
        forced = completion(client, cache_prompt=False, seed=1)["timings"]
    assert (cold["cache_n"], cold["prompt_n"]) == (0, tokens)
    assert (warm["cache_n"], warm["prompt_n"]) == (tokens - 1, 1)
    assert (forced["cache_n"], forced["prompt_n"]) == (0, tokens)


def test_a_stream_says_what_an_answer_says(client: Client) -> None:
    whole = completion(client, seed=3)
    events = completion(client, seed=3, stream=True)["events"]
    assert "".join(event["content"] for event in events) == whole["content"]
    assert events[-1]["stop"] is True


def test_a_chat_is_answered_with_its_likely_tokens(client: Client) -> None:
    fields = sampling_fields(Sampling(max_tokens=4, n_probs=2), "chat")
    body = {**fields, "seed": 5, "messages": [{"role": "user", "content": "Say hello."}]}
    outcome = client.ask("chat", body, 60.0)
    assert isinstance(outcome, Answered)
    choice = outcome.response["choices"][0]
    assert choice["message"]["content"]
    assert len(choice["logprobs"]["content"][0]["top_logprobs"]) == 2


FOREIGN = {
    "OMP_NUM_THREADS": "3",
    "OMP_THREAD_LIMIT": "3",
    "OMP_DISPLAY_ENV": "verbose",
    "OMP_WAIT_POLICY": "active",
    "GOMP_SPINCOUNT": "infinity",
    "LLAMA_ARG_THREADS": "3",
    "LLAMA_ARG_THREADS_BATCH": "3",
    "LLAMA_ARG_CTX_SIZE": "512",
    "LLAMA_ARG_N_PARALLEL": "3",
    "LLAMA_ARG_UBATCH": "32",
    "LLAMA_ARG_FLASH_ATTN": "on",
    "LLAMA_API_KEY": "another",
    "LLAMA_CACHE": "/nowhere",
    "GGML_BACKEND_PATH": "/nowhere/backend.so",
    "LD_PRELOAD": "",
    "PYTHONPATH": "/nowhere",
}
KNOWN = {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "SYSTEMROOT", "LC_ALL"}
OURS = {"GOMP_SPINCOUNT", "OMP_DISPLAY_ENV", "LLAMA_API_KEY"}
"""What is set for a server: a declared setting, a report of its threads, and the boot's key."""


def test_no_setting_in_our_environment_reaches_it(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    with launch() as undisturbed:
        usual = {**undisturbed.effective}
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    with launch() as running:
        known = psutil.Process(running.process.pid).environ()
        assert running.mismatches == ()
        assert running.effective == usual
    assert set(known) <= KNOWN | OURS
    assert not {name for name, value in FOREIGN.items() if known.get(name) == value}
