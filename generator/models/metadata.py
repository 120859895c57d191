"""What a GGUF file says of its model."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gguf import GGUFReader, GGUFValueType, Keys, LlamaFileType

from generator.errors import FetchError
from generator.pin_types import shard_names


@dataclass(frozen=True)
class ModelMetadata:
    """What a model's file says of it; None where it says nothing.

    Attributes:
        architecture: As in ``llama``.
        name: The name inside the file.
        file_type: The quantization of most tensors, as in ``Q4_1``.
        parameters: The number of all tensors' elements.
        context_length: Tokens the model was made for.
        tokenizer: The tokenizer's kind, as in ``gpt2``.
        chat_template_sha256: The digest of its chat template, which is UTF-8.
    """

    architecture: str
    name: str | None
    file_type: str | None
    parameters: int
    context_length: int | None
    tokenizer: str | None
    chat_template_sha256: str | None


class _QuickReader(GGUFReader):
    """A reader which steps over lists: a vocabulary takes the original many seconds."""

    def _get_field_parts(
        self, orig_offs: int, raw_type: int
    ) -> tuple[int, list[Any], list[int], list[GGUFValueType]]:
        if raw_type != GGUFValueType.ARRAY:
            return super()._get_field_parts(orig_offs, raw_type)
        view = self.data.data
        entry, count = struct.unpack_from("<IQ", view, orig_offs)
        offset = orig_offs + struct.calcsize("<IQ")
        if entry == GGUFValueType.STRING:
            for _ in range(count):
                offset += 8 + struct.unpack_from("<Q", view, offset)[0]
        else:
            number = self.gguf_scalar_to_np[GGUFValueType(entry)]
            offset += count * number().itemsize
        types = [GGUFValueType.ARRAY, GGUFValueType(entry)]
        return offset - orig_offs, [self.data[orig_offs:offset]], [], types


def read_metadata(path: Path) -> ModelMetadata:
    """Read a GGUF file's metadata, without its tensors.

    Of a split model, the first file says everything but how many parameters the others have.

    Args:
        path: The file, or the first of a split model, with the others beside it.

    Raises:
        FetchError: It is not a GGUF file, ends too early, or not all others are there.
    """
    first, count = _read(path)
    paths = [path.with_name(name) for name in shard_names(path.name)] if count > 1 else [path]
    if len(paths) != count or not all(other.is_file() for other in paths):
        raise FetchError(
            f"The model's file {path.name} is one of {count}, and they are not all beside it.",
            "Pin every file of the split model, under the names that it was published with.",
        )
    others = sum(_read(other)[0].parameters for other in paths if other != path)
    return replace(first, parameters=first.parameters + others)


def _read(path: Path) -> tuple[ModelMetadata, int]:
    """Read one file; the number is that of the files which its model is split over."""
    try:
        reader = _QuickReader(path)
        return _metadata(reader), int(_value(reader, Keys.Split.LLM_KV_SPLIT_COUNT) or 1)
    except (ValueError, KeyError, IndexError, struct.error, OverflowError, MemoryError) as error:
        with path.open("rb") as stream:
            is_gguf = stream.read(4) == b"GGUF"
        how = "is damaged or ends too early" if is_gguf else "is not a GGUF file"
        raise FetchError(
            f"The model's file {path.name} {how}.", "Pin a whole GGUF file.", [str(error)]
        ) from error


def _metadata(reader: GGUFReader) -> ModelMetadata:
    architecture = str(_value(reader, "general.architecture"))
    file_type = _value(reader, "general.file_type")
    template = _value(reader, "tokenizer.chat_template")
    context = _value(reader, f"{architecture}.context_length")
    return ModelMetadata(
        architecture=architecture,
        name=_value(reader, "general.name"),
        file_type=None if file_type is None else _file_type(int(file_type)),
        parameters=sum(int(tensor.n_elements) for tensor in reader.tensors),
        context_length=None if context is None else int(context),
        tokenizer=_value(reader, "tokenizer.ggml.model"),
        chat_template_sha256=template and hashlib.sha256(template.encode()).hexdigest(),
    )


def _value(reader: GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    return field.contents() if field else None


def _file_type(number: int) -> str:
    known = {member.value: member.name for member in LlamaFileType}
    return known.get(number, f"file type {number}").removeprefix("MOSTLY_").removeprefix("ALL_")
