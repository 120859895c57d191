"""Claims: conditions over analyses, and how each one comes out today."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, get_args

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel

from generator.declaration import Claim, Declaration
from generator.errors import near_miss

Outcome = Literal["holds", "fails", "unmeasured"]
Verdict = Literal["same", "different", "unmeasurable"]


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox in which a value that was not measured stays undefined instead of being None."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        value = super().getattr(obj, attribute)
        return self.undefined(hint=f"{attribute} was not measured") if value is None else value

    def getitem(self, obj: Any, argument: Any) -> Any:
        value = super().getitem(obj, argument)
        return self.undefined(hint=f"{argument} was not measured") if value is None else value


_ENVIRONMENT = _Environment(undefined=StrictUndefined)
_ENVIRONMENT.globals.clear()  # a claim calls nothing
_ALLOWED = (
    *(nodes.And, nodes.Or, nodes.Not, nodes.Compare, nodes.Name, nodes.Const, nodes.Getattr),
    *(nodes.Getitem, nodes.Filter, nodes.Test, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div),
    *(nodes.FloorDiv, nodes.Mod, nodes.Neg, nodes.Pos, nodes.List, nodes.Tuple, nodes.CondExpr),
)
MATRIX = ".matrix"
"""What follows an experiment's name in the name of its matrix."""
_SCALARS = (int, float, str, bool)


@dataclass(frozen=True)
class Judged:
    """A claim and how it came out.

    Attributes:
        reason: Why it is unmeasured; empty otherwise.
        younger: Whether its condition was written after what it looks at was measured.
        apart: Whether it compares receipts of different machines, which leaves it unmeasured.
    """

    name: str
    claim: Claim
    outcome: Outcome
    reason: str
    younger: bool = False
    apart: bool = False

    @property
    def holds(self) -> bool:
        """Whether the condition is true today."""
        return self.outcome == "holds"

    @property
    def fails(self) -> bool:
        """Whether the condition is false today."""
        return self.outcome == "fails"

    @property
    def verdict(self) -> Verdict | None:
        """How today compares with what was published; None if nothing was."""
        if self.claim.published is None:
            return None
        if self.outcome == "unmeasured":
            return "unmeasurable"
        return "same" if self.holds == self.claim.published.holds else "different"


def variable(experiment: str) -> str:
    """Return the name of *experiment*, of its variant or its matrix, in an expression."""
    return re.sub(r"[^a-z0-9]", "_", experiment)


def conditions(declaration: Declaration, experiment: str) -> dict[str, str]:
    """Return the condition of each claim that looks at a variant of an experiment, by name.

    Args:
        declaration: The declaration.
        experiment: The variant's name. A claim that looks at the experiment's matrix looks at it.
    """
    resolved = declaration.experiments[experiment]
    seen = {variable(experiment), variable(resolved.experiment + MATRIX)}
    return {
        name: claim.when
        for name, claim in declaration.head.claims.items()
        if seen & looks_at(claim.when)
    }


def looks_at(when: str) -> set[str]:
    """Return the variables of a sound condition: the experiments, variants and matrices it uses."""
    parsed = Parser(_ENVIRONMENT, when, state="variable").parse_expression()
    return {node.name for node in nodes.Output([parsed]).find_all(nodes.Name)}


def compared(when: str) -> list[set[str]]:
    """Return which variables a sound condition sets against each other, or calculates with.

    `a.x > 0 and b.y > 0` says something of each by itself; `a.x > b.y` compares the two.
    """
    parsed = Parser(_ENVIRONMENT, when, state="variable").parse_expression()
    mixing = nodes.Output([parsed]).find_all((nodes.Compare, nodes.BinExpr, nodes.Test))
    groups = [
        {name.name for name in node.find_all(nodes.Name)}
        for node in mixing
        if not isinstance(node, nodes.And | nodes.Or)
    ]
    return [group for group in groups if len(group) > 1]


