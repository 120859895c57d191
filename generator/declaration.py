"""The declaration: what an author says will be measured, and what will be found."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field, ValidationError, model_validator

from generator.errors import Fault, InputError
from generator.schema import Bilingual, IsoDate, Model, Name, NonEmpty, Sha256
from generator.settings import Endpoint, Sampling, ServerSettings, merge
from generator.yamlfile import Document, faults_from_pydantic, load

MAX_PROMPT_BYTES = 1_000_000


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
    model_bytes: int
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
    """A prompt, given in place or by a text file beside the declarations."""

    text: NonEmpty | None = None
    file: NonEmpty | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_of_both(self) -> Prompt:
        if (self.text is None) == (self.file is None):
            raise ValueError("give either the prompt's text or `file: …`, not both")
        return self


class Experiment(Model):
    """What every kind of experiment declares; a kind adds its own fields to it."""

    kind: Name
    title: Bilingual
    prompt: Prompt
    endpoint: Endpoint
    model: NonEmpty | None = None
    engine: NonEmpty | None = None
    server: dict[str, Any] = Field(default_factory=dict)
    sampling: dict[str, Any] = Field(default_factory=dict)


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
    experiments: dict[Name, dict[str, Any]]
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
            **self.spec.model_dump(mode="json", exclude={"server", "sampling", "prompt"}),
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


def read_declaration(
    root: Path,
    article: str,
    kinds: Mapping[str, type[Experiment]],
    override: Override = AS_DECLARED,
) -> Declaration:
    """Read and check `receipts/<article>.yaml`.

    Args:
        root: The project's root.
        article: The article's name.
        kinds: The schema of each known kind of experiment.
        override: Pins to be used instead of the declared ones.

    Raises:
        InputError: With every fault of the file.
    """
    path = root / "receipts" / f"{article}.yaml"
    name = f"receipts/{article}.yaml"
    document = load(path, name=name)
    try:
        head = Head.model_validate(document.data)
    except ValidationError as error:
        faults = faults_from_pydantic(error, document, model=Head)
        raise InputError(faults + _experiment_faults(document, kinds)) from error
    reader = _Reader(root, article, document, head, kinds, override)
    experiments = {key: reader.resolve(key) for key in head.experiments}
    if reader.faults:
        raise InputError(reader.faults)
    return Declaration(
        article=article,
        file=name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        head=head,
        experiments={key: value for key, value in experiments.items() if value is not None},
    )


def _experiment_faults(document: Document, kinds: Mapping[str, type[Experiment]]) -> list[Fault]:
    """Look for faults in the experiments of a declaration whose head is faulty too."""
    experiments = document.data.get("experiments")
    faults: list[Fault] = []
    if isinstance(experiments, dict):
        for key, value in experiments.items():
            if isinstance(value, dict):
                faults += _validated(document, key, value, kinds)[1]
    return faults


def _validated(
    document: Document, key: str, raw: Mapping[str, Any], kinds: Mapping[str, type[Experiment]]
) -> tuple[Experiment | None, list[Fault]]:
    """Validate one experiment against its kind's schema."""
    where = ("experiments", key)
    kind = raw.get("kind")
    schema = kinds.get(kind) if isinstance(kind, str) else None
    if schema is None:
        problem = f"unknown kind {kind!r}" if "kind" in raw else "no kind"
        return None, [_fault(document, (*where, "kind"), problem, f"one of {', '.join(kinds)}")]
    try:
        return schema.model_validate(raw), []
    except ValidationError as error:
        return None, faults_from_pydantic(error, document, prefix=where, model=schema)


def _fault(document: Document, path: tuple[str | int, ...], problem: str, remedy: str) -> Fault:
    line, column = document.where(path)
    return Fault(document.name, line, column, ".".join(["$", *map(str, path)]), problem, remedy)


@dataclass
class _Reader:
    """Resolves experiments one by one and collects their faults."""

    root: Path
    article: str
    document: Document
    head: Head
    kinds: Mapping[str, type[Experiment]]
    override: Override

    def __post_init__(self) -> None:
        self.faults: list[Fault] = []
        defaults = self.head.defaults
        self._settings(ServerSettings, {}, defaults.server, ("defaults", "server"))
        self._settings(Sampling, {}, defaults.sampling, ("defaults", "sampling"))
        if self.faults:  # they would be listed once more for every experiment
            raise InputError(self.faults)

    def _settings(
        self, model: type[Any], base: Mapping[str, Any], overlay: Mapping[str, Any], where: Any
    ) -> Any:
        try:
            return merge(model, base, overlay)
        except ValidationError as error:
            self.faults += faults_from_pydantic(error, self.document, prefix=where, model=model)
            return model()

    def resolve(self, key: str) -> Resolved[Experiment] | None:
        spec, faults = _validated(self.document, key, self.head.experiments[key], self.kinds)
        self.faults += faults
        if spec is None:
            return None
        defaults, where = self.head.defaults, ("experiments", key)
        return Resolved(
            article=self.article,
            name=key,
            spec=spec,
            prompt=self._prompt(spec.prompt, (*where, "prompt")),
            model=self.override.model or spec.model or defaults.model,
            engine=self.override.engine or spec.engine or defaults.engine,
            server=self._settings(ServerSettings, defaults.server, spec.server, (*where, "server")),
            sampling=self._settings(
                Sampling, defaults.sampling, spec.sampling, (*where, "sampling")
            ),
        )

    def _prompt(self, prompt: Prompt, where: tuple[str | int, ...]) -> str:
        if prompt.text is not None:
            return prompt.text
        folder = (self.root / "receipts").resolve()
        path = (folder / str(prompt.file)).resolve()
        problem = ""
        if not path.is_relative_to(folder):
            problem = f"{prompt.file!r} lies outside receipts/"
        elif not path.is_file():
            problem = f"there is no file receipts/{prompt.file}"
        elif path.stat().st_size > MAX_PROMPT_BYTES:
            problem = f"receipts/{prompt.file} is larger than {MAX_PROMPT_BYTES:,} bytes"
        else:
            try:
                return path.read_bytes().decode("utf-8")
            except UnicodeDecodeError as error:
                problem = f"receipts/{prompt.file} is not UTF-8 (byte {error.start})"
        remedy = "name a UTF-8 text file below receipts/, such as prompts/long.txt"
        self.faults.append(_fault(self.document, (*where, "file"), problem, remedy))
        return ""
