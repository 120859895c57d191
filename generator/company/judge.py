"""The verdict on company: every text in company against itself alone, on the same server; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from generator import analysis
from generator.answers import Answer, failures, read_answers
from generator.company.heard import Server, counted, read_servers
from generator.company.lines import all_told, largest_drift, line_of
from generator.company.result import Given, Outcome, Result
from generator.receipt import BootRecord
from generator.sweeps.cells import bits, tokens
from generator.sweeps.grouping import Grouping


def judge(boots: Sequence[BootRecord]) -> Result:
    """Return what company did; it is blamed only if both controls hold."""
    servers, answers = read_servers(boots), read_answers(boots)
    given = {text: _given(servers, text) for text in _texts(servers)}
    groupings = {text: Grouping(found) for text, found in given.items()}
    outputs = [_outputs(text, given[text], groupings[text]) for text in given]
    lines = [line_of(server, groupings) for server in servers]
    works, repeats = _detector_works(servers), all_told([line.alone_repeats for line in lines])
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
        slots_alone_same=all_told([tokens(one) == tokens(two) for one, two in across]),
        slots_alone_bitwise=all_told([bits(one) == bits(two) for one, two in across]),
        compared=len(pairs) if sound else None,
        flips=len(moved) if sound else None,
        drifts=len(drifts) - len(moved) if sound else None,
        unique=max((line.unique for line in lines if line.unique), default=None),
        unique_anywhere=max((len(one.groups) for one in outputs if one.groups), default=None),
        first_flip=min(moved, key=lambda flip: flip.token, default=None) if sound else None,
        largest_drift=largest_drift(pairs),
        lines=lines,
        outputs=outputs,
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


def _texts(servers: Sequence[Server]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(server.looked_at for server in servers)))


def _given(servers: Sequence[Server], text: str) -> list[Answer]:
    """Return every answer of a text, those alone first: the others are compared with them."""
    alone = [server.alone[text] for server in servers if text in server.alone]
    return [*alone, *chain.from_iterable(server.together(text) for server in servers)]


def _outputs(text: str, answers: Sequence[Answer], grouping: Grouping) -> Given:
    return Given(prompt=text, groups=grouping.groups(answers[0] if answers else None))


def _pairs(server: Server) -> Iterable[tuple[Answer, Answer]]:
    """Pair every answer in company with its text's answer alone on the same server.

    A text that was not answered on the twin too may be one that does not repeat.
    """
    twice = {heard.text for heard in server.again if heard.answer}
    for text, alone in server.alone.items():
        if text not in twice:
            continue
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
    """Whether the negative control differs from the same prompt alone on its server."""
    for server in servers:
        if server.control is not None and server.controlled is not None:
            return tokens(server.control) != tokens(server.controlled)
    return None
