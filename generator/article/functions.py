"""What a template may call: facts, claims, experiments, figures, commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from jinja2 import Environment
from jsonpointer import JsonPointer, JsonPointerException
from markupsafe import Markup, escape
from pydantic import ValidationError

from generator.answers import other_prompts
from generator.article.drawings import Drawings
from generator.article.html import code_spans, excerpt, fenced, finalize, link, marked
from generator.article.provenance import provenance
from generator.article.request import curl, server_command
from generator.article.sent import Sent
from generator.article.shown import Heading, Shown
from generator.article.words import Words
from generator.chat_template import impure
from generator.claims import Judged
from generator.declaration import Experiment, Resolved
from generator.errors import SiteError
from generator.evidence import Evidence
from generator.experiments import kinds
from generator.matrix import SUFFIX, Matrix
from generator.receipt import Receipt
from generator.reported import odd_asks
from generator.schema import Model

UNMEASURED = "—"
# a longer request is folded away, in characters
LONG_REQUEST = 1500


@dataclass
class Functions:
    """The functions of one page in one language."""

    environment: Environment
    evidence: Evidence
    words: Words
    prefix: str
    _plain: dict[str, Any] = field(default_factory=dict)

    def context(self) -> dict[str, Any]:
        """Return everything a template sees."""
        head = self.evidence.declaration.head
        return {
            "lang": self.words.lang,
            "article": self.evidence.declaration.article,
            "head": Heading(head.title, head.summary, head.author),
            "published": head.published,
            "stale": self.evidence.stale,
            "receipts": self.evidence.receipts,
            "matrices": self.evidence.matrices,
            "judged": self.evidence.claims,
            "claim": self.claim,
            "claims": self.evidence.claims.values(),
            "fact": self.fact,
            "facts": self.facts,
            "show": self.show,
            "word": self.word,
            "say": self.say,
            "day": self.words.day,
            "number": self.words.number,
            "request": self.request,
            "code_spans": code_spans,
            "excerpt": excerpt,
            "marked": marked,
            "receipt_link": self.receipt_link,
            "prompt_notes": self.prompt_notes,
            "odd_asks": odd_asks,
            "prefix": self.prefix,
            "measured": self.evidence.receipts.__contains__,
            "partial": self.partial,
            "link_to": self.link_to,
            "measured_on": self.evidence.measured_on,
            **provenance(self.evidence.receipts.values()),
        }

    def word(self, key: str, **values: object) -> Markup:
        """Return a label of ours; the values in it are made inert."""
        return Markup(self.words.label(key, **{k: finalize(v) for k, v in values.items()}))

    def say(self, text: Any) -> Markup:
        """Render a declared sentence (`zh`/`en`), which may itself use facts."""
        return self.prose(text.of(self.words.lang))

    def prose(self, source: str) -> Markup:
        """Render prose of the author's as a template."""
        return Markup(self.environment.from_string(source).render(self.context()))

    def claim(self, name: str) -> Markup:
        """Return the sentence that a claim has today, marked with how it came out."""
        judged = self._judged(name)
        younger = self.word("claim.younger") if judged.younger else ""
        return Markup('<span class="claim {}">{}{}</span>').format(
            judged.outcome, self.sentence(judged), younger
        )

    def sentence(self, judged: Judged) -> Markup:
        """Return the sentence for a claim's outcome."""
        match judged.outcome:
            case "holds":
                return self.say(judged.claim.holds)
            case "fails":
                return self.say(judged.claim.fails)
            case "unmeasured" if judged.apart:
                return self.word("claim.apart")
            case "unmeasured":
                reason = judged.claim.unmeasured
                return self.say(reason) if reason else self.word("claim.unmeasured")

    def _judged(self, name: str) -> Judged:
        if name not in self.evidence.claims:
            raise SiteError(
                f"A template speaks of the claim {name!r}, which is not declared.",
                f"Declare it in {self.evidence.declaration.file}, or correct the name.",
            )
        return self.evidence.claims[name]

    def fact(
        self, experiment: str, pointer: str, digits: int | None = None, *, plain: bool = False
    ) -> Markup:
        """Return a measured value as a link to the place in the receipt where it stands.

        Args:
            experiment: The experiment's name, or a variant's, or `<experiment>.matrix`.
            pointer: JSON pointer (RFC 6901) into its receipt.
            digits: Digits after the point, for numbers that are shown rounded.
            plain: Whether the value is written as in a request, such as a seed.
        """
        record = self._record(experiment)
        if record is None:
            return Markup(UNMEASURED)
        value = self._resolve(record, experiment, pointer)
        if value is None:
            return Markup(UNMEASURED)
        if isinstance(value, dict | list):
            raise SiteError(
                f"A fact points to {experiment}.json {pointer}, which is no single value.",
                "Point to a number, a text, a yes or a no inside it.",
            )
        match value:
            case bool() if plain:
                shown = str(value).lower()
            case bool():
                shown = self.words.label(f"bool.{str(value).lower()}")
            case int() | float() if not plain:
                shown = self.words.number(value, digits)
            case float():
                shown = str(value).removesuffix(".0")
            case _:
                shown = str(value)
        name = f"{experiment}.json"
        return link(
            f"{self.receipt_href(experiment)}#{pointer}", shown, "fact", f"{name} {pointer}"
        )

    def facts(self, experiment: str, pointer: str, field: str = "") -> list[Markup]:
        """Return a fact for each entry of a list in a receipt, or one dash if it is not there.

        Args:
            experiment: As for `fact`.
            pointer: JSON pointer to the list.
            field: JSON pointer from an entry to what is shown of it.
        """
        record = self._record(experiment)
        value = None if record is None else self._resolve(record, experiment, pointer)
        if not isinstance(value, list):
            return [Markup(UNMEASURED)]
        return [self.fact(experiment, f"{pointer}/{i}{field}") for i in range(len(value))]

    def _declared(self, experiment: str) -> Resolved[Experiment]:
        declaration = self.evidence.declaration
        if experiment not in declaration.experiments:
            near = get_close_matches(experiment, declaration.experiments, n=1)
            raise SiteError(
                f"A template speaks of the experiment {experiment!r}, which is not declared.",
                f"Did you mean {near[0]!r}?"
                if near
                else f"Declare it in {declaration.file}, or correct the name.",
            )
        return declaration.experiments[experiment]

    def _analysis(self, receipt: Receipt, schema: type[Model]) -> Model:
        try:
            return schema.model_validate(receipt.analysis)
        except ValidationError as error:
            raise SiteError(
                f"The analysis in {receipt.experiment}.json is not of this program's making.",
                "Recompute it: receipts render --reanalyse",
                [f"/analysis/{'/'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()],
            ) from error

    def _record(self, name: str) -> Receipt | Matrix | None:
        """Return the receipt or the matrix that facts name, or None if it was not measured."""
        if name.endswith(SUFFIX):
            experiment = name.removesuffix(SUFFIX)
            self._declared(experiment)
            return self.evidence.matrices.get(experiment)
        self._declared(name)
        return self.evidence.receipts.get(name)

    def _resolve(self, receipt: Receipt | Matrix, experiment: str, pointer: str) -> Any:
        """Return the value at *pointer*, or None if it, or what it lies in, was not measured."""
        if experiment not in self._plain:
            self._plain[experiment] = receipt.model_dump(mode="json")
        value = self._plain[experiment]
        try:
            path = JsonPointer(pointer)
            for part in path.parts:
                if value is None:
                    return None
                value = path.walk(value, part)
        except JsonPointerException as error:
            raise SiteError(
                f"A fact points to {experiment}.json {pointer}, and nothing is there ({error}).",
                "Correct the pointer in the template, or measure again if the receipt is old.",
            ) from error
        return value

    def receipt_href(self, experiment: str) -> str:
        """Return the address of a receipt from this page."""
        return f"{self.prefix}receipts/{self.evidence.declaration.article}/{experiment}.json"

    def link_to(self, path: str) -> Markup:
        """Return the address of a published file from this page."""
        return escape(self.prefix + path)

    def receipt_link(self, experiment: str) -> Markup:
        """Return a link to a receipt under its file name; before it is measured, the name alone."""
        self._declared(experiment)
        if experiment not in self.evidence.receipts:
            return Markup("<code>{}.json</code>").format(experiment)
        return Markup('<a class="receipt-file" href="{}" download>{}.json</a>').format(
            self.receipt_href(experiment), experiment
        )

    def show(self, experiment: str) -> Markup:
        """Return an experiment as its kind's template shows it."""
        declared = self._declared(experiment)
        receipt = self.evidence.receipts.get(experiment)
        if receipt is None:
            return self.partial("unmeasured", experiment=experiment)
        kind = kinds()[receipt.kind]
        here = _bound(self.fact, experiment)
        result = self._analysis(receipt, kind.analysis)
        drawings = Drawings(experiment, kind.figures(result), self.words.label("figure.data"))
        return self._template(
            f"experiments/{receipt.kind}.md.j2",
            experiment=Shown.of(declared),
            receipt=receipt,
            sent=Sent(receipt, here, self.word("sent.rows")),
            analysis=result,
            figure=drawings.figure,
            download=drawings.download,
            here=here,
        )

    def prompt_notes(self, receipt: Receipt) -> list[Markup]:
        """Say, a sentence each, which answers are not compared for their prompt, and why."""
        differ, unknown = other_prompts(receipt.boots)
        if not differ and not unknown:
            return []
        notes = [
            Markup("{} {}").format(self.words.number(count), self.word(f"note.prompts_{key}"))
            for key, count in (("differ", differ), ("unknown", unknown))
            if count
        ]
        calls = sorted(
            {
                call
                for boot, ask in receipt.asks()
                if ask.endpoint == "chat"
                for call in impure(str(boot.props.get("chat_template", "")))
            },
            key=lambda call: (call.kind, call.line, call.name),
        )
        for kind in ("clock", "random"):
            named = [
                self.word("note.line", name=call.name, line=call.line)
                for call in calls
                if call.kind == kind
            ]
            if named:
                notes.append(self.word(f"note.{kind}", calls=Markup("; ").join(named)))
        return notes

    def partial(self, name: str, **values: Any) -> Markup:
        """Return a shared piece of a page, `templates/partials/<name>.md.j2`."""
        return self._template(f"partials/{name}.md.j2", **values)

    def _template(self, name: str, **values: Any) -> Markup:
        template = self.environment.get_template(name)
        text = template.render({**self.context(), **values})
        return Markup(text.strip())

    def request(self, experiment: str) -> Markup:
        """Return an experiment's first request, whole, and its server, as commands to paste."""
        self._declared(experiment)
        receipt = self.evidence.receipts.get(experiment)
        if receipt is None:
            return Markup(UNMEASURED)
        boot, ask = next(receipt.asks())
        sent = curl(ask.endpoint, ask.request)
        template = receipt.chat_templates.get(str(boot.settings["chat_template"]))
        server = server_command(
            boot,
            receipt.models[boot.model],
            receipt.engines[boot.engine],
            receipt.chat_templates,
        )
        return self.partial(
            "request",
            server=fenced(server, "bash"),
            sent=fenced(sent, "bash"),
            template=None if template is None else template.name,
            long=len(sent) > LONG_REQUEST,
        )


def _bound(fact: Callable[..., Markup], experiment: str) -> Callable[..., Markup]:
    def here(pointer: str, digits: int | None = None, *, plain: bool = False) -> Markup:
        return fact(experiment, pointer, digits, plain=plain)

    return here
