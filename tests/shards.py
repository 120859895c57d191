"""A whole model cut into shards, as llama.cpp's own tool cuts it, metadata and all."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from gguf import GGUFReader, Keys, ReaderTensor

from generator.models.metadata import _QuickReader
from generator.pin_types import shard_names

UINT16, INT32 = 2, 5


def split(whole: Path, folder: Path, count: int) -> list[Path]:
    """Write the tensors of a GGUF file into *count* shards, as many tensors into each.

    Args:
        whole: The file.
        folder: Where the shards go.
        count: How many to make.

    Returns:
        The shards in order; the first has all the metadata.
    """
    reader = _QuickReader(whole)
    data = whole.read_bytes()
    metadata = data[24 : reader.tensors[0].field.offset]
    each = -(-len(reader.tensors) // count)
    names = shard_names(f"{whole.stem}-00001-of-{count:05d}.gguf")
    paths = [folder / name for name in names]
    for number, path in enumerate(paths):
        tensors = reader.tensors[number * each : (number + 1) * each]
        own = metadata if number == 0 else b""
        fields = len(reader.fields) - 3 if number == 0 else 0  # three are of the header itself
        head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), fields + 3) + own
        head += _field(Keys.Split.LLM_KV_SPLIT_NO, UINT16, "<H", number)
        head += _field(Keys.Split.LLM_KV_SPLIT_COUNT, UINT16, "<H", count)
        total = len(reader.tensors)
        head += _field(Keys.Split.LLM_KV_SPLIT_TENSORS_COUNT, INT32, "<i", total)
        head += b"".join(_infos(reader, tensors))
        blocks = [data[t.data_offset : t.data_offset + t.n_bytes] for t in tensors]
        with path.open("wb") as out:
            out.writelines(_padded(reader, block) for block in [head, *blocks])
    return paths


def _field(key: str, kind: int, form: str, value: int) -> bytes:
    return _text(key) + struct.pack("<I", kind) + struct.pack(form, value)


def _infos(reader: GGUFReader, tensors: Sequence[ReaderTensor]) -> Iterator[bytes]:
    offset = 0
    for tensor in tensors:
        shape = [int(size) for size in tensor.shape]
        yield _text(tensor.name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        yield struct.pack("<IQ", tensor.tensor_type, offset)
        offset += -(-tensor.n_bytes // reader.alignment) * reader.alignment


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _padded(reader: GGUFReader, block: bytes) -> bytes:
    return block + bytes(-len(block) % reader.alignment)
