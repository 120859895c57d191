"""What company did, as data: who was sent at once, what each text gave, and how sure that is."""

from __future__ import annotations

from typing import Literal

from generator.analysis import Divergence
from generator.schema import Count, Model
from generator.sweeps.result import Group

Outcome = Literal["same", "drifts", "moves", "unstable", "detector_broken", "unmeasured"]


class Fork(Model):
    """A token that answers have where they first part, and how many have it; null if they ended."""

    token: str | None
    answers: Count


class Told(Model):
    """One text on one server: its answers in company, beside its answer alone.

    Attributes:
        alone: The group of the answer that it gave alone.
        together: How many answers in company fell into which group.
        unique: How many different answers came in company, by tokens; `variants` by probabilities.
        same_as_alone: Answers in company with the tokens of the one alone; `bitwise_as_alone` with
            all its log probabilities too. Null if it was not answered alone.
        shared_tokens: Opening tokens that all answers in company share; null if they are one.
        split: Where these answers part, which token is how frequent; empty if they do not.
        largest_drift: The largest change of a log probability against the answer alone, in nats.
    """

    prompt: str
    prompt_tokens: Count | None
    alone: str | None
    together: dict[str, Count]
    answers: Count
    unique: Count
    variants: Count
    same_as_alone: Count | None
    bitwise_as_alone: Count | None
    shared_tokens: Count | None
    split: list[Fork]
    largest_drift: float | None


class Line(Model):
    """One number of slots; what is counted are the texts that are looked at, not their neighbours.

    Attributes:
        at_once: How many asks were sent at once.
        slots_used: In how many slots the server really put them; null if it does not tell.
        alone_repeats: Whether all texts repeat alone on a fresh boot, bit for bit.
        answers: Answers in company.
        unique: The most different answers, by tokens, that one text gave in company.
        sizes: How many answers each of these has, the largest first.
        shared_tokens: Opening tokens that all answers of that text share.
        split: Where that text's answers part.
        moved: Texts of which company moved a token against the answer alone; `drifted` those of
            which it changed log probabilities, moved ones included.
        distinct_rounds: How many rounds differ in any token, where each sent the same.
        seconds: How long all rounds took, by our clock.
        tokens_per_second: Tokens generated in this time, neighbours' included.
    """

    boot: str
    slots: Count
    at_once: Count
    rounds: Count
    slots_used: Count | None
    alone_repeats: bool | None
    answers: Count
    unique: Count | None
    sizes: list[Count]
    shared_tokens: Count | None
    split: list[Fork]
    same_as_alone: Count | None
    bitwise_as_alone: Count | None
    texts: Count
    moved: Count | None
    drifted: Count | None
    distinct_rounds: Count | None
    largest_drift: float | None
    seconds: float | None
    tokens_per_second: float | None
    told: list[Told]


class Given(Model):
    """A text's different answers, alone and in company; the first is the one alone."""

    prompt: str
    groups: list[Group]


class Result(Model):
    """What company did at every number of slots.

    Attributes:
        outcome: *Moves*: an answer in company has other tokens than alone on the same server.
            *Drifts*: none has, but log probabilities differ. *Same*: not even that. *Unstable*:
            alone, a text does not repeat on a fresh boot, so company cannot be blamed. *Detector
            broken*: the negative control looks like the answer it must differ from. *Unmeasured*:
            there is nothing to compare.
        gpu_layers: How many layers the server was told to give to a GPU; null if none.
        detector_works: Whether the negative control, another seed at a high temperature, differs.
        aa_identical: Whether every text repeats alone on a fresh boot, bit for bit.
        slots_alone_same: Whether the number of slots alone, without company, leaves all tokens as
            they are; `slots_alone_bitwise` all log probabilities too. Null without two numbers.
        compared: Answers in company that have one alone beside them; null unless both controls
            hold. So are `flips`, those of other tokens, and `drifts`, those of other probabilities.
        unique: The most different answers that one text gave in company at one number of slots;
            `unique_anywhere` at all of them, and alone.
    """

    asked: Count
    answered: Count
    failed: Count
    invalid: Count
    outcome: Outcome
    gpu_layers: Count | None
    detector_works: bool | None
    aa_identical: bool | None
    slots_alone_same: bool | None
    slots_alone_bitwise: bool | None
    compared: Count | None
    flips: Count | None
    drifts: Count | None
    unique: Count | None
    unique_anywhere: Count | None
    first_flip: Divergence | None
    largest_drift: float | None
    lines: list[Line]
    outputs: list[Given]
