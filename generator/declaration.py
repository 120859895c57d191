"""The declaration: what an author says will be measured, and what will be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from generator.named_files import for_receipt
from generator.schema import Bilingual, Count, IsoDate, Model, Name, NonEmpty, Sha256, Wording
from generator.settings import Endpoint, Sampling, ServerSettings
from generator.yamlfile import Document

Objection = tuple[tuple[str, ...], str, str]
"""What a kind refuses: where in the experiment, what was found, and what is allowed."""
UNFIXED_SEED: Objection = (
    ("sampling", "seed"),
    "the seed differs from ask to ask, so no two answers can be compared",
    "fix it to a whole number, such as 42",
)


class Author(Model):
    """Who answers for the article, and whether a human or a machine wrote its prose."""

    name: NonEmpty
    prose: Literal["human", "machine"]


class Published(Model):
    """A record of values published elsewhere; never passed off as measured by us."""

    origin: Literal["published"]
    date: IsoDate
    source: Bilingual
    model: NonEmpty
    model_bytes: Count
    model_sha256: Sha256
    engine: NonEmpty
    machine: Bilingual


class PublishedClaim(Model):
    """What was published on a claim: its outcome then, and its values in words."""

    holds: bool
    values: Bilingual


class Claim(Model):
    """A sentence's condition over the analyses, with a sentence for each way it may come out.

    Attributes:
        when: A Jinja expression over the experiments' analyses, with `-` written as `_`.
        topic: What the claim is about, a few words.
        holds: The sentence if the condition is true. It may use `fact(…)`.
        fails: The sentence if it is false.
        unmeasured: Why it cannot be decided on this machine, where that is known beforehand.
        published: What the published record says on it.
        differs: Why today may differ from what was published.
    """

    when: NonEmpty
    topic: Bilingual
    holds: Bilingual
    fails: Bilingual
    unmeasured: Bilingual | None = None
    published: PublishedClaim | None = None
    differs: Bilingual | None = None


class Prompt(Model):
    """A prompt, given in place or by a text file beside the declarations; asked as it stands."""

    text: str | None = None
    file: NonEmpty | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_of_both(self) -> Prompt:
        if (self.text is None) == (self.file is None):
            raise ValueError("give either the prompt's text or `file: …`, not both")
        if self.text == "":  # checked here, since a prompt given in place has no key `text`
            raise ValueError("an empty prompt asks nothing")
        return self


def _each_once(pins: list[str]) -> list[str]:
    if len(set(pins)) < len(pins):
        raise ValueError("a pin is named twice → name each pin once")
    return pins


Pinned = NonEmpty | Annotated[list[NonEmpty], Field(min_length=1), AfterValidator(_each_once)]


class Experiment(Model):
    """What every kind of experiment declares; a kind adds its own fields to it.

    Attributes:
        prompt: What is asked, or `prompts`, several by name, in kinds that ask several.
        model: One pin, or several: each pair of a model and an engine is a variant, with a receipt
            of its own. The first is measured unless another is asked for.
        set: Whether `receipts run` measures it unasked (*first*), or with `--all` and by name alone
            (*second*).
        server_for: Further server settings for models that need their own, by the model's pin.
    """

    kind: Name
    title: Wording
    several_prompts: ClassVar[bool] = False

    prompt: Prompt | None = None
    prompts: dict[Name, Prompt] = Field(default_factory=dict)
    endpoint: Endpoint
    set: Annotated[Literal["first", "second"], Field(exclude=True)] = "first"
    model: Pinned | None = None
    engine: Pinned | None = None
    server: dict[str, Any] = Field(default_factory=dict)
    server_for: dict[NonEmpty, dict[str, Any]] = Field(default_factory=dict)
    sampling: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _prompt_or_prompts(self) -> Self:
        if (self.prompt is None) == (not self.prompts):
            several = ", or several under `prompts`, not both" if self.several_prompts else ""
            raise ValueError(f"an experiment asks something → give its `prompt`{several}")
        if self.prompts and not self.several_prompts:
            raise ValueError("this kind asks one prompt → give it as `prompt`")
        return self

    def objections(self, sampling: Sampling) -> list[Objection]:  # noqa: ARG002 - for kinds
        """Return what the kind cannot work with in the settings that the experiment ends up with.

        Args:
            sampling: The experiment's sampling, defaults filled in.
        """
        return []


class Defaults(Model):
    """What every experiment uses unless it says otherwise."""

    model: Pinned
    engine: Pinned
    server: dict[str, Any] = Field(default_factory=dict)
    sampling: dict[str, Any] = Field(default_factory=dict)


class Head(Model):
    """A declaration without its experiments, whose shape depends on their kinds.

    Attributes:
        order: Its place among the articles, the least first, where they are measured and listed.
    """

    title: Bilingual
    summary: Bilingual
    author: Author
    order: Annotated[int, Field(ge=1)] = 100
    published: Published | None = None
    defaults: Defaults
    experiments: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)]
    claims: dict[Name, Claim] = Field(default_factory=dict)


E_co = TypeVar("E_co", bound=Experiment, covariant=True)


@dataclass(frozen=True)
class Resolved(Generic[E_co]):
    """One variant of an experiment with every default filled in, ready to be planned.

    Attributes:
        name: The experiment's name, with the pins that tell this variant from the first.
        experiment: The experiment's name alone.
        prompts: What is asked, by name; a single prompt is called `prompt`.
        servers: The server settings of each model that has its own; others have those under "".
        replaced: The declared pins, by `model` and `engine`, whose place a run's own have taken.
    """

    article: str
    name: str
    experiment: str
    spec: E_co
    prompts: Mapping[str, str]
    model: str
    engine: str
    server: ServerSettings
    sampling: Sampling
    servers: Mapping[str, ServerSettings] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The prompt, or the first of several."""
        return next(iter(self.prompts.values()))

    def with_pins(self, model: str, engine: str) -> Self:
        """Return the experiment as a run asks it that puts these pins in the declared place."""
        used = {"model": model, "engine": engine}
        declared = {"model": self.model, "engine": self.engine}
        return replace(
            self,
            model=model,
            engine=engine,
            server=self.servers.get(model, self.servers.get("", self.server)),
            replaced={key: pin for key, pin in declared.items() if pin != used[key]},
        )

    def as_json(self) -> dict[str, Any]:
        """Return the experiment as it was read, for its receipt, without what is only wording."""
        return {
            "name": self.name,
            **self.spec.model_dump(
                mode="json", exclude={"server", "server_for", "sampling", "prompt", "prompts"}
            ),
            "prompts": dict(self.prompts),
            "model": self.model,
            "engine": self.engine,
            **({"replaced": dict(self.replaced)} if self.replaced else {}),
            "server": for_receipt(self.server).model_dump(mode="json"),
            "sampling": self.sampling.model_dump(mode="json"),
        }


