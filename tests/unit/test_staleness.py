"""Staleness: what was changed since a measurement is named; wording is nothing of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from generator.declaration import Override
from generator.errors import SiteError
from generator.evidence import declare, gather
from generator.experiments import kinds
from generator.publish import render_articles
from generator.receipt import read, receipt_path
from generator.schema import Bilingual, Model
from generator.staleness import changes
from tests.project import (
    ANSWERS,
    FIXTURE,
    measured_project,
    receipt_of,
    templates_of,
)

CLAIM = "the condition of the claim differ"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured_project(tmp_path_factory.mktemp("once"))


@pytest.fixture
def project(once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(once, tmp_path / "project")


def edited(root: Path, old: str, new: str) -> dict[str, list[str]]:
    """Edit the declaration, and return what is then said of each stale receipt."""
    path = root / "receipts" / "small.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    declaration = declare(root, "small")
    receipts = {n: read(receipt_path(root, "small", n), name=n) for n in ANSWERS}
    return {
        name: [str(change) for change in changed]
        for name, changed in gather(declaration, receipts).stale.items()
    }


def page(root: Path, lang: str) -> str:
    folder = root / "site" / lang / "articles"
    return (folder / "small.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "stale"),
    [
        (
            "{seed: 7, temperature: 0}",
            "{seed: 7, temperature: 0.9}",
            {"widths": ["sampling.temperature was 0.0 and is now 0.9"]},
        ),
        ("{seed: 7}", "{seed: 8}", {"replays": ["sampling.seed was 7 and is now 8"]}),
        (
            "prompt: Count",
            "prompt: Discount",
            {"widths": ['prompts.prompt was "Count" and is now "Discount"']},
        ),
        ("runs: 4", "runs: 5", {"runs": ["runs was 4 and is now 5"]}),
        (
            "{cache_prompt: true}",
            "{cache_prompt: false}",
            {"widths": ["server.cache_prompt was true and is now false"]},
        ),
        (
            "{seed: 7, temperature: 0}",
            "{seed: 7, temperature: 0, extra: {dry_base: 2}}",
            {"widths": ["sampling.extra.dry_base was absent and is now 2"]},
        ),
        (
            "when: runs.distinct > 1",
            "when: runs.distinct > 2",
            {"runs": [f"{CLAIM} was runs.distinct > 1, now runs.distinct > 2"]},
        ),
        (
            "when: runs.distinct > 1",
            "when: never.distinct > 1",
            {"runs": [f"{CLAIM} was runs.distinct > 1, now never.distinct > 1"]},
        ),
        (
            "  same:\n",
            "  again:\n",
            {
                "replays": [
                    "the claim again was added after measuring",
                    "the claim same was removed after measuring",
                ]
            },
        ),
    ],
)  # fmt: skip
def test_what_was_changed_is_named(
    project: Path, old: str, new: str, stale: dict[str, list[str]]
) -> None:
    assert edited(project, old, new) == stale


def test_a_changed_default_makes_every_receipt_stale_that_uses_it(project: Path) -> None:
    found = edited(project, "max_tokens: 32", "max_tokens: 33")
    assert found == {name: ["sampling.max_tokens was 32 and is now 33"] for name in ANSWERS}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("en: A small article", "en: A short article"),
        ("en: One experiment of each", "en: One each of"),
        ("en: Asked again", "en: Asked once more"),
        ("en: There are", "en: There are, today,"),
        ("en: Answers differ", "en: They differ"),
        ("zh: 这里是编的。", "zh: 这里是编的！"),
        ("name: tests", "name: somebody"),
        ("experiments:", "# a note\nexperiments:"),
    ],
)
def test_wording_may_be_mended_without_measuring_again(project: Path, old: str, new: str) -> None:
    assert edited(project, old, new) == {}
    render_articles(project, templates_of(project), ["small"])
    assert "stale" not in page(project, "en")


def test_every_kind_keeps_its_wording_out_of_what_is_measured() -> None:
    bare = []
    for kind in kinds().values():
        bare += list(_measured_wording(kind.experiment, kind.name))
    assert bare == []


def _measured_wording(schema: type[Model], at: str) -> Iterator[str]:
    """Yield where a schema has wording that its dump would hold."""
    for name, field in schema.model_fields.items():
        for part in _parts(field.annotation):
            if part is Bilingual and not field.exclude:
                yield f"{at}.{name}"
            elif part is not Bilingual and isinstance(part, type) and issubclass(part, Model):
                yield from _measured_wording(part, f"{at}.{name}")


def _parts(annotation: Any) -> Iterator[Any]:
    arguments = get_args(annotation)
    if not arguments:
        yield annotation
    for argument in arguments:
        yield from _parts(argument)


def test_a_stale_receipt_is_refused_by_name_and_nothing_is_written(project: Path) -> None:
    before = page(project, "en")
    edited(project, "{seed: 7, temperature: 0}", "{seed: 7, temperature: 0.9}")
    edited(project, "runs: 4", "runs: 5")
    with pytest.raises(SiteError) as caught:
        render_articles(project, templates_of(project), ["small"])
    assert caught.value.details == (
        "small/runs: runs was 4 and is now 5",
        "small/widths: sampling.temperature was 0.0 and is now 0.9",
    )
    assert "receipts run small/runs small/widths" in caught.value.remedy
    assert "--stale" in caught.value.remedy
    assert page(project, "en") == before


@pytest.mark.parametrize(
    ("lang", "banner", "change"),
    [
        ("zh", "收据过时了。", "测的时候是 0&#46;0，现在声明的是 0&#46;9"),
        ("en", "These receipts are stale.", "was 0&#46;0 and is now declared as 0&#46;9"),
    ],
)
def test_a_stale_page_shows_what_was_sent_under_a_banner(
    project: Path, lang: str, banner: str, change: str
) -> None:
    before = page(project, lang)
    edited(project, "{seed: 7, temperature: 0}", "{seed: 7, temperature: 0.9}")
    render_articles(project, templates_of(project), ["small"], stale=True)
    after = page(project, lang)
    start, end = after.index('<div class="stale"'), after.index("</div>", after.index("stale")) + 6
    assert banner in after[start:end]
    assert change in after[start:end]
    assert (after[:start].rstrip() + "\n\n" + after[end:].lstrip()).split() == before.split()


@pytest.mark.parametrize(
    ("lang", "mark"),
    [
        ("zh", "这个条件是测完之后才定的"),
        ("en", "condition was written after the measurement"),
    ],
)
@pytest.mark.parametrize(
    ("old", "new"), [("distinct > 1", "distinct > 2"), ("  differ:\n", "  another:\n")]
)
def test_a_claim_that_is_younger_than_its_measurement_is_marked(
    project: Path, old: str, new: str, lang: str, mark: str
) -> None:
    assert mark not in page(project, lang)
    for template in (project / "templates").rglob("*.j2"):
        named = template.read_text()
        renamed = new.strip(" :\n") if new.endswith("\n") else "differ"
        template.write_text(named.replace('"differ"', f'"{renamed}"'))
    edited(project, old, new)
    render_articles(project, templates_of(project), ["small"], stale=True)
    assert mark in page(project, lang)


def test_a_pin_that_a_run_put_in_the_declared_place_is_not_stale(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE, tmp_path, dirs_exist_ok=True)
    pins = tmp_path / "receipts" / "pins" / "models.yaml"
    text = pins.read_text()
    pins.write_text(text + text.partition("models:\n")[2].replace("tiny-q4_1:", "other-q4_1:", 1))
    used = declare(tmp_path, "small", Override(model="other-q4_1"))
    receipt = receipt_of(tmp_path, used, "widths", ANSWERS["widths"])
    assert receipt.declaration.experiment["replaced"] == {"model": "tiny-q4_1"}
    assert changes(declare(tmp_path, "small"), "widths", receipt) == ()


def test_another_declared_pin_makes_a_receipt_stale(project: Path) -> None:
    found = edited(project, "model: tiny-q4_1", "model: other-q4_1")
    assert found == {name: ['model was "tiny-q4_1" and is now "other-q4_1"'] for name in ANSWERS}


def test_a_plan_that_another_program_expanded_is_named_by_what_was_asked(project: Path) -> None:
    receipt = read(receipt_path(project, "small", "widths"), name="widths")
    (boot, *others) = receipt.boots
    renamed = boot.model_copy(update={"settings": {**boot.settings, "n_ubatch": 17}})
    older = receipt.model_copy(update={"plan_sha256": "0" * 64, "boots": [renamed, *others]})
    (change, *more) = changes(declare(project, "small"), "widths", older)
    assert (change.name, change.was, change.now) == (f"{boot.name}.settings.n_ubatch", "17", "16")
    assert more == []
