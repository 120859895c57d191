"""The receipt: everything that pins an experiment, and every raw response, in one JSON file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from generator.canonical import digest, pretty
from generator.errors import AuditError
from generator.host import Host
from generator.limits import overload, usable_cpus
from generator.schema import (
    Count,
    IsoDate,
    Model,
    Name,
    NonEmpty,
    Seconds,
    Sha256,
    UtcTime,
    VariantName,
)
from generator.settings import Endpoint
from generator.wire import WireError, parse_object

SCHEMA_VERSION = 2


class DeclarationRecord(Model):
    """Which declaration was measured, and the experiment as it was read from it.

    Attributes:
        sha256: The digest of the file when it was measured; its wording may have been mended since.
        experiment: Its settings, and `replaced`: the declared pins that a run put others in place
            of. Titles and reasons are no part of it.
    """

    file: NonEmpty
    sha256: Sha256
    experiment: dict[str, Any]


class FileRecord(Model):
    """One file that is loaded."""

    name: NonEmpty
    bytes: Count
    sha256: Sha256


class ModelRecord(Model):
    """The model's bytes and what its header says of them.

    Attributes:
        shards: The further files of a model that was split; `file` is then its first.
    """

    pin: NonEmpty
    title: NonEmpty
    file: NonEmpty
    bytes: Count
    sha256: Sha256
    license: NonEmpty
    metadata: dict[str, Any]
    shards: list[FileRecord]


class EngineRecord(Model):
    """The engine's build and the digest of every file it loads.

    Attributes:
        origin_sha256: The digest of what was pinned: a wheel, an archive, a program.
        built: How it was built, where it was built on the machine that measured.
    """

    pin: NonEmpty
    type: NonEmpty
    version: NonEmpty
    build: Count
    origin_sha256: Sha256
    built: dict[str, str]
    files: list[FileRecord]


class GeneratorRecord(Model):
    """Which version of this program measured.

    Attributes:
        commit: The commit of the checkout that holds the program; null if it is unknown.
        dirty: Whether the program's files differed from it.
        commit_unknown: Why the commit is unknown.
    """

    version: NonEmpty
    commit: str | None
    dirty: bool | None
    commit_unknown: NonEmpty | None


class Answered(Model):
    """A response as received.

    Attributes:
        response: Its JSON, lossless, its keys in the order in which they came.
        raw: The body's text, only where compact JSON of `response` does not give it back; so
            `raw_bytes` and `raw_sha256` can be computed again.
    """

    status: Literal["answered"]
    http_status: int
    response: dict[str, Any]
    raw_bytes: Count
    raw_sha256: Sha256
    raw: str | None
    wall_s: Seconds


class Failed(Model):
    """A failure, kept as data: its kind, what was seen, and the body if there was one."""

    status: Literal["failed"]
    kind: NonEmpty
    message: NonEmpty
    http_status: int | None
    body: str | None
    wall_s: Seconds


class PromptRecord(Model):
    """A prompt as the model was given it: its text, templates applied, and its token ids."""

    text: str
    ids: list[Count]

    @property
    def sha256(self) -> str:
        """The digest by which asks refer to it."""
        return digest(self.model_dump(mode="json"))


class MismatchRecord(Model):
    """Something that the server reports otherwise than it was declared or asked."""

    name: NonEmpty
    declared: Any
    effective: Any


class AskRecord(Model):
    """One request as sent and its outcome; those of one word *together* were sent at once.

    Attributes:
        prompt: The digest of the prompt that the model was given; null if it is unknown.
        prompt_unknown: Why it is unknown; null if it is known.
        mismatches: What the response reports of itself otherwise than it was asked.
    """

    name: NonEmpty
    endpoint: Endpoint
    cache: Literal["cold", "warm", "any"]
    together: str | None
    seed: Literal["fixed", "drawn", "engine"]
    request: dict[str, Any]
    prompt: Sha256 | None
    prompt_unknown: NonEmpty | None
    started: UtcTime
    mismatches: list[MismatchRecord]
    outcome: Annotated[Answered | Failed, Field(discriminator="status")]

    @property
    def replayable(self) -> bool:
        """Whether the request alone is enough to ask again."""
        return self.seed != "engine"


class LifeRecord(Model):
    """One life of the server process: when it began, how long it took, how busy the machine was."""

    started: UtcTime
    ready_s: Seconds
    load_before: list[float]
    load_after: list[float] | None
    peak_memory_bytes: Count | None


class BootRecord(Model):
    """A boot as it happened.

    Attributes:
        lives: One, unless the run was interrupted and a divisible boot went on in another process.
        settings: As planned, with what was derived from earlier boots; `effective` as the server's
            log and `/props` tell.
        command_line: What starts a llama-server with these settings; names stand for paths.
        props: The server's `/props`, without paths and one-time marks.
    """

    name: NonEmpty
    engine: NonEmpty
    model: NonEmpty
    settings: dict[str, Any]
    effective: dict[str, Any]
    command_line: list[str]
    props: dict[str, Any]
    mismatches: list[MismatchRecord]
    lives: list[LifeRecord]
    asks: list[AskRecord]


class Receipt(Model):
    """One experiment's boots and asks, with everything that pins them.

    `interrupted` holds boots that were cut off and had to be asked again from the beginning: they
    are shown and counted, and no analysis reads them.

    Attributes:
        experiment: The experiment, with the pins of its variant if it has several.
        claims: The condition of each claim that looked at this experiment when it was measured.
        files: Other files that settings name, by the setting.
        prompts: Every prompt that a model was given, once, by its digest.
    """

    schema_version: Literal[2]
    article: Name
    experiment: VariantName
    kind: Name
    plan_sha256: Sha256
    declaration: DeclarationRecord
    claims: dict[str, str]
    models: dict[str, ModelRecord]
    engines: dict[str, EngineRecord]
    chat_templates: dict[str, FileRecord]
    files: dict[str, FileRecord]
    prompts: dict[Sha256, PromptRecord]
    host: Host
    generator: GeneratorRecord
    started: UtcTime
    finished: UtcTime
    measured_on: IsoDate
    boots: list[BootRecord]
    interrupted: list[BootRecord]
    analysis: dict[str, Any]

    @property
    def overload(self) -> float | None:
        """The highest load, if the machine was too busy to time anything."""
        lives = [life for boot in self.boots for life in boot.lives]
        loads = [at[0] for life in lives for at in (life.load_before, life.load_after) if at]
        threads = [max(b.settings["threads"], b.settings["threads_batch"]) for b in self.boots]
        return overload(loads, self.host, max(threads, default=1))

    @property
    def cpus(self) -> float:
        """How many CPUs' worth of time the measurement could use."""
        return usable_cpus(self.host)

    def asks(self) -> Iterator[tuple[BootRecord, AskRecord]]:
        """Yield every counted ask with its boot, in the order in which they were asked."""
        for boot in self.boots:
            for ask in boot.asks:
                yield boot, ask


