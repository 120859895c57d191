"""What an article may speak of: its declaration, its receipts, and how its claims come out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from generator.claims import Judged, compared, expression_faults, judge, looks_at, variable
from generator.declaration import (
    AS_DECLARED,
    Declaration,
    Override,
    declaration_paths,
    variants,
)
from generator.declaration_reader import mapping, read_declaration
from generator.errors import COMMAND_LINE, Fault, InputError
from generator.experiments import kinds
from generator.host import machine
from generator.matrix import SUFFIX, Matrix, compare_variants
from generator.receipt import Receipt, read, receipt_path
from generator.schema import Model
from generator.staleness import Change, stale
from generator.yamlfile import Document, load, path_text


@dataclass(frozen=True)
class Evidence:
    """A declaration with the receipts there are; an experiment without one is unmeasured.

    Attributes:
        receipts: Each variant's receipt by its name.
        matrices: The matrix of each experiment of which several variants were measured.
        stale: What was changed since a receipt was measured, by its name; none if it is current.
    """

    declaration: Declaration
    receipts: Mapping[str, Receipt]
    matrices: Mapping[str, Matrix]
    claims: Mapping[str, Judged]
    stale: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)

    @property
    def measured_on(self) -> str | None:
        """The day of the last measurement (ISO 8601), or None if nothing was measured."""
        return max((receipt.measured_on for receipt in self.receipts.values()), default=None)


def gather(declaration: Declaration, receipts: Mapping[str, Receipt]) -> Evidence:
    """Judge a declaration's claims by *receipts*; pure."""
    matrices = compare_all(declaration, receipts)
    analyses: dict[str, Mapping[str, Any]] = {
        name: receipt.analysis for name, receipt in receipts.items()
    }
    for name, matrix in matrices.items():
        analyses[name + SUFFIX] = matrix.model_dump(mode="json")
    changed = stale(declaration, receipts)
    younger = {
        change.name
        for changes in changed.values()
        for change in changes
        if change.kind in ("condition", "added")
    }
    claims = {}
    for name, claim in declaration.head.claims.items():
        judged = judge(name, claim, analyses)
        if _apart(claim.when, receipts, matrices):
            reason = "it compares receipts of different machines"
            judged = Judged(name, claim, "unmeasured", reason, apart=True)
        claims[name] = replace(judged, younger=name in younger)
    return Evidence(declaration, receipts, matrices, claims, changed)


def _apart(when: str, receipts: Mapping[str, Receipt], matrices: Mapping[str, Matrix]) -> bool:
    """Whether a condition compares receipts of different machines, by a matrix or directly."""
    machines = {variable(name): machine(receipt.host) for name, receipt in receipts.items()}
    matrix = {variable(name + SUFFIX): matrix.one_machine for name, matrix in matrices.items()}
    groups = [[machines[one] for one in group & machines.keys()] for group in compared(when)]
    return any(one != group[0] for group in groups for one in group) or not all(
        matrix.get(one, True) for one in looks_at(when)
    )


def compare_all(declaration: Declaration, receipts: Mapping[str, Receipt]) -> dict[str, Matrix]:
    """Compare the measured variants of every experiment that has several; pure."""
    matrices = {}
    for experiment in declaration.firsts:
        measured = {n: receipts[n] for n in declaration.variants(experiment) if n in receipts}
        if len(measured) > 1:
            matrices[experiment] = compare_variants(experiment, measured)
    return matrices


def articles(root: Path) -> list[str]:
    """Return the names of all articles that are declared below *root*.

    Raises:
        InputError: There are none, so this is not a project, or one has the name of the list of
            articles.
    """
    names = [path.stem for path in declaration_paths(root)]
    if "index" in names:
        problem = "an article cannot be called `index`: the list of articles has that address"
        raise InputError([Fault("receipts/index.yaml", 1, 1, "$", problem, "rename the file")])
    if not names:
        problem = f"there is no declaration in {root}: receipts/*.yaml matches nothing"
        remedy = "change to the project's folder, or name it with --root"
        raise InputError([Fault(COMMAND_LINE, 1, 1, "--root", problem, remedy)])
    return names


def declare(root: Path, article: str, override: Override = AS_DECLARED) -> Declaration:
    """Read a declaration and check its claims against the kinds' analyses.

    Raises:
        InputError: With every fault of the file.
    """
    known = kinds()
    file = f"receipts/{article}.yaml"
    document = load(root / file, name=file)
    faults = _claim_faults(document)
    try:
        declaration = read_declaration(
            root, document, {name: kind.experiment for name, kind in known.items()}, override
        )
    except InputError as error:
        raise InputError([*error.faults, *faults]) from error
    if faults:
        raise InputError(faults)
    return declaration


def _claim_faults(document: Document) -> list[Fault]:
    """Check the claims' conditions, as far as what they look at can be read."""
    known = kinds()
    defaults = mapping(document.data.get("defaults"))
    schemas: dict[str, type[Model] | None] = {}
    for name, raw in mapping(document.data.get("experiments")).items():
        kind = mapping(raw).get("kind")
        schema = known[kind].analysis if isinstance(kind, str) and kind in known else None
        pins = [_names(mapping(raw).get(k) or defaults.get(k)) for k in ("model", "engine")]
        of_variants = variants(name, *pins) if all(pins) else {name: ("", "")}
        schemas |= dict.fromkeys(of_variants, schema)
        if len(of_variants) > 1:
            schemas[name + SUFFIX] = Matrix
    conditions = {
        ("claims", name, "when"): when
        for name, raw in mapping(document.data.get("claims")).items()
        if isinstance(when := mapping(raw).get("when"), str) and when.strip()
    }
    return [
        Fault(document.name, *document.where(path), path_text(path), problem, remedy)
        for path, when in conditions.items()
        for problem, remedy in expression_faults(when, schemas)
    ]


def _names(value: Any) -> list[str]:
    """Return the pins that a declaration names, as far as they can be read."""
    listed = value if isinstance(value, list) else [value]
    return [name for name in listed if isinstance(name, str)]


def read_receipts(root: Path, declaration: Declaration) -> dict[str, Receipt]:
    """Read the receipts that a declaration's experiments have."""
    found = {}
    for name in declaration.experiments:
        path = receipt_path(root, declaration.article, name)
        if os.path.lexists(path):  # what is no file, or leads nowhere, is no missing receipt
            found[name] = read(path, name=path.relative_to(root).as_posix())
    return found


def read_evidence(root: Path, article: str) -> Evidence:
    """Read an article's declaration and receipts and judge its claims."""
    declaration = declare(root, article)
    return gather(declaration, read_receipts(root, declaration))
