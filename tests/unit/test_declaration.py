"""The declaration's own shapes: what may be left out, and where declarations lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from generator.declaration import Claim, Experiment, Override, Prompt, Published, declaration_paths
from generator.settings import Sampling

BOTH = {"zh": "一", "en": "One"}
CLAIM = {"when": "a.b", "topic": BOTH, "holds": BOTH, "fails": BOTH}
PUBLISHED = {
    "origin": "published",
    "date": "2026-11-11",
    "source": BOTH,
    "model": "m.gguf",
    "model_bytes": 1,
    "model_sha256": "a" * 64,
    "engine": "e",
    "machine": BOTH,
}


def test_a_claim_needs_no_published_record() -> None:
    claim = Claim.model_validate(CLAIM)
    assert (claim.published, claim.unmeasured, claim.differs) == (None, None, None)


@pytest.mark.parametrize("field", sorted(CLAIM))
def test_a_claim_needs_its_condition_and_both_sentences(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        Claim.model_validate({key: value for key, value in CLAIM.items() if key != field})


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": "measured"},
        {"date": "yesterday"},
        {"model_bytes": -1},
        {"model_sha256": "A" * 64},
        {"machine": "a PC"},
    ],
)
def test_a_published_record_is_never_passed_off_as_another(changed: dict[str, Any]) -> None:
    assert Published.model_validate(PUBLISHED).origin == "published"
    with pytest.raises(ValidationError, match=next(iter(changed))):
        Published.model_validate(PUBLISHED | changed)


def test_a_prompt_is_a_text_or_a_file() -> None:
    assert Prompt.model_validate(" Hello ").text == " Hello "
    assert Prompt.model_validate({"file": "a.txt"}).file == "a.txt"
    for wrong in ("", {}, {"text": ""}, {"text": "a", "file": "b"}, {"file": ""}, 5, None, ["a"]):
        with pytest.raises(ValidationError):
            Prompt.model_validate(wrong)


def test_a_kind_objects_to_nothing_by_default() -> None:
    experiment = Experiment.model_validate(
        {"kind": "some-kind", "title": BOTH, "prompt": "a", "endpoint": "chat"}
    )
    assert experiment.objections(Sampling(seed="engine")) == []
    assert (experiment.server, experiment.sampling, experiment.model) == ({}, {}, None)


def test_nothing_is_overridden_unless_it_is_said() -> None:
    assert Override() == Override(model=None, engine=None)


def test_declarations_are_the_yaml_files_of_the_folder_by_name(tmp_path: Path) -> None:
    assert declaration_paths(tmp_path) == []
    for name in ("b.yaml", "a.yaml", "a/c.yaml", "d.yml", "pins/engines.yaml"):
        path = tmp_path / "receipts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert [path.name for path in declaration_paths(tmp_path)] == ["a.yaml", "b.yaml"]