def receipt_path(root: Path, article: str, experiment: str) -> Path:
    """Return where the receipt of *article*'s *experiment* lies below *root*."""
    return root / "receipts" / article / f"{experiment}.json"


def read(path: Path, *, name: str) -> Receipt:
    """Read and check a receipt.

    Args:
        path: The file.
        name: How the file is called in messages.

    Raises:
        AuditError: It cannot be read, is not JSON (which knows no NaN), was written by a newer
            program, or does not fit the schema.
    """
    try:
        data = parse_object(path.read_bytes())
    except OSError as error:
        raise AuditError(
            f"{name} cannot be read: {error.strerror}.",
            f"Restore it (git checkout -- {name}), or remove what is in its place.",
        ) from error
    except WireError as error:
        raise AuditError(
            f"{name} is no receipt: {error}.", f"Restore it: git checkout -- {name}"
        ) from error
    version = data.get("schema_version")
    if isinstance(version, int) and version != SCHEMA_VERSION:
        remedy = "Use the version of the program that wrote it, or a newer one."
        if version < SCHEMA_VERSION:
            remedy = "Measure again with this program: receipts run."
        raise AuditError(
            f"{name}: /schema_version is {version}; this program reads {SCHEMA_VERSION}.", remedy
        )
    try:
        return Receipt.model_validate(data)
    except ValidationError as error:
        raise AuditError(
            f"{name} does not fit the receipt schema.",
            f"Restore it (git checkout -- {name}) or measure again: receipts run.",
            [
                f"{name}: /{'/'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
                for fault in error.errors()
            ],
        ) from error


def render(receipt: Receipt) -> str:
    """Return the text of the receipt's file; the keys of a response stay as they came."""
    return pretty(receipt.model_dump(mode="json"), as_they_came="response")