def judge(name: str, claim: Claim, analyses: Mapping[str, Mapping[str, Any]]) -> Judged:
    """Decide one claim.

    Args:
        name: The claim's name.
        claim: The claim.
        analyses: Each measured experiment's analysis as plain data; one that is absent or has a
            null where the claim looks makes the claim unmeasured.
    """
    names = {variable(experiment): value for experiment, value in analyses.items()}
    try:
        compiled = _ENVIRONMENT.compile_expression(claim.when, undefined_to_none=False)
        result = compiled(**names)
        outcome: Outcome = "holds" if bool(result) else "fails"
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return Judged(name, claim, "unmeasured", str(error))
    return Judged(name, claim, outcome, "")


def expression_faults(
    when: str, schemas: Mapping[str, type[BaseModel] | None]
) -> list[tuple[str, str]]:
    """Check a claim's expression against the analyses it may look at.

    Args:
        when: The expression.
        schemas: Each experiment's analysis schema; None if its kind is unknown, which is a fault
            of the experiment and not of the claim.

    Returns:
        Pairs of what is wrong and what is allowed; empty if nothing is.
    """
    try:
        tree = nodes.Output([Parser(_ENVIRONMENT, when, state="variable").parse_expression()])
        refused = [node for node in tree.find_all(nodes.Expr) if not isinstance(node, _ALLOWED)]
        if not refused:
            _ENVIRONMENT.compile_expression(when)
    except (TemplateSyntaxError, SyntaxError, ValueError, RecursionError) as error:
        message = getattr(error, "message", None) or type(error).__name__
        return [(f"not an expression: {message}", "write a condition, such as a.b > 1")]
    if refused:
        return [(f"{type(refused[0]).__name__} is not allowed", "compare values of an analysis")]
    known = {variable(experiment): schema for experiment, schema in schemas.items()}
    names = list(tree.find_all(nodes.Name))
    faults = [
        (f"unknown experiment {name.name!r}", near_miss(name.name, known))
        for name in names
        if name.name not in known
    ]
    if not names:
        faults.append(("looks at no experiment", "a claim must depend on something measured"))
    for chain in _chains(tree):
        faults += _chain_faults(chain, known.get(chain[0]))
    return faults


def _chains(tree: nodes.Node) -> Iterator[list[str]]:
    """Yield every longest chain of named fields, such as ``['five_runs', 'outlier', 'ask']``."""
    steps: list[nodes.Getattr | nodes.Getitem] = [
        *tree.find_all(nodes.Getattr),
        *tree.find_all(nodes.Getitem),
    ]
    inner = {id(step.node) for step in steps}
    for step in steps:
        if id(step) in inner:
            continue
        chain: list[str] = []
        node: nodes.Node = step
        while isinstance(node, nodes.Getattr | nodes.Getitem):
            chain.append(_field(node))
            node = node.node
        # what hangs on anything but a name has no schema, and is still no place for `__…__`
        yield [node.name if isinstance(node, nodes.Name) else "", *reversed(chain)]


def _field(node: nodes.Getattr | nodes.Getitem) -> str:
    """Return the field that *node* takes (`a.b` or `a["b"]`); of a list's entry, nothing."""
    if isinstance(node, nodes.Getattr):
        return node.attr
    return str(node.arg.value) if isinstance(node.arg, nodes.Const) else ""


def _chain_faults(chain: list[str], schema: type[BaseModel] | None) -> list[tuple[str, str]]:
    hidden = [field for field in chain[1:] if field.startswith("_")]
    if hidden:
        return [(f"{hidden[0]!r} is not allowed", "look at fields of an analysis")]
    for depth, attribute in enumerate(chain[1:], start=1):
        if schema is None:
            return []
        where = ".".join(chain[:depth])
        if attribute not in schema.model_fields:
            return [(f"{where} has no {attribute!r}", near_miss(attribute, schema.model_fields))]
        annotation = schema.model_fields[attribute].annotation
        schema = _model_in(annotation)
        if annotation in _SCALARS and depth + 1 < len(chain):
            return [(f"{where}.{attribute} has no fields", f"write {where}.{attribute} alone")]
    return []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field holds (`X` or `X | None`), or None for anything else."""
    options = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    models = [o for o in options if isinstance(o, type) and issubclass(o, BaseModel)]
    return models[0] if len(models) == 1 else None
