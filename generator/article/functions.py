"""What a template may call: facts, claims, experiments, figures, commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment
from jsonpointer import JsonPointer, JsonPointerException
from markupsafe import Markup, escape
from pydantic import ValidationError

from generator.answers import other_prompts
from generator.article.drawings import Drawings
from generator.article.faults import WrongCallError, placed_faults
from generator.article.html import code_spans, excerpt, fenced, finalize, link, marked
from generator.article.provenance import provenance
from generator.article.request import curl, server_command
from generator.article.sent import Sent
from generator.article.shown import Heading, Shown
from generator.article.words import Words
from generator.chat_template import impure
from generator.claims import Judged
from generator.declaration import Experiment, Resolved
from generator.errors import Fault, SiteError, near_miss
from generator.evidence import Evidence
from generator.experiments import kinds
from generator.matrix import SUFFIX, Matrix
from generator.receipt import Receipt
from generator.reported import odd_asks
from generator.schema import Model
from generator.yamlfile import path_text

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
        """Render a declared sentence in one language, which is a template itself."""
        with placed_faults(self._place_of(source)):
            return Markup(self.environment.from_string(source).render(self.context()))

    def _place_of(self, sentence: str) -> Fault:
        document = self.evidence.declaration.document
        path = next((path for path in document.places if document.at(path) == sentence), ())
        line, column = document.where(path)
        return Fault(document.name, line, column, path_text(path), "", "Mend the sentence")

    def claim(self, name: str) -> Markup:
        """Return the sentence that a claim has today, marked with how it came out."""
        judged = self.outcome(name)
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

    def outcome(self, name: str) -> Judged:
        """Return how a claim came out."""
        if name not in self.evidence.claims:
            raise WrongCallError(
                f"no claim {name!r} is declared", near_miss(name, self.evidence.claims)
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
        value = self.value(experiment, pointer)
        if value is None:
            return Markup(UNMEASURED)
        if isinstance(value, dict | list):
            raise WrongCallError(
                f"{experiment}.json {pointer} is no single value",
                "Point to a number, a text, a yes or a no inside it",
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
        value = self.value(experiment, pointer)
        if not isinstance(value, list):
            return [Markup(UNMEASURED)]
        return [self.fact(experiment, f"{pointer}/{i}{field}") for i in range(len(value))]

    def declared(self, experiment: str) -> Resolved[Experiment]:
        """Return an experiment as it is declared."""
        declaration = self.evidence.declaration
        if experiment not in declaration.experiments:
            raise WrongCallError(
                f"no experiment {experiment!r} is declared",
                near_miss(experiment, declaration.experiments),
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
            self.declared(experiment)
            return self.evidence.matrices.get(experiment)
        self.declared(name)
        return self.evidence.receipts.get(name)

    def value(self, experiment: str, pointer: str) -> Any:
        """Return what stands at *pointer*, or None if it, or what it lies in, was not measured.

        Args:
            experiment: As for `fact`.
            pointer: JSON pointer (RFC 6901) into its receipt.

        Raises:
            WrongCallError: The experiment is not declared, or its receipt has no such place.
        """
        record = self._record(experiment)
        if record is None:
            return None
        if experiment not in self._plain:
            self._plain[experiment] = record.model_dump(mode="json")
        value = self._plain[experiment]
        try:
            parts = JsonPointer(pointer).parts
        except JsonPointerException as error:
            raise WrongCallError(f"{pointer!r} is no JSON pointer", f"{error}") from error
        for index, part in enumerate(parts):
            match value:
                case None:
                    return None
                case dict() if part in value:
                    value = value[part]
                case list() if part.isdecimal() and int(part) < len(value):
                    value = value[int(part)]
                case _:
                    within = f"/{'/'.join(parts[:index])}" if index else "the receipt"
                    raise WrongCallError(
                        f"{experiment}.json has no {pointer}: there is no {part!r} in {within}",
                        _instead(value, part),
                    )
        return value

    def receipt_href(self, experiment: str) -> str:
        """Return the address of a receipt from this page."""
        return f"{self.prefix}receipts/{self.evidence.declaration.article}/{experiment}.json"

    def link_to(self, path: str) -> Markup:
        """Return the address of a published file from this page."""
        return escape(self.prefix + path)

    def receipt_link(self, experiment: str) -> Markup:
        """Return a link to a receipt under its file name; before it is measured, the name alone."""
        self.declared(experiment)
        if experiment not in self.evidence.receipts:
            return Markup("<code>{}.json</code>").format(experiment)
        return Markup('<a class="receipt-file" href="{}" download>{}.json</a>').format(
            self.receipt_href(experiment), experiment
        )

    def show(self, experiment: str) -> Markup:
        """Return an experiment as its kind's template shows it."""
        declared = self.declared(experiment)
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
        self.declared(experiment)
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


def _instead(value: Any, part: str) -> str:
    """Advise what to write in place of *part*, which is not in *value*."""
    match value:
        case dict():
            return near_miss(part, value)
        case list():
            return f"it is a list of {len(value)}, counted from 0"
        case _:
            return "it is a single value: point to it"


def _bound(fact: Callable[..., Markup], experiment: str) -> Callable[..., Markup]:
    def here(pointer: str, digits: int | None = None, *, plain: bool = False) -> Markup:
        return fact(experiment, pointer, digits, plain=plain)

    return here
