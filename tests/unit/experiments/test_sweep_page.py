"""How a sweep is told: every verdict in both languages, and nothing concluded without ground."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from generator.article import LANGUAGES, Language, render_page
from generator.declaration import Resolved
from generator.evidence import declare, gather
from generator.sweeps.declared import Sweep
from tests.factory import make_receipt
from tests.project import ROOT, SHIPPED
from tests.unit.experiments.sweeping import Server, boots_of, warm_flips

FIXTURE = ROOT / "tests" / "assets" / "sweeps"


@cache
def page(server: Server, lang: Language) -> str:
    declaration = declare(FIXTURE, "suspects")
    experiment: Resolved[Sweep] = declaration.experiments["long"]  # type: ignore[assignment]
    boots = boots_of(experiment, server)
    receipt = make_receipt("sweep", boots, article="suspects", experiment="long")
    evidence = gather(declaration, {"long": receipt})
    return render_page([FIXTURE / "templates", SHIPPED], evidence, lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_sweep_is_told_as_it_was(lang: Language, golden: Callable[[str, str], None]) -> None:
    golden(f"sweep.{lang}.md", page(warm_flips, lang))
