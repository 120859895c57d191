"""What an article may speak of: its declaration, its receipts, and how its claims come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.claims import Judged, expression_faults, judge
from generator.declaration import (
    AS_DECLARED,
    Declaration,
    Override,
    declaration_paths,
    read_declaration,
)
from generator.errors import Fault, InputError, ReceiptsError
from generator.experiments import kinds
from generator.receipt import Receipt, read, receipt_path
from generator.yamlfile import load


@dataclass(frozen=True)
class Evidence:
    """A declaration with the receipts there are; an experiment without one is unmeasured."""

    declaration: Declaration
    receipts: Mapping[str, Receipt]
    claims: Mapping[str, Judged]

    @property
    def measured_on(self) -> str | None:
        """The day of the last measurement (ISO 8601), or None if nothing was measured."""
        return max((receipt.measured_on for receipt in self.receipts.values()), default=None)


def gather(declaration: Declaration, receipts: Mapping[str, Receipt]) -> Evidence:
    """Judge a declaration's claims by *receipts*; pure."""
    analyses = {name: receipt.analysis for name, receipt in receipts.items()}
    return Evidence(
        declaration,
        receipts,
        {name: judge(name, claim, analyses) for name, claim in declaration.head.claims.items()},
    )


def articles(root: Path) -> list[str]:
    """Return the names of all articles that are declared below *root*.

    Raises:
        ReceiptsError: There are none, so this is not a project.
    """
    names = [path.stem for path in declaration_paths(root)]
    if not names:
        raise ReceiptsError(
            "There is no declaration here: receipts/*.yaml matches nothing.",
            "Change to the project's folder, or name it with --root.",
        )
    return names


def declare(root: Path, article: str, override: Override = AS_DECLARED) -> Declaration:
    """Read a declaration and check its claims against the kinds' analyses.

    Raises:
        InputError: With every fault of the file.
    """
    known = kinds()
    declaration = read_declaration(
        root, article, {name: kind.experiment for name, kind in known.items()}, override
    )
    schemas = {
        name: known[experiment.spec.kind].analysis
        for name, experiment in declaration.experiments.items()
    }
    document = load(root / declaration.file, name=declaration.file)
    faults = [
        Fault(
            declaration.file,
            *document.where(("claims", name, "when")),
            f"$.claims.{name}.when",
            problem,
            remedy,
        )
        for name, claim in declaration.head.claims.items()
        for problem, remedy in expression_faults(claim.when, schemas)
    ]
    if faults:
        raise InputError(faults)
    return declaration


def read_receipts(root: Path, declaration: Declaration) -> dict[str, Receipt]:
    """Read the receipts that a declaration's experiments have."""
    found = {}
    for name in declaration.experiments:
        path = receipt_path(root, declaration.article, name)
        if path.is_file():
            found[name] = read(path, name=path.relative_to(root).as_posix())
    return found


def read_evidence(root: Path, article: str) -> Evidence:
    """Read an article's declaration and receipts and judge its claims."""
    declaration = declare(root, article)
    return gather(declaration, read_receipts(root, declaration))
