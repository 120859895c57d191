"""The declaration: what an author says will be measured, and what will be found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from generator.schema import Bilingual, Count, IsoDate, Model, Name, NonEmpty, Sha256
from generator.settings import Endpoint, Sampling, ServerSettings

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


class Experiment(Model):
    """What every kind of experiment declares; a kind adds its own fields to it.

    Attributes:
        server_for: Further server settings for models that need their own, by the model's pin.
    """

    kind: Name
    title: Bilingual
    prompt: Prompt
    endpoint: Endpoint
    model: NonEmpty | None = None
    engine: NonEmpty | None = None
    server: dict[str, Any] = Field(default_factory=dict)
    server_for: dict[NonEmpty, dict[str, Any]] = Field(default_factory=dict)
    sampling: dict[str, Any] = Field(default_factory=dict)

    def objections(self, sampling: Sampling) -> list[Objection]:  # noqa: ARG002 - for kinds
        """Return what the kind cannot work with in the settings that the experiment ends up with.

        Args:
            sampling: The experiment's sampling, defaults filled in.
        """
        return []


class Defaults(Model):
    """What every experiment uses unless it says otherwise."""

    model: NonEmpty
    engine: NonEmpty
    server: dict[str, Any] = Field(default_factory=dict)
    sampling: dict[str, Any] = Field(default_factory=dict)


class Head(Model):
    """A declaration without its experiments, whose shape depends on their kinds."""

    title: Bilingual
    summary: Bilingual
    author: Author
    published: Published | None = None
    defaults: Defaults
    experiments: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)]
    claims: dict[Name, Claim] = Field(default_factory=dict)


E_co = TypeVar("E_co", bound=Experiment, covariant=True)


@dataclass(frozen=True)
class Resolved(Generic[E_co]):
    """An experiment with every default filled in, ready to be planned."""

    article: str
    name: str
    spec: E_co
    prompt: str
    model: str
    engine: str
    server: ServerSettings
    sampling: Sampling

    def as_json(self) -> dict[str, Any]:
        """Return the experiment as it was read, for its receipt."""
        return {
            "name": self.name,
            **self.spec.model_dump(
                mode="json", exclude={"server", "server_for", "sampling", "prompt"}
            ),
            "prompt": self.prompt,
            "model": self.model,
            "engine": self.engine,
            "server": self.server.model_dump(mode="json"),
            "sampling": self.sampling.model_dump(mode="json"),
        }


@dataclass(frozen=True)
class Declaration:
    """A checked declaration; `experiments` keep the file's order."""

    article: str
    file: str
    sha256: str
    head: Head
    experiments: Mapping[str, Resolved[Experiment]]


def declaration_paths(root: Path) -> list[Path]:
    """Return the declarations below *root*, by name."""
    return sorted((root / "receipts").glob("*.yaml"))


@dataclass(frozen=True)
class Override:
    """Pins that take the place of the declared ones in every experiment of a run."""

    model: str | None = None
    engine: str | None = None


AS_DECLARED = Override()
