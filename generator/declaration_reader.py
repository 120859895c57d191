"""Reading a declaration: every fault of the file at once, or an experiment ready to be planned."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from generator.declaration import (
    AS_DECLARED,
    Declaration,
    Experiment,
    Head,
    Override,
    Resolved,
    variants,
)
from generator.errors import Fault, InputError
from generator.settings import Sampling, ServerSettings, merge
from generator.yamlfile import Document, faults_from_pydantic, path_text

MAX_PROMPT_BYTES = 1_000_000
Where = tuple[str | int, ...]


def read_declaration(
    root: Path,
    document: Document,
    kinds: Mapping[str, type[Experiment]],
    override: Override = AS_DECLARED,
) -> Declaration:
    """Check a declaration.

    Args:
        root: The project's root, below which its prompts' files are.
        document: The declaration's file, `receipts/<article>.yaml`, as it was parsed.
        kinds: The schema of each known kind of experiment.
        override: Pins to be used instead of the declared ones.

    Raises:
        InputError: With every fault of the file.
    """
    article = PurePosixPath(document.name).stem
    reader = _Reader(root, document, kinds)
    head = reader.head()
    resolved = [
        variant
        for key, raw in mapping(reader.document.data.get("experiments")).items()
        if isinstance(raw, dict)
        for variant in reader.resolve(article, key, raw, head, override)
    ]
    if head is None or reader.faults:
        raise InputError(reader.faults)
    return Declaration(
        article=article,
        file=document.name,
        document=document,
        head=head,
        experiments={one.name: one for one in resolved},
    )


def mapping(value: Any) -> Mapping[str, Any]:
    """Return *value* if it is a mapping; anything else is a fault elsewhere and counts as none."""
    return value if isinstance(value, dict) else {}


class _Reader:
    """Checks every part of a declaration, whatever is wrong with the others."""

    def __init__(self, root: Path, document: Document, kinds: Mapping[str, type[Experiment]]):
        self.root, self.document, self.kinds = root, document, kinds
        self.faults: list[Fault] = []
        defaults = mapping(document.data.get("defaults"))
        self.server = self._layer(ServerSettings, defaults, "server")
        self.sampling = self._layer(Sampling, defaults, "sampling")

    def head(self) -> Head | None:
        try:
            return Head.model_validate(self.document.data)
        except ValidationError as error:
            self.faults += faults_from_pydantic(error, self.document, model=Head)
            return None

    def resolve(
        self,
        article: str,
        key: str,
        raw: Mapping[str, Any],
        head: Head | None,
        override: Override,
    ) -> list[Resolved[Experiment]]:
        """Return every variant of one experiment; none if there is a fault in it."""
        where = ("experiments", key)
        spec = self._spec(raw, where)
        server = self._settings(ServerSettings, self.server, raw, (*where, "server"))
        sampling = self._settings(Sampling, self.sampling, raw, (*where, "sampling"))
        prompts = self._prompts(raw, where)
        if spec is None or server is None or sampling is None:
            return []
        own = {
            name: self._settings(
                ServerSettings, server.model_dump(), spec.server_for, (*where, "server_for", name)
            )
            for name in spec.server_for
        }
        for path, problem, remedy in spec.objections(sampling):
            self._fault((*where, *path), problem, remedy)
        if head is None:
            return []
        pins = spec.model or head.defaults.model, spec.engine or head.defaults.engine
        declared = variants(key, *(_listed(None, some) for some in pins))
        used = variants(key, _listed(override.model, pins[0]), _listed(override.engine, pins[1]))
        return [
            Resolved(
                article=article,
                name=name,
                experiment=key,
                spec=spec,
                prompts=prompts,
                model=model,
                engine=engine,
                server=own.get(model, server),
                sampling=sampling,
                servers={"": server, **own},
            ).with_pins(*instead)
            for (name, (model, engine)), instead in zip(
                declared.items(), used.values(), strict=True
            )
        ]

    def _fault(self, path: Where, problem: str, remedy: str) -> None:
        line, column = self.document.where(path)
        name, place = self.document.name, path_text(path)
        self.faults.append(Fault(name, line, column, place, problem, remedy))

    def _spec(self, raw: Mapping[str, Any], where: Where) -> Experiment | None:
        """Validate one experiment against its kind's schema."""
        kind = raw.get("kind")
        schema = self.kinds.get(kind) if isinstance(kind, str) else None
        if schema is None:
            near = get_close_matches(str(kind), self.kinds, n=1)
            remedy = f"did you mean `{near[0]}`?" if near else f"one of {', '.join(self.kinds)}"
            problem = f"unknown kind {kind!r}" if "kind" in raw else "no kind"
            self._fault((*where, "kind"), problem, remedy)
            return None
        try:
            return schema.model_validate(raw)
        except ValidationError as error:
            self.faults += faults_from_pydantic(error, self.document, prefix=where, model=schema)
            return None

    def _layer(self, model: type[Any], defaults: Mapping[str, Any], part: str) -> Mapping[str, Any]:
        """Return the defaults of one part, or none if they are at fault: they are told once."""
        checked = self._settings(model, {}, defaults, ("defaults", part))
        return {} if checked is None else mapping(defaults.get(part))

    def _settings(
        self, model: type[Any], base: Mapping[str, Any], owner: Mapping[str, Any], where: Where
    ) -> Any:
        try:
            return merge(model, base, mapping(owner.get(str(where[-1]))))
        except ValidationError as error:
            self.faults += faults_from_pydantic(error, self.document, prefix=where, model=model)
            return None

    def _prompts(self, raw: Mapping[str, Any], where: Where) -> dict[str, str]:
        """Return the texts of an experiment's prompt or prompts by name."""
        if "prompts" not in raw:
            return {"prompt": self._prompt(raw.get("prompt"), (*where, "prompt"))}
        return {
            name: self._prompt(prompt, (*where, "prompts", name))
            for name, prompt in mapping(raw["prompts"]).items()
        }

    def _prompt(self, raw: Any, where: Where) -> str:
        file = mapping(raw).get("file")
        if not isinstance(file, str):
            return str(mapping(raw).get("text", raw))
        text, problem = _prompt_file(self.root / "receipts", file.strip())
        if problem:
            remedy = "name a UTF-8 text file below receipts/, such as prompts/long.txt"
            self._fault((*where, "file"), problem, remedy)
        return text


def _listed(override: str | None, declared: str | list[str]) -> list[str]:
    """Return the pins of an experiment, the first in front.

    One that a run asks for takes the place of the first, unless it is declared and thus a variant.
    """
    pins = [declared] if isinstance(declared, str) else declared
    return pins if override is None or override in pins else [override, *pins[1:]]


def _prompt_file(folder: Path, file: str) -> tuple[str, str]:
    """Return a prompt file's text, or what is wrong with it."""
    try:
        path = (folder / file).resolve()
        if not path.is_relative_to(folder.resolve()):
            return "", f"{file!r} lies outside receipts/"
        if not path.is_file():
            return "", f"there is no file receipts/{file}"
        size = path.stat().st_size
        if not 0 < size <= MAX_PROMPT_BYTES:
            return "", f"receipts/{file} has {size:,} bytes, not 1 to {MAX_PROMPT_BYTES:,}"
        return path.read_bytes().decode("utf-8"), ""
    except UnicodeDecodeError as error:
        return "", f"receipts/{file} is not UTF-8 (byte {error.start})"
    except (OSError, RuntimeError, ValueError) as error:  # no name for a file, a loop of links
        return "", f"{file!r} cannot be read ({type(error).__name__})"
