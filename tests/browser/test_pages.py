"""What a reader sees, in a real browser: both languages, search, themes, phones, accessibility."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from generator.text import inert
from tests.browser.article import ARTICLE
from tests.browser.conftest import Built, Scheme, Visit, visiting
from tests.browser.hostile import HOSTILE

pytestmark = pytest.mark.browser

PAGE = f"articles/{ARTICLE}/"
# what textContent would be if every badge were the character it stands for
UNBADGED = """element => {
  const copy = element.cloneNode(true);
  for (const badge of copy.querySelectorAll('.uc'))
    badge.textContent = badge.dataset.cp;
  return Array.from(copy.querySelectorAll('.uc')).length + '|' + copy.textContent;
}"""


def expected(text: str) -> str:
    """Return what `UNBADGED` gives for an output whose badges are right."""
    shown = [f"U+{ord(c):04X}" if 'class="uc"' in inert(c) else c for c in text]
    return f"{sum(a != b for a, b in zip(shown, text, strict=True))}|{''.join(shown)}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_quiet_and_fits(
    chromium: Browser, built: Built, width: int, scheme: Scheme
) -> None:
    with visiting(chromium, built, width=width, scheme=scheme) as visit:
        for path in built.pages:
            visit.go(path)
            visit.page.wait_for_load_state("networkidle")
            wide = visit.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{path} is {wide} px wide"
            assert visit.page.locator("h1").count() == 1
    assert len(built.pages) >= 6


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_is_accessible(
    chromium: Browser, built: Built, width: int, scheme: Scheme
) -> None:
    found = {}
    with visiting(chromium, built, width=width, scheme=scheme) as visit:
        for path in (*built.pages, "404.html", "en/404.html"):
            visit.go(path)
            results = Axe().run(visit.page).response["violations"]
            grave = [v for v in results if v["impact"] in ("serious", "critical")]
            if grave:
                found[path] = [
                    (v["id"], [node["html"][:120] for node in v["nodes"][:4]]) for v in grave
                ]
    assert found == {}


@pytest.mark.parametrize(
    ("start", "name", "end", "lang"),
    [
        (PAGE, "English", f"en/{PAGE}", "en"),
        (f"en/{PAGE}", "中文", PAGE, "zh"),
        ("check/", "English", "en/check/", "en"),
        ("en/", "中文", "", "zh"),
    ],
)
def test_the_language_link_leads_to_the_same_page(
    visit: Visit, start: str, name: str, end: str, lang: str
) -> None:
    visit.go(start)
    visit.page.get_by_role("link", name=name, exact=True).click()
    expect(visit.page).to_have_url(visit.base + end)
    expect(visit.page.locator("html")).to_have_attribute("lang", lang)


def search_for(visit: Visit, query: str) -> None:
    """Type into the search box; an input method ends with a key, and the theme waits for one."""
    box = visit.page.get_by_role("textbox")
    box.click()
    box.press_sequentially(query)
    box.press("End")


@pytest.mark.parametrize(
    ("path", "query"),
    [("", "种子"), ("", "温度"), ("", "temperature"), ("en/", "temperature"), ("en/", "seed")],
)
def test_search_finds(visit: Visit, path: str, query: str) -> None:
    visit.go(path)
    search_for(visit, query)
    result = visit.page.locator(f".md-search-result__link[href*='{PAGE}']").first
    expect(result).to_be_visible()
    assert ("/en/" in str(result.get_attribute("href"))) == (path == "en/")


def test_a_search_result_shows_hostile_text_inert(visit: Visit) -> None:
    visit.go("en/")
    search_for(visit, "onerror")
    expect(visit.page.locator(".md-search-result__link").first).to_be_visible()
    assert visit.page.locator(".md-search-result :is(img, script, svg a, iframe)").count() == 0
    assert visit.page.title() == "Receipts"


@pytest.mark.parametrize("path", ["", "en/"])
def test_the_theme_toggles_and_is_remembered_in_both_languages(visit: Visit, path: str) -> None:
    body = visit.page.locator("body")
    visit.go(path)
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    light = body.evaluate("e => getComputedStyle(e).backgroundColor")
    visit.page.locator("label[for='__palette_1']").click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    assert body.evaluate("e => getComputedStyle(e).backgroundColor") != light
    visit.go(PAGE if path == "en/" else f"en/{PAGE}")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")


@pytest.mark.parametrize(
    ("path", "heading", "home"),
    [("nowhere/", "没有这一页", ""), ("en/nowhere/", "There is no such page", "en/")],
)
def test_a_missing_page_is_said_in_the_language_asked(
    chromium: Browser, fixture_site: Built, path: str, heading: str, home: str
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    answer = page.goto(fixture_site.base + path)
    assert answer is not None
    assert answer.status == 404
    expect(page.locator("h1")).to_have_text(heading)
    page.locator("article a").click()
    expect(page).to_have_url(fixture_site.base + home)
    context.close()


@pytest.mark.parametrize("path", [PAGE, f"en/{PAGE}"])
def test_hostile_outputs_are_shown_and_do_nothing(visit: Visit, path: str) -> None:
    visit.go(path)
    title = visit.page.title()
    blocks = visit.page.locator("td.hostile").evaluate_all(f"all => all.map({UNBADGED})")
    inline = visit.page.locator("span.hostile").evaluate_all(f"all => all.map({UNBADGED})")
    assert dict(zip(HOSTILE, blocks, strict=True)) == {k: expected(v) for k, v in HOSTILE.items()}
    assert dict(zip(HOSTILE, inline, strict=True)) == {k: expected(v) for k, v in HOSTILE.items()}
    assert "owned" not in title
    article = visit.page.locator("article")
    assert article.locator("script, iframe, img, object, form").count() == 0
    assert article.locator("a[href^='javascript:'], [onclick], [onerror], [onload]").count() == 0
    headings = article.locator("h1, h2, h3").evaluate_all("all => all.map(h => h.id)")
    assert headings == ["top", "runs", "cause", "hostile", "receipt", "provenance"]


def test_a_fact_leads_to_its_receipt(visit: Visit) -> None:
    visit.go(f"en/{PAGE}")
    address = str(visit.page.locator("a.fact").first.evaluate("a => a.href"))
    assert address.endswith("five-runs.json#/analysis/runs/0/thinking_chars")
    assert visit.page.request.get(address).json()["analysis"]["runs"][0]["thinking_chars"] == 884


def test_a_figure_follows_the_theme(chromium: Browser, fixture_site: Built) -> None:
    fills = []
    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        with visiting(chromium, fixture_site, scheme=scheme) as visit:
            visit.go(PAGE)
            text = visit.page.locator("figure svg text").first
            fills.append(text.evaluate("e => getComputedStyle(e).fill"))
    assert len(set(fills)) == 2


def test_rows_become_cards_on_a_phone(chromium: Browser, fixture_site: Built) -> None:
    with visiting(chromium, fixture_site, width=390) as visit:
        visit.go(f"en/{PAGE}")
        row = visit.page.locator("tr.apart")
        assert row.evaluate("e => getComputedStyle(e).display") == "grid"
        label = "e => getComputedStyle(e, '::before').content"
        assert row.locator("td.number").evaluate(label) == '"thinking characters"'
        expect(row.locator(".badge")).to_be_visible()


def test_a_command_can_be_copied(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.go(f"en/{PAGE}")
    block = visit.page.locator(".highlight").first
    block.hover()
    block.locator(".md-code__button").click()
    expect(visit.page.locator(".md-dialog")).to_contain_text("Copied")
    copied = visit.page.evaluate("navigator.clipboard.readText()")
    assert copied == block.locator("code").inner_text().rstrip("\n")
    assert copied.startswith("curl -s ")
