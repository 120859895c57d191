"""An experiment's boots read as what was heard: each text alone, and in company, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from generator.answers import Answer, read_answers
from generator.receipt import AskRecord, BootRecord

ALONE, CONTROL = "alone", "control"
AGAIN = " again"


@dataclass(frozen=True)
class Heard:
    """One ask: its text, in which round it was sent (None is alone), and what was answered.

    *answer* is null for a failure, and where the cache was not used as planned.
    """

    text: str
    round: int | None
    record: AskRecord
    answer: Answer | None

    @property
    def prompt(self) -> object:
        """What was asked, in the request's own words."""
        return prompt_of(self.record)


@dataclass(frozen=True)
class Server:
    """One boot, and its twin, which was asked alone only.

    Attributes:
        controlled: What the negative control must differ from: the same prompt's answer alone.
    """

    boot: BootRecord
    heard: tuple[Heard, ...]
    again: tuple[Heard, ...]
    control: Answer | None
    controlled: Answer | None

    @property
    def slots(self) -> int:
        """How many slots it has."""
        return int(self.boot.settings["n_parallel"])

    @property
    def alone(self) -> Mapping[str, Answer]:
        """The answer of each text alone, if there is one."""
        return {h.text: h.answer for h in self.heard if h.round is None and h.answer}

    @property
    def looked_at(self) -> list[str]:
        """The texts that are asked alone, too; all others are only there as neighbours."""
        return list(dict.fromkeys(h.text for h in self.heard if h.round is None))

    @property
    def rounds(self) -> list[list[Heard]]:
        """What was sent, round by round."""
        found: dict[int, list[Heard]] = {}
        for heard in self.heard:
            if heard.round is not None:
                found.setdefault(heard.round, []).append(heard)
        return list(found.values())

    def pairs(self) -> list[tuple[Answer | None, Answer | None]]:
        """Return each text's answers alone, on this boot and on its twin."""
        twins = {heard.text: heard.answer for heard in self.again}
        return [
            (h.answer, twins[h.text]) for h in self.heard if h.round is None and h.text in twins
        ]

    def together(self, text: str) -> list[Answer]:
        """Return the answers of one text in company."""
        return [h.answer for h in self.heard if h.round is not None and h.text == text and h.answer]


def read_servers(boots: Sequence[BootRecord]) -> list[Server]:
    """Sort the boots into servers and their twins; the names of boots and asks say which.

    Raises:
        ValueError: An ask has no name of ours.
    """
    answers = counted(boots)
    named = {boot.name: boot for boot in boots}
    return [
        _server(boot, named.get(name + AGAIN), answers)
        for name, boot in named.items()
        if not name.endswith(AGAIN)
    ]


def _server(
    boot: BootRecord, twin: BootRecord | None, answers: Mapping[tuple[str, str], Answer]
) -> Server:
    heard = tuple(_heard(boot, answers))
    controls = [prompt_of(ask) for ask in boot.asks if ask.name == CONTROL]
    alone = [one.answer for one in heard if one.round is None and one.prompt in controls]
    return Server(
        boot=boot,
        heard=heard,
        again=tuple(_heard(twin, answers)) if twin else (),
        control=answers.get((boot.name, CONTROL)),
        controlled=alone[0] if alone else None,
    )


def prompt_of(ask: AskRecord) -> object:
    """Return the prompt of a request, or its messages."""
    return ask.request.get("prompt", ask.request.get("messages"))


def counted(boots: Sequence[BootRecord]) -> dict[tuple[str, str], Answer]:
    """Return the answers that count, by boot and ask.

    They are those with the cache as planned and their probabilities told, of servers that have the
    slots they were to have.
    """
    refused = {
        boot.name
        for boot in boots
        if any(mismatch.name == "n_parallel" for mismatch in boot.mismatches)
    }
    return {
        (a.boot, a.ask): a
        for a in read_answers(boots)
        if a.valid and a.told and a.boot not in refused
    }


def _heard(boot: BootRecord, answers: Mapping[tuple[str, str], Answer]) -> Iterator[Heard]:
    for ask in boot.asks:
        if ask.name == CONTROL:
            continue
        place, _, text = ask.name.partition(" ")
        sent = None if place == ALONE else int(place.partition("/")[0])
        yield Heard(text, sent, ask, answers.get((boot.name, ask.name)))


def seconds(rounds: Sequence[Sequence[Heard]]) -> float:
    """Return how long rounds took in all, by our clock.

    Asks that were sent at once took from the first sending to the last answer, others their sum: a
    run may have been interrupted between them.
    """
    return round(sum(_seconds(one) for one in rounds), 3)


def _seconds(heard: Sequence[Heard]) -> float:
    if heard[0].record.together is None:
        return sum(h.record.outcome.wall_s for h in heard)
    starts = [datetime.fromisoformat(h.record.started).timestamp() for h in heard]
    ends = [start + h.record.outcome.wall_s for start, h in zip(starts, heard, strict=True)]
    return max(ends) - min(starts)


def slots_used(heard: Sequence[Heard]) -> int | None:
    """Return in how many different slots asks were answered; None if the server does not tell."""
    told = {
        h.record.outcome.response.get("id_slot")
        for h in heard
        if h.record.outcome.status == "answered"
    }
    return len(told) if told and all(isinstance(slot, int) for slot in told) else None
