"""What a page must say of each claim: its sentence of today and no other, and the prose with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from generator.article import LANGUAGES, Language, render_page
from generator.article.functions import Functions
from generator.article.page import template_environment
from generator.article.words import read_words
from generator.claims import Outcome
from generator.evidence import Evidence
from tests.project import SHIPPED

WORDS = {lang: read_words(SHIPPED, lang) for lang in LANGUAGES}
OUTCOMES: tuple[Outcome, ...] = ("holds", "fails", "unmeasured")


def sentences(evidence: Evidence, lang: Language, name: str) -> Mapping[Outcome, Markup]:
    """Return the sentence for each outcome of a claim, with *evidence*'s facts in it."""
    functions, judged = functions_of(evidence, lang), evidence.claims[name]
    return {outcome: functions.sentence(replace(judged, outcome=outcome)) for outcome in OUTCOMES}


def functions_of(evidence: Evidence, lang: Language) -> Functions:
    """Return what the page's template may call."""
    prefix = {"zh": "../../", "en": "../../../"}[lang]
    return Functions(template_environment([SHIPPED]), evidence, WORDS[lang], prefix)


def spans(page: str) -> set[tuple[str, str]]:
    """Return the class and the inside of each claim on a page."""
    return set(re.findall(r'<span class="claim (\w+)">(.*?)</span>', page))


def assert_outcomes_are_told(evidence: Evidence, lang: Language) -> None:
    """Assert that a page has each claim's sentence of today, and no other one of it."""
    page = render_page([SHIPPED], evidence, lang)
    expected = set()
    for name, judged in evidence.claims.items():
        told = sentences(evidence, lang, name)
        expected.add((judged.outcome, str(told[judged.outcome])))
        for outcome in OUTCOMES[:2]:
            if outcome != judged.outcome:
                assert told[outcome] not in page, f"{name} also says that it {outcome}"
    assert spans(page) == expected
    assert_branches_follow(evidence, lang, page)


def assert_branches_follow(evidence: Evidence, lang: Language, page: str) -> None:
    """Assert that of each branch in the template just the prose is there that should be."""
    source = (SHIPPED / f"articles/{evidence.declaration.article}/{lang}.md.j2").read_text()
    looked = 0
    for prose, wanted in branches(source, functions_of(evidence, lang).context()):
        assert (prose in page) == wanted, prose
        looked += 1
    assert looked >= source.count("{% if")


def branches(source: str, values: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the opening words of each branch of a template, and whether they should appear."""
    sandbox = ImmutableSandboxedEnvironment()
    stack: list[list[bool]] = []  # of each open `if`: [a branch was taken, this one is]
    parts = re.split(r"\{% (if|elif|else|endif)(.*?) ?%\}", source)
    for word, test, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        if word == "endif":
            stack.pop()
            continue
        true = word == "else" or bool(sandbox.compile_expression(test)(**values))
        if word == "if":
            stack.append([true, true])
        else:
            taken, _ = stack[-1]
            stack[-1] = [taken or true, true and not taken]
        prose = re.split(r"\{[{%]|\n", text.strip())[0].strip()
        if prose:
            yield prose, all(active for _, active in stack)