@dataclass(frozen=True)
class Declaration:
    """A checked declaration.

    Attributes:
        document: The file as it was parsed, once.
        experiments: Every variant of every experiment by its name, in the file's order; an
            experiment's first variant goes by the experiment's own name.
    """

    article: str
    file: str
    document: Document
    head: Head
    experiments: Mapping[str, Resolved[Experiment]]

    @property
    def sha256(self) -> str:
        """The digest of the file's bytes as they were parsed."""
        return self.document.sha256

    @property
    def first_set(self) -> list[str]:
        """The names of the experiments that are measured unasked."""
        return [name for name in self.firsts if self.experiments[name].spec.set == "first"]

    @property
    def firsts(self) -> list[str]:
        """The names of the first variants: the experiments themselves."""
        return [name for name, resolved in self.experiments.items() if name == resolved.experiment]

    def variants(self, experiment: str) -> list[str]:
        """Return the names of all variants of *experiment*, the first in front."""
        return [n for n, resolved in self.experiments.items() if resolved.experiment == experiment]


def declaration_paths(root: Path) -> list[Path]:
    """Return the declarations below *root*, by name."""
    # an editor's or a system's own files have names that begin with a dot
    found = (root / "receipts").glob("[!.]*.yaml")
    return sorted(path for path in found if path.is_file())


def variants(
    experiment: str, models: Sequence[str], engines: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Name every pair of a model and an engine: the first by the experiment alone.

    Returns:
        The pair (model, engine) of each variant by its name, such as `five-runs@llama-server-b1`.
    """
    named: dict[str, tuple[str, str]] = {}
    for model in models:
        for engine in engines:
            pins = [
                pin for pin, first in ((model, models[0]), (engine, engines[0])) if pin != first
            ]
            named["@".join([experiment, *pins])] = (model, engine)
    return named


@dataclass(frozen=True)
class Override:
    """Pins that take the place of the declared first ones in every experiment of a run."""

    model: str | None = None
    engine: str | None = None


AS_DECLARED = Override()
