"""The verdict on company: every text in company against itself alone, on the same server; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from generator import analysis
from generator.answers import Answer, failures, read_answers
from generator.company.heard import Heard, Server, counted, read_servers, seconds, slots_used
from generator.company.result import Fork, Line, Outcome, Result, Told
from generator.receipt import BootRecord
from generator.sweeps import drift
from generator.sweeps.cells import bits, tokens
from generator.sweeps.grouping import Grouping


def judge(boots: Sequence[BootRecord]) -> Result:
    """Return what company did; it is blamed only if both controls hold."""
    servers, answers = read_servers(boots), read_answers(boots)
    given = {text: _given(servers, text) for text in _texts(servers)}
    groupings = {text: Grouping(found) for text, found in given.items()}
    lines = [_line(server, groupings) for server in servers]
    works, repeats = _detector_works(servers), _all([line.alone_repeats for line in lines])
    pairs = list(chain.from_iterable(_pairs(server) for server in servers))
    sound = bool(works and repeats and pairs)
    moved = [flip for one, two in pairs if (flip := analysis.divergence(one, two))]
    drifts = [pair for pair in pairs if bits(pair[0]) != bits(pair[1])]
    across = list(_across(servers))
    failed = failures(boots)
    return Result(
        asked=len(answers) + failed,
        answered=len(answers),
        failed=failed,
        invalid=len(answers) - len(counted(boots)),
        outcome=_outcome(works, repeats, pairs=len(pairs), flips=len(moved), drifts=len(drifts)),
        gpu_layers=int(boots[0].settings["n_gpu_layers"]) or None if boots else None,
        detector_works=works,
        aa_identical=repeats,
        slots_alone_same=_all([tokens(one) == tokens(two) for one, two in across]),
        slots_alone_bitwise=_all([bits(one) == bits(two) for one, two in across]),
        compared=len(pairs) if sound else None,
        flips=len(moved) if sound else None,
        drifts=len(drifts) - len(moved) if sound else None,
        unique=max((line.unique for line in lines if line.unique), default=None),
        first_flip=min(moved, key=lambda flip: flip.token, default=None) if sound else None,
        largest_drift=_largest(pairs),
        lines=lines,
        outputs={t: g.groups(given[t][0] if given[t] else None) for t, g in groupings.items()},
    )


def _outcome(
    works: bool | None, repeats: bool | None, *, pairs: int, flips: int, drifts: int
) -> Outcome:
    if works is False:
        return "detector_broken"
    if works is None or repeats is None or not pairs:
        return "unmeasured"
    if not repeats:
        return "unstable"
    if flips:
        return "moves"
    return "drifts" if drifts else "same"


def _all(told: Sequence[bool | None]) -> bool | None:
    """Return whether all that is told is true; None if nothing is."""
    known = [one for one in told if one is not None]
    return all(known) if known else None


def _texts(servers: Sequence[Server]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(server.looked_at for server in servers)))


def _given(servers: Sequence[Server], text: str) -> list[Answer]:
    """Return every answer of a text, those alone first: the others are compared with them."""
    alone = [server.alone[text] for server in servers if text in server.alone]
    return [*alone, *chain.from_iterable(server.together(text) for server in servers)]


def _pairs(server: Server) -> Iterable[tuple[Answer, Answer]]:
    """Pair every answer in company with its text's answer alone on the same server."""
    for text, alone in server.alone.items():
        for answer in server.together(text):
            yield alone, answer


def _across(servers: Sequence[Server]) -> Iterable[tuple[Answer, Answer]]:
    """Pair each text's answer alone with that on the first server that has one."""
    first: dict[str, Answer] = {}
    for server in servers:
        for text, answer in server.alone.items():
            if text in first:
                yield first[text], answer
            first.setdefault(text, answer)


def _detector_works(servers: Sequence[Server]) -> bool | None:
    """Whether the negative control differs from the first text alone on its server."""
    for server in servers:
        if server.control is not None and (alone := list(server.alone.values())):
            return tokens(server.control) != tokens(alone[0])
    return None


def _largest(pairs: Sequence[tuple[Answer, Answer]]) -> float | None:
    return max((drift.compare(one, two).largest for one, two in pairs), default=None)


def _line(server: Server, groupings: dict[str, Grouping]) -> Line:
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
        alone_repeats=_all(repeats),
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
        largest_drift=_largest([(alone, answer) for answer in answers]) if alone else None,
    )


def _shared(answers: Sequence[Answer]) -> int:
    return min(analysis.shared_prefix(answers[0].ids, answer.ids) for answer in answers)


def _split(answers: Sequence[Answer], place: int) -> list[Fork]:
    """Count which token stands at *place*, the most frequent first."""
    there = [a.tokens[place].text if place < len(a.tokens) else None for a in answers]
    return [Fork(token=token, answers=count) for token, count in Counter(there).most_common()]
