"""GGUF metadata: read fast, and a clear error for what is no whole GGUF file."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter, LlamaFileType

from generator.errors import FetchError
from generator.models.metadata import read_metadata

TEMPLATE = "{{ messages }} 你好"


def write_model(path: Path, *, words: int = 10, chatty: bool = True, tensors: int = 1) -> Path:
    writer = GGUFWriter(path, "llama")
    if chatty:
        writer.add_name("Tiny")
        writer.add_chat_template(TEMPLATE)
        writer.add_file_type(LlamaFileType.MOSTLY_Q4_K_M)
        writer.add_context_length(128)
        writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"word{number}" for number in range(words)])
    writer.add_token_scores([0.5] * words)
    for number in range(tensors):
        writer.add_tensor(f"block.{number}.weight", np.ones((4, 8), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_reads_what_the_model_says(tmp_path: Path) -> None:
    metadata = read_metadata(write_model(tmp_path / "tiny.gguf"))
    assert (metadata.architecture, metadata.name) == ("llama", "Tiny")
    assert (metadata.file_type, metadata.parameters) == ("Q4_K_M", 32)
    assert (metadata.context_length, metadata.tokenizer) == (128, "gpt2")
    assert metadata.chat_template_sha256 == hashlib.sha256(TEMPLATE.encode()).hexdigest()


def test_what_is_not_said_is_none(tmp_path: Path) -> None:
    metadata = read_metadata(write_model(tmp_path / "tiny.gguf", chatty=False))
    assert (metadata.name, metadata.file_type, metadata.context_length) == (None, None, None)
    assert (metadata.tokenizer, metadata.chat_template_sha256) == (None, None)


def test_large_vocabulary_takes_under_a_second(tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.gguf", words=100_000)
    before = time.process_time()
    read_metadata(path)
    assert time.process_time() - before < 1


@pytest.mark.parametrize("content", [b"", b"GG", b"<!DOCTYPE html><p>no</p>" * 9])
def test_no_gguf_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_bytes(content)
    with pytest.raises(FetchError, match=r"page\.gguf is not a GGUF file"):
        read_metadata(path)


def test_every_truncation_is_a_clear_error(tmp_path: Path) -> None:
    whole = write_model(tmp_path / "tiny.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    for length in [*range(4, len(whole) - 128, 7), len(whole) - 128, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(FetchError, match=r"cut\.gguf is damaged or ends too early"):
            read_metadata(path)


def test_every_flipped_byte_is_read_or_a_clear_error(tmp_path: Path) -> None:
    whole = write_model(tmp_path / "tiny.gguf", words=3).read_bytes()
    path = tmp_path / "flipped.gguf"
    outcomes = set()
    for place in range(4, len(whole) - 128):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            outcomes.add(type(read_metadata(path)).__name__)
        except FetchError:
            outcomes.add("FetchError")
    assert outcomes <= {"ModelMetadata", "FetchError"}
