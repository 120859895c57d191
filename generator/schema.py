"""The base of every model at a file's border: strict, frozen, no unknown keys."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


class Model(BaseModel):
    """A strict, frozen pydantic model which refuses unknown keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", protected_namespaces=())


def _calendar_day(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"no such date or time: {error}") from error
    return text


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
VariantName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*(@[a-z0-9]+([._-][a-z0-9]+)*){0,2}$"),
]
NonEmpty = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
IsoDate = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
    AfterValidator(_calendar_day),
]
UtcTime = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}(\.[0-9]{1,6})?Z$"),
    AfterValidator(_calendar_day),
]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class Bilingual(Model):
    """The same thing said in both languages, each as an original."""

    zh: NonEmpty
    en: NonEmpty

    def of(self, lang: str) -> str:
        """Return the wording for *lang*, `zh` or `en`."""
        return self.zh if lang == "zh" else self.en


Wording = Annotated[Bilingual, Field(exclude=True)]
"""Words that no plan or receipt holds, so that they may be mended without measuring again."""
