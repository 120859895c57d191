"""Projects for tests: receipts that follow from a declaration's plan, with answers given by us."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from generator.bench import file_record
from generator.chat_template_files import chat_template_path
from generator.claims import conditions
from generator.declaration import Declaration
from generator.engines.table import command_line
from generator.evidence import Evidence, declare, gather
from generator.experiments import plan_experiment
from generator.files import write_atomically
from generator.measure import write_sums
from generator.pin_types import WheelEngine
from generator.pins import Pins, load_pins
from generator.plan import Ask, Boot, seed_word
from generator.publish import render_articles
from generator.receipt import (
    Answered,
    AskRecord,
    BootRecord,
    DeclarationRecord,
    EngineRecord,
    FileRecord,
    ModelRecord,
    PromptRecord,
    Receipt,
    receipt_path,
    render,
)
from generator.reported import mismatches
from tests.factory import (
    chat_response,
    completion_response,
    make_ask,
    make_boot,
    make_prompt,
    make_receipt,
)

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "templates"
FIXTURE = Path(__file__).parent / "assets" / "project"

Respond = Callable[[int, int], Mapping[str, Any] | None]
"""Gives the response to an ask, by its boot's index and its own; None is a failure."""


def receipt_of(root: Path, declaration: Declaration, name: str, respond: Respond) -> Receipt:
    """Return a receipt that an audit finds nothing wrong with, with answers by *respond*."""
    plan = plan_experiment(declaration.experiments[name])
    boots = [
        _boot(boot, [_ask(ask, respond(i, j), i, j) for j, ask in enumerate(boot.asks)])
        for i, boot in enumerate(plan.boots)
    ]
    prompts = {
        prompt.sha256: prompt
        for boot in boots
        for ask in boot.asks
        if (prompt := _prompt(ask)) is not None
    }
    pins = load_pins(root)
    templates = {boot.server.chat_template for boot in plan.boots}
    return make_receipt(
        plan.kind,
        boots,
        **_declared(declaration, name),
        prompts=prompts,
        models={boot.model: _model(pins, boot.model) for boot in plan.boots},
        engines={boot.engine: _engine(pins, boot.engine) for boot in plan.boots},
        chat_templates={
            template: file_record(chat_template_path(root, template))
            for template in templates
            if template is not None
        },
    )


def _declared(declaration: Declaration, name: str) -> dict[str, Any]:
    plan = plan_experiment(declaration.experiments[name])
    return {
        "article": plan.article,
        "experiment": name,
        "plan_sha256": plan.sha256,
        "declaration": DeclarationRecord(
            file=declaration.file,
            sha256=declaration.sha256,
            experiment=declaration.experiments[name].as_json(),
        ),
        "claims": conditions(declaration, name),
    }


def receipt_for(declaration: Declaration, name: str, boots: list[BootRecord]) -> Receipt:
    """Return a receipt of *boots*, which a made-up server answered, as the plan has them sent."""
    plan = plan_experiment(declaration.experiments[name])
    sent = [
        booted.model_copy(
            update={
                "asks": [
                    record.model_copy(update={"request": _request(ask, i, j)})
                    for j, (ask, record) in enumerate(zip(boot.asks, booted.asks, strict=True))
                ]
            }
        )
        for i, (boot, booted) in enumerate(zip(plan.boots, boots, strict=True))
    ]
    return make_receipt(plan.kind, sent, **_declared(declaration, name))


def _request(ask: Ask, boot: int, index: int) -> dict[str, Any]:
    word = seed_word(ask.seed)
    seed = {"seed": word} if isinstance(word, int) else {}
    drawn = {"seed": 1000 + 10 * boot + index} if word == "drawn" else {}
    return {**ask.body, **seed, **drawn}


def _ask(ask: Ask, response: Mapping[str, Any] | None, boot: int, index: int) -> AskRecord:
    word = seed_word(ask.seed)
    kind: Literal["fixed", "drawn", "engine"] = (
        "fixed" if isinstance(word, int) else "drawn" if word == "drawn" else "engine"
    )
    record = make_ask(
        None if response is None else _within_limit(ask, response),
        name=ask.name,
        cache=ask.cache,
        endpoint=ask.endpoint,
        seed_word=kind,
        together=ask.together,
    )
    record = record.model_copy(update={"request": _request(ask, boot, index)})
    prompt = _prompt(record)
    sha256 = None if prompt is None else prompt.sha256
    unknown = "the ask failed" if prompt is None else None
    return record.model_copy(update={"prompt": sha256, "prompt_unknown": unknown})


