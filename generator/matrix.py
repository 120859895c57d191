"""The matrix of an experiment's variants: which asks give the same tokens across engines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from generator import analysis
from generator.answers import Answer, read_answers
from generator.canonical import pretty
from generator.claims import MATRIX
from generator.host import Machine, machine
from generator.receipt import Receipt, render
from generator.schema import Count, IsoDate, Model, NonEmpty, Sha256

SUFFIX = MATRIX


class Member(Model):
    """One variant: its pins, its machine, and the receipt that its answers were read from."""

    variant: NonEmpty
    model: NonEmpty
    engine: NonEmpty
    machine: Machine
    os: NonEmpty
    measured_on: IsoDate
    receipt_sha256: Sha256


class Cell(Model):
    """One variant's answer to one ask.

    Attributes:
        group: Which of the row's different answers it is, from 0; null if it cannot be compared,
            since it failed, used the cache otherwise than planned, or was asked something else.
        bitwise: Whether it also has the first member's log probabilities.
        divergence: Where it leaves the first member's answer.
    """

    group: Count | None
    bitwise: bool | None
    divergence: analysis.Divergence | None


class Row(Model):
    """One ask over all variants; *same* is null unless every variant can be compared."""

    boot: NonEmpty
    ask: NonEmpty
    same: bool | None
    cells: list[Cell]


class Matrix(Model):
    """Which asks give the same tokens in every variant of an experiment.

    Members that were measured on different machines are no evidence on what else differs between
    them, so the counts on which a claim could rest are null then; the rows still show what is.

    Attributes:
        one_machine: Whether all members were measured on one machine.
        compared: How many asks every variant answered comparably.
        same: How many of them have the same tokens everywhere; `differ` counts the others.
        bitwise: How many have the same log probabilities too.
        first_flip: The earliest token at which a variant leaves the first member.
    """

    schema_version: Literal[2]
    experiment: NonEmpty
    members: list[Member]
    one_machine: bool
    compared: Count
    same: Count | None
    differ: Count | None
    bitwise: Count | None
    first_flip: Count | None
    rows: list[Row]


Key = tuple[str, str]


def compare_variants(experiment: str, receipts: Mapping[str, Receipt]) -> Matrix:
    """Compare the answers of an experiment's variants, ask by ask; pure.

    Args:
        experiment: The experiment.
        receipts: The receipts of two or more variants by name, the first member in front.
    """
    answers = {name: dict(_comparable(receipt)) for name, receipt in receipts.items()}
    requests = {name: dict(_requests(receipt)) for name, receipt in receipts.items()}
    first = next(iter(receipts))
    rows = [
        _row(
            key,
            [
                answers[name].get(key) if requests[name].get(key) == requests[first][key] else None
                for name in receipts
            ],
        )
        for key in requests[first]
    ]
    compared = [row for row in rows if row.same is not None]
    members = [_member(name, receipt) for name, receipt in receipts.items()]
    one_machine = all(member.machine == members[0].machine for member in members)
    flips = [cell.divergence.token for row in rows for cell in row.cells if cell.divergence]
    return Matrix(
        schema_version=2,
        experiment=experiment,
        members=members,
        one_machine=one_machine,
        compared=len(compared),
        same=sum(bool(row.same) for row in compared) if one_machine else None,
        differ=sum(not row.same for row in compared) if one_machine else None,
        bitwise=sum(all(cell.bitwise for cell in row.cells) for row in compared)
        if one_machine
        else None,
        first_flip=min(flips, default=None) if one_machine else None,
        rows=rows,
    )


def _member(name: str, receipt: Receipt) -> Member:
    declared = receipt.declaration.experiment
    return Member(
        variant=name,
        model=str(declared["model"]),
        engine=str(declared["engine"]),
        machine=machine(receipt.host),
        os=receipt.host.os,
        measured_on=receipt.measured_on,
        receipt_sha256=hashlib.sha256(render(receipt).encode()).hexdigest(),
    )


def _comparable(receipt: Receipt) -> Iterator[tuple[Key, Answer]]:
    for answer in read_answers(receipt.boots):
        if answer.valid:
            yield (answer.boot, answer.ask), answer


def _requests(receipt: Receipt) -> Iterator[tuple[Key, dict[str, object]]]:
    """Yield what each ask sent and what prompt was made of it, without what came of it."""
    for boot, ask in receipt.asks():
        sent: dict[str, object] = {
            "endpoint": ask.endpoint,
            "cache": ask.cache,
            "request": ask.request,
            "prompt": ask.prompt,
        }
        yield (boot.name, ask.name), sent


def _row(key: Key, answers: list[Answer | None]) -> Row:
    seen: list[Answer] = []
    cells = []
    baseline = answers[0]
    for answer in answers:
        if answer is None or baseline is None:
            cells.append(Cell(group=None, bitwise=None, divergence=None))
            continue
        group = next((i for i, one in enumerate(seen) if analysis.same_tokens(one, answer)), None)
        if group is None:
            group = len(seen)
            seen.append(answer)
        found = analysis.compare(baseline, answer)
        cells.append(Cell(group=group, bitwise=found.bitwise, divergence=found.divergence))
    whole = all(cell.group is not None for cell in cells)
    return Row(
        boot=key[0],
        ask=key[1],
        same=len(seen) == 1 if whole else None,
        cells=cells,
    )


def matrix_path(root: Path, article: str, experiment: str) -> Path:
    """Return where the matrix of *article*'s *experiment* lies below *root*."""
    return root / "receipts" / article / f"{experiment}{SUFFIX}.json"


def render_matrix(matrix: Matrix) -> str:
    """Return the text of the matrix's file."""
    return pretty(matrix.model_dump(mode="json"))
