"""The kind `thinking`: how much of the cap a model spends on thinking before it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from generator import analysis
from generator.answers import Answer, failures, read_answers
from generator.declaration import Experiment, Resolved
from generator.experiments.kind import Kind, one_boot
from generator.figures import Bar, Bars
from generator.plan import Boot
from generator.receipt import BootRecord
from generator.schema import Count, Model

END_OF_THINKING = b"</think>"


class Thinking(Experiment):
    """Ask *runs* times; `sampling.max_tokens` caps thinking and answer together."""

    kind: Literal["thinking"]
    runs: Annotated[int, Field(ge=1, le=10_000)]


class Run(Model):
    """One ask: what went into thinking and what was left for the answer."""

    ask: str
    seed: int | None
    thinking: str
    text: str
    thinking_chars: Count
    thinking_tokens: Count
    completion_tokens: Count
    answered: bool
    cap_eaten: bool
    stop: str
    valid: bool


class Result(Model):
    """How many runs thought, how many answered, and how many the cap cut off before an answer."""

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    thought: Count | None
    with_answer: Count | None
    cap_eaten: Count | None
    stopped_by_itself: Count | None
    thinking_chars: analysis.Spread | None
    runs: list[Run]


def expand(resolved: Resolved[Thinking]) -> tuple[Boot, ...]:
    """Plan one boot with all runs in it."""
    return one_boot(resolved, resolved.spec.runs)


def analyse(boots: Sequence[BootRecord]) -> Result:
    """Count thinking, answers and eaten caps."""
    answers, failed = read_answers(boots), failures(boots)
    runs = [_run(answer) for answer in answers]
    valid = [run for run in runs if run.valid]
    return Result(
        asked=len(answers) + failed,
        answered=len(answers),
        failed=failed,
        invalid=len(answers) - len(valid),
        thought=sum(run.thinking_chars > 0 for run in valid) if valid else None,
        with_answer=sum(run.answered for run in valid) if valid else None,
        cap_eaten=sum(run.cap_eaten for run in valid) if valid else None,
        stopped_by_itself=sum(run.stop == "eos" for run in valid) if valid else None,
        thinking_chars=analysis.spread([run.thinking_chars for run in valid]),
        runs=runs,
    )


def _run(answer: Answer) -> Run:
    return Run(
        ask=answer.ask,
        seed=answer.seed,
        thinking=answer.thinking,
        text=answer.text,
        thinking_chars=len(answer.thinking),
        thinking_tokens=_thinking_tokens(answer),
        completion_tokens=answer.predicted_n,
        answered=bool(answer.text.strip()),
        cap_eaten=answer.cap_eaten,
        stop=answer.stop,
        valid=answer.valid,
    )


def _thinking_tokens(answer: Answer) -> int:
    """Count the tokens before the end of thinking; the end may be spread over several tokens."""
    if not answer.thinking:
        return 0
    raw = b"".join(token.raw for token in answer.tokens)
    end = raw.find(END_OF_THINKING)
    if end < 0:
        return len(answer.tokens)
    position = 0
    for index, token in enumerate(answer.tokens):
        if position >= end:
            return index
        position += len(token.raw)
    return len(answer.tokens)


def figures(result: Result) -> Mapping[str, Bars]:
    """Draw the thinking characters of each run; a run without an answer is marked."""
    bars = tuple(Bar(run.ask, run.thinking_chars, not run.answered) for run in result.runs)
    return {"thinking-chars": Bars(bars, label="run", measure="thinking_chars")}


KIND = Kind("thinking", Thinking, Result, expand, analyse, figures)