def _within_limit(ask: Ask, response: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *response* with a reason for stopping that fits the ask's limit.

    What stopped at the limit has as many tokens as the limit, by the count of a chat; a completion
    lists its tokens, so one that lists fewer stopped by itself.
    """
    limit = ask.body.get("n_predict") or ask.body.get("max_tokens")
    timings = response.get("timings", {})
    if timings.get("predicted_n", limit) == limit:
        return response
    if response.get("stop_type") == "limit":
        return {**response, "stop_type": "eos"}
    if any(choice.get("finish_reason") == "length" for choice in response.get("choices", ())):
        return {**response, "timings": {**timings, "predicted_n": limit}}
    return response


def _prompt(ask: AskRecord) -> PromptRecord | None:
    """Return the prompt of an ask, with as many tokens as its response counts."""
    if not isinstance(ask.outcome, Answered):
        return None
    timings = ask.outcome.response.get("timings", {})
    text = ask.request.get("prompt") or f"<user>{ask.request['messages'][0]['content']}"
    return make_prompt(text, timings.get("cache_n", 0) + timings.get("prompt_n", 0))


def _boot(boot: Boot, asks: list[AskRecord]) -> BootRecord:
    record = make_boot(asks, name=boot.name, settings=boot.server)
    line = command_line(boot.server, boot.model)
    record = record.model_copy(
        update={"engine": boot.engine, "model": boot.model, "command_line": line}
    )
    reported = [
        ask.model_copy(update={"mismatches": mismatches(record, ask, _prompt(ask))})
        for ask in record.asks
    ]
    return record.model_copy(update={"asks": reported})


def _model(pins: Pins, name: str) -> ModelRecord:
    pin = pins.model(name)
    return ModelRecord(
        pin=pin.name,
        title=pin.title,
        file=pin.file,
        bytes=pin.bytes,
        sha256=pin.sha256,
        license=pin.license,
        metadata={"file_type": pin.quantization},
        shards=[],
    )


def _engine(pins: Pins, name: str) -> EngineRecord:
    pin = pins.engine(name)
    assert isinstance(pin, WheelEngine)
    artifact = next(iter(pin.artifacts.values()))
    library = FileRecord(
        name=artifact.library, bytes=artifact.library_bytes, sha256=artifact.library_sha256
    )
    return EngineRecord(
        pin=pin.name,
        type=pin.type,
        version=f"{pin.distribution} {pin.version}",
        build=pin.build,
        origin_sha256=artifact.sha256,
        built={},
        files=[library],
    )


def evidence_of(root: Path, article: str, answers: Mapping[str, Respond]) -> Evidence:
    """Return an article's evidence with receipts for the experiments in *answers*."""
    declaration = declare(root, article)
    receipts = {n: receipt_of(root, declaration, n, answers[n]) for n in answers}
    return gather(declaration, receipts)


def _runs(_boot: int, ask: int) -> Mapping[str, Any] | None:
    texts = [(" blue", " today"), (" blue", " & <b>clear</b>\n"), (" grey",), (" blue",)]
    return completion_response(texts[ask], stop="eos", cache_n=3 if ask == len(texts) - 1 else 0)


def _replays(_boot: int, ask: int) -> Mapping[str, Any] | None:
    words = [["hel", "lo", " 你好"], ["hel", "lo", " there"], ["hel", "lo", " 你好"]]
    return chat_response(tokens=words[ask], tokens_per_second=50.25 + ask)


def _widths(_boot: int, ask: int) -> Mapping[str, Any] | None:
    if ask == 0:
        return completion_response([" one", (" two", -0.69, -0.7)], cache_n=0, prompt_n=2)
    return completion_response([" one", " three"], cache_n=1, prompt_n=1)


def _thoughts(_boot: int, ask: int) -> Mapping[str, Any] | None:
    if ask == 0:
        return None
    if ask == 1:
        return chat_response("", thinking="Hmm, hmm, hmm", stop="length")
    return chat_response("Hello!", thinking="Hmm")


ANSWERS: Mapping[str, Respond] = {
    "runs": _runs,
    "replays": _replays,
    "widths": _widths,
    "thoughts": _thoughts,
}


def templates_of(root: Path) -> list[Path]:
    """Return the folders of templates of a project, its own first."""
    return [root / "templates", SHIPPED]


def measured_project(root: Path) -> Path:
    """Copy the fixture project to *root*, measure it by our answers, and render it."""
    shutil.copytree(FIXTURE, root, dirs_exist_ok=True)
    declaration = declare(root, "small")
    for name, respond in ANSWERS.items():
        receipt = receipt_of(root, declaration, name, respond)
        write_atomically(receipt_path(root, "small", name), render(receipt))
    write_sums(root, "small")
    render_articles(root, templates_of(root), ["small"])
    return root
