"""A find becomes a declaration that can be checked, planned and measured as it was hunted."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.article.lint import lint_article
from generator.declaration import Declaration
from generator.errors import RunError
from generator.evidence import declare, gather
from generator.experiments import plan_experiment
from generator.hunt.declare import write_find
from generator.hunt.wish import resolve
from tests.project import templates_of
from tests.unit.hunt.flipping import COLD_WARM, MODEL, sides_of

PROMPT = 'A prompt: {{ braces }}, "quotes",\n\ttabs, 你好 and no end'
NAME = "hunt-one"


def found(project: Path, left: str, right: str, common: str = "") -> Declaration:
    sides = sides_of(left, right, common)
    written = write_find(
        project, templates_of(project), resolve(NAME, sides, MODEL, 16), sides, PROMPT
    )
    assert [path.relative_to(project).as_posix() for path in written] == [
        f"receipts/{NAME}.yaml",
        f"receipts/prompts/{NAME}.txt",
        f"templates/articles/{NAME}/zh.md.j2",
        f"templates/articles/{NAME}/en.md.j2",
    ]
    return declare(project, NAME)


@pytest.mark.parametrize(
    ("left", "right", "cells"),
    [
        (*COLD_WARM, {"baseline cold", "baseline warm"}),
        (*reversed(COLD_WARM), {"baseline cold", "baseline warm"}),
        ("n_ubatch=512", "n_ubatch=64", {"baseline cold", "n_ubatch=64 cold"}),
        (
            "n_ubatch=512 cache=warm",
            "n_ubatch=64 cache=warm",
            {"baseline cold", "baseline warm", "n_ubatch=64 cold", "n_ubatch=64 warm"},
        ),
        (
            "n_ubatch=64",
            "flash_attn=off",
            {"baseline cold", "n_ubatch=512 cold", "flash_attn=off cold",
             "n_ubatch=512 flash_attn=off cold"},
        ),
        ("engine=one", "engine=two", {"baseline cold", "engine=two cold"}),
    ],
)  # fmt: skip
def test_both_sides_are_cells_of_its_sweep(
    project: Path, left: str, right: str, cells: set[str]
) -> None:
    plan = plan_experiment(found(project, left, right).experiments["found"])
    assert {
        f"{boot.name.removesuffix(' a')} {ask.name}"
        for boot in plan.boots
        for ask in boot.asks
        if boot.name.endswith(" a") and ask.name != "control"
    } == cells


def test_it_asks_what_was_hunted(project: Path) -> None:
    declaration = found(project, "n_ubatch=64", "n_ubatch=8192", "threads=1 threads_batch=1")
    experiment = declaration.experiments["found"]
    assert experiment.prompt == PROMPT
    assert (experiment.sampling.temperature, experiment.sampling.max_tokens) == (0, 16)
    first, *_ = plan_experiment(experiment).boots
    server = first.server
    assert (server.threads, server.n_ubatch, server.n_batch) == (1, 64, 8192)


def test_its_pages_have_no_faults(project: Path) -> None:
    declaration = found(project, *COLD_WARM)
    assert lint_article(templates_of(project), gather(declaration, {})) == []


def test_the_same_find_can_be_written_twice_and_no_other_overwritten(project: Path) -> None:
    first = found(project, *COLD_WARM)
    assert found(project, *COLD_WARM).sha256 == first.sha256
    with pytest.raises(RunError, match="is there already") as caught:
        found(project, "n_ubatch=512", "n_ubatch=64")
    assert "--name" in caught.value.remedy
    assert declare(project, NAME).sha256 == first.sha256
