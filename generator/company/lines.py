"""One number of slots: what each text gave in company there, beside what it gave alone; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from generator import analysis
from generator.answers import Answer
from generator.company.heard import Heard, Server, seconds, slots_used
from generator.company.result import Fork, Line, Told
from generator.sweeps import drift
from generator.sweeps.cells import bits, tokens
from generator.sweeps.grouping import Grouping


def line_of(server: Server, groupings: Mapping[str, Grouping]) -> Line:
    """Return what one server's texts gave, grouped as in the whole experiment."""
    told = [_told(server, text, groupings[text]) for text in server.looked_at]
    most = max((one for one in told if one.answers), key=lambda one: one.unique, default=None)
    compared = [one for one in told if one.same_as_alone is not None and one.answers]
    rounds = server.rounds
    sent = list(chain.from_iterable(rounds))
    took = seconds(rounds) if rounds else None
    repeats = [bits(one) == bits(two) for one, two in server.pairs() if one and two]
    written = sum(heard.answer.predicted_n for heard in sent if heard.answer)
    return Line(
        boot=server.boot.name,
        slots=server.slots,
        at_once=max((_at_once(one) for one in rounds), default=0),
        rounds=len(rounds),
        slots_used=slots_used(sent),
        alone_repeats=all_told(repeats),
        answers=sum(one.answers for one in told),
        unique=most.unique if most else None,
        sizes=_sizes(server, most),
        shared_tokens=most.shared_tokens if most else None,
        split=most.split if most else [],
        same_as_alone=sum(one.same_as_alone or 0 for one in compared) if compared else None,
        bitwise_as_alone=sum(one.bitwise_as_alone or 0 for one in compared) if compared else None,
        texts=len(told),
        moved=sum(one.same_as_alone != one.answers for one in compared) if compared else None,
        drifted=sum(one.bitwise_as_alone != one.answers for one in compared) if compared else None,
        distinct_rounds=_distinct_rounds(rounds),
        largest_drift=max((one.largest_drift for one in told if one.largest_drift), default=0.0)
        if compared
        else None,
        seconds=took,
        tokens_per_second=round(written / took, 2) if took else None,
        told=told,
    )


def _at_once(heard: Sequence[Heard]) -> int:
    return 1 if heard[0].record.together is None else len(heard)


def _sizes(server: Server, told: Told | None) -> list[int]:
    if told is None:
        return []
    found = Counter(tokens(answer) for answer in server.together(told.prompt))
    return sorted(found.values(), reverse=True)


def _distinct_rounds(rounds: Sequence[Sequence[Heard]]) -> int | None:
    """Count rounds that differ; None unless there are two, whole, that sent the same."""
    sent = {tuple(heard.text for heard in one) for one in rounds}
    whole = [
        tuple(tokens(heard.answer) for heard in one if heard.answer)
        for one in rounds
        if all(heard.answer for heard in one)
    ]
    return len(set(whole)) if len(sent) == 1 and len(whole) > 1 else None


def _told(server: Server, text: str, grouping: Grouping) -> Told:
    answers, alone = server.together(text), server.alone.get(text)
    unique = len({tokens(answer) for answer in answers})
    shared = _shared(answers) if unique > 1 else None
    return Told(
        prompt=text,
        prompt_tokens=alone.prompt_n + alone.cache_n if alone else None,
        alone=grouping.name(alone) if alone else None,
        together=dict(sorted(Counter(grouping.name(answer) for answer in answers).items())),
        answers=len(answers),
        unique=unique,
        variants=len({bits(answer) for answer in answers}),
        same_as_alone=sum(tokens(a) == tokens(alone) for a in answers) if alone else None,
        bitwise_as_alone=sum(bits(a) == bits(alone) for a in answers) if alone else None,
        shared_tokens=shared,
        split=_split(answers, shared) if shared is not None else [],
        largest_drift=largest_drift([(alone, answer) for answer in answers]) if alone else None,
    )


def _shared(answers: Sequence[Answer]) -> int:
    return min(analysis.shared_prefix(answers[0].ids, answer.ids) for answer in answers)


def _split(answers: Sequence[Answer], place: int) -> list[Fork]:
    """Count which token stands at *place*, the most frequent first."""
    there = [a.tokens[place].text if place < len(a.tokens) else None for a in answers]
    return [Fork(token=token, answers=count) for token, count in Counter(there).most_common()]


def largest_drift(pairs: Sequence[tuple[Answer, Answer]]) -> float | None:
    """Return the largest change of a log probability in any pair of answers, in nats."""
    return max((drift.compare(one, two).largest for one, two in pairs), default=None)


def all_told(told: Sequence[bool | None]) -> bool | None:
    """Return whether all that is told is true; None if nothing is."""
    known = [one for one in told if one is not None]
    return all(known) if known else None
