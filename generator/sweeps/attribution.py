"""Who moved the token: settings are blamed, acquitted or found to be remedies by their outputs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from generator.sweeps.designs import Cell, factor_of

Role = Literal["mover", "joint", "alters", "drifts", "silent", "open", "idle"]
"""What a setting did, the gravest first.

- mover: alone, it moves a token of the baseline.
- joint: it is needed to move a token that none of its accomplices moves without it.
- alters: beside other settings it changed a token, as a remedy does; by itself it moved none.
- drifts: it changed log probabilities and no token.
- silent: it changed nothing at all.
- idle: nor did it change what the server reports to be in effect, so that nothing was tried.
- open: something that it was to be compared with is missing or unstable.
"""
GRAVITY: tuple[Role, ...] = ("mover", "joint", "alters", "open", "drifts", "silent", "idle")


@dataclass(frozen=True)
class Output:
    """What a stable cell put out, twice: its tokens, and its tokens with every log probability."""

    tokens: Hashable
    bits: Hashable


Outputs = Mapping[Cell, Output]
"""Every stable cell's output; the baseline, which changes nothing, is among them."""


def flips(outputs: Outputs) -> list[Cell]:
    """Return the cells whose tokens are not the baseline's, the smallest first."""
    baseline = outputs[frozenset()]
    moved = [cell for cell, output in outputs.items() if output.tokens != baseline.tokens]
    return sorted(moved, key=len)


def movers(outputs: Outputs) -> list[Cell]:
    """Return the smallest sets of settings that move a token.

    A set is one of them if its cell flips and no part of it does, each part being measured.
    """
    flipped = flips(outputs)
    return [
        cell
        for cell in flipped
        if all(part in outputs and part not in flipped for part in _parts(cell))
    ]


def _parts(cell: Cell) -> list[Cell]:
    """Return every set of some of a cell's settings, but not of all and not of none."""
    return [
        frozenset(part) for size in range(1, len(cell)) for part in combinations(sorted(cell), size)
    ]


def unexplained(outputs: Outputs, found: Sequence[Cell]) -> list[Cell]:
    """Return the flips that none of the *found* movers is a part of."""
    return [cell for cell in flips(outputs) if not any(mover <= cell for mover in found)]


def role(
    setting: str,
    outputs: Outputs,
    planned: Collection[Cell],
    found: Sequence[Cell],
    idle: Collection[str] = (),
) -> Role:
    """Return what one setting did.

    Args:
        setting: A setting which is not the baseline's, such as `repack=false`.
        outputs: The stable cells.
        planned: Every cell of the design.
        found: The movers.
        idle: Settings that changed nothing of what the server reports to be in effect.
    """
    mine = [mover for mover in found if setting in mover]
    if mine:
        return "mover" if frozenset({setting}) in mine else "joint"
    pairs = [(cell - {setting}, cell) for cell in planned if setting in cell]
    told = [
        (outputs[without], outputs[cell])
        for without, cell in pairs
        if without in outputs and cell in outputs
    ]
    if any(without.tokens != cell.tokens for without, cell in told):
        return "alters"
    if not told or len(told) < len(pairs):
        return "open"
    if any(without.bits != cell.bits for without, cell in told):
        return "drifts"
    return "idle" if setting in idle else "silent"


def gravest(roles: Collection[Role]) -> Role:
    """Return the role of a factor: the gravest among those of its levels."""
    return min(roles, key=GRAVITY.index)


@dataclass(frozen=True)
class Removal:
    """What a setting does to the movers: with it set, does adding a mover still move a token?

    Attributes:
        setting: The setting, such as `cache_prompt=false`.
        removes: Movers that move nothing beside it.
        leaves: Movers that still move a token beside it.
        untried: Movers that were not tried beside it.
        bitwise: Whether what it removes leaves no trace in any probability either.
        keeps_baseline: Whether, alone, it gives the baseline's tokens.
    """

    setting: str
    removes: tuple[Cell, ...]
    leaves: tuple[Cell, ...]
    untried: tuple[Cell, ...]
    bitwise: bool
    keeps_baseline: bool


def removal(setting: str, outputs: Outputs, found: Sequence[Cell]) -> Removal | None:
    """Return what *setting* does to the movers of other factors; None if none was tried with it."""
    alone = outputs.get(frozenset({setting}))
    if alone is None:
        return None
    removes, leaves, untried = [], [], []
    for mover in found:
        if factor_of(setting) in map(factor_of, mover):
            continue  # it cannot be set beside another level of itself
        both = outputs.get(mover | {setting})
        if both is None:
            untried.append(mover)
        elif both.tokens == alone.tokens:
            removes.append(mover)
        else:
            leaves.append(mover)
    if not removes and not leaves:
        return None
    return Removal(
        setting,
        tuple(removes),
        tuple(leaves),
        tuple(untried),
        bitwise=all(outputs[mover | {setting}].bits == alone.bits for mover in removes),
        keeps_baseline=alone.tokens == outputs[frozenset()].tokens,
    )
