"""Claims: conditions over analyses, and how each one comes out today."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, get_args

from jinja2 import StrictUndefined, TemplateSyntaxError, UndefinedError, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel

from generator.declaration import Claim

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


@dataclass(frozen=True)
class Judged:
    """A claim and how it came out.

    Attributes:
        reason: Why it is unmeasured; empty otherwise.
    """

    name: str
    claim: Claim
    outcome: Outcome
    reason: str

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
    """Return the name of *experiment* in an expression."""
    return experiment.replace("-", "_")


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
    except (UndefinedError, SecurityError, ArithmeticError, TypeError) as error:
        return Judged(name, claim, "unmeasured", str(error))
    return Judged(name, claim, outcome, "")


def expression_faults(when: str, schemas: Mapping[str, type[BaseModel]]) -> list[tuple[str, str]]:
    """Check a claim's expression against the analyses it may look at.

    Args:
        when: The expression.
        schemas: Each experiment's analysis schema.

    Returns:
        Pairs of what is wrong and what is allowed; empty if nothing is.
    """
    try:
        tree = _ENVIRONMENT.parse("{{ (" + when + ") }}")
        _ENVIRONMENT.compile_expression(when)
    except TemplateSyntaxError as error:
        return [(f"not an expression: {error.message}", "write a condition, such as a.b > 1")]
    known = {variable(experiment): schema for experiment, schema in schemas.items()}
    faults = [
        (f"unknown experiment {name.name!r}", _near(name.name, known))
        for name in tree.find_all(nodes.Name)
        if name.ctx == "load" and name.name not in known
    ]
    if not any(True for _ in tree.find_all(nodes.Name)):
        faults.append(("looks at no experiment", "a claim must depend on something measured"))
    for chain in _chains(tree):
        if chain[0] in known:
            faults += _chain_faults(chain, known[chain[0]])
    return faults


def _chains(tree: nodes.Node) -> Iterator[list[str]]:
    """Yield every longest attribute chain, such as ``['five_runs', 'outlier', 'ask']``."""
    inner = {id(get.node) for get in tree.find_all(nodes.Getattr)}
    for get in tree.find_all(nodes.Getattr):
        if id(get) in inner:
            continue
        chain, node = [], get
        while isinstance(node, nodes.Getattr):
            chain.append(node.attr)
            node = node.node  # type: ignore[assignment]
        if isinstance(node, nodes.Name):
            yield [node.name, *reversed(chain)]


def _chain_faults(chain: list[str], schema: type[BaseModel]) -> list[tuple[str, str]]:
    current: type[BaseModel] | None = schema
    for depth, attribute in enumerate(chain[1:], start=1):
        if current is None:
            return []
        if attribute not in current.model_fields:
            where = ".".join(chain[:depth])
            return [(f"{where} has no {attribute!r}", _near(attribute, current.model_fields))]
        current = _model_in(current.model_fields[attribute].annotation)
    return []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field holds (`X` or `X | None`), or None for anything else."""
    options = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    models = [o for o in options if isinstance(o, type) and issubclass(o, BaseModel)]
    return models[0] if len(models) == 1 else None


def _near(word: str, allowed: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(word, allowed, n=1)
    return f"did you mean {close[0]!r}?" if close else f"one of {', '.join(allowed)}"
