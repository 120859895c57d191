"""The site: two builds put in place as one, and the check that nothing unfit is published."""

from __future__ import annotations

import base64
import hashlib
import http.client
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from generator import site
from generator.errors import SiteError
from generator.site_check import check_built
from generator.site_policy import policy, with_policy
from tests.browser.article import ARTICLE, write_project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one article, built once."""
    root = tmp_path_factory.mktemp("project")
    write_project(root)
    site.build(root)
    return root


@pytest.fixture
def built(project: Path, tmp_path: Path) -> Path:
    """A copy of the built site, to be spoiled."""
    return Path(shutil.copytree(project / "public", tmp_path / "public"))


@pytest.fixture(scope="module")
def address(project: Path) -> Iterator[tuple[str, int]]:
    with site.server(project / "public") as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield "127.0.0.1", running.server_port
        running.shutdown()
        thread.join()


def get(address: tuple[str, int], path: str) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection(*address, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, answer.headers["Content-Type"], body


def test_both_languages_have_every_page(project: Path) -> None:
    public = project / "public"
    for page in ("index.html", "404.html", "check/index.html", f"articles/{ARTICLE}/index.html"):
        assert (public / page).is_file()
        assert (public / "en" / page).is_file()


def test_receipts_are_published_once(project: Path) -> None:
    public = project / "public"
    source = project / "receipts" / ARTICLE / "five-runs.json"
    assert (public / "receipts" / ARTICLE / "five-runs.json").read_bytes() == source.read_bytes()
    assert (public / "receipts" / ARTICLE / "SHA256SUMS").is_file()
    assert (public / "receipts" / f"{ARTICLE}.yaml").is_file()
    assert not (public / "en" / "receipts").exists()


@pytest.mark.parametrize(
    ("page", "title", "day"),
    [
        ("index.html", "同一个种子 &#60;五次&#62; &#38; 四个答案", "2026年12月2日"),
        ("en/index.html", "One seed &#60;five runs&#62; &#38; four answers", "2 December 2026"),
    ],
)
def test_the_home_page_lists_articles(project: Path, page: str, title: str, day: str) -> None:
    html = (project / "public" / page).read_text("utf-8")
    listed = html[html.index('<ul class="articles">') :].replace("&#32;", " ")
    assert f'<a href="articles/{ARTICLE}/">{title}</a>' in listed
    assert f'<time datetime="2026-12-02">{day}</time>' in listed


def test_titles_are_escaped_where_the_theme_prints_them_raw(project: Path) -> None:
    html = (project / "public" / "en" / "articles" / ARTICLE / "index.html").read_text("utf-8")
    assert "<title>One seed &lt;five runs&gt; &amp; four answers - Receipts</title>" in html
    assert "<five" not in html


def test_no_canonical_address_without_a_known_one(project: Path) -> None:
    assert 'rel="canonical"' not in (project / "public" / "index.html").read_text("utf-8")


def test_a_known_address_gives_canonical_links_and_404_paths(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITE_URL", "https://example.org/receipts")
    out = site.build(project, out=tmp_path / "out").out
    english = (out / "en" / "check" / "index.html").read_text("utf-8")
    assert '<link rel="canonical" href="https://example.org/receipts/en/check/">' in english
    assert 'href="/receipts/en/assets/receipts.css"' in (out / "en" / "404.html").read_text("utf-8")


def test_a_report_counts_what_is_there(project: Path) -> None:
    report = site.build(project)
    assert report.out == project / "public"
    assert report.pages == len(list((project / "public").rglob("*.html"))) == 10
    assert report.size > 100_000
    assert 0 < report.seconds < 60
    assert [path.name for path in (project / ".work").iterdir()] == [site.WRITTEN]


def test_a_failed_build_leaves_the_old_site(project: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(project, tmp_path / "project"))
    before = (root / "public" / "index.html").read_bytes()
    (root / "mkdocs.en.yml").write_text("INHERIT: mkdocs.yml\nno_such_key: 1\n")
    with pytest.raises(SiteError, match=r"mkdocs\.en\.yml") as caught:
        site.build(root)
    assert any("no_such_key" in line for line in caught.value.details)
    assert (root / "public" / "index.html").read_bytes() == before


def test_an_unfit_page_leaves_the_old_site(project: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(project, tmp_path / "project"))
    before = (root / "public" / "en" / "check" / "index.html").read_bytes()
    page = root / "site" / "en" / "check.md"
    page.write_text(page.read_text("utf-8") + "\n[x](javascript:alert(1))\n", "utf-8")
    with pytest.raises(SiteError) as caught:
        site.build(root)
    assert caught.value.details == (
        "en/check/index.html: links to javascript:alert(1), which is no web address",
    )
    assert (root / "public" / "en" / "check" / "index.html").read_bytes() == before


def test_a_folder_that_is_no_site_is_not_replaced(project: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    with pytest.raises(SiteError, match="holds no site"):
        site.build(project, out=tmp_path)
    assert precious.read_text() == "mine"


def test_only_what_the_last_build_wrote_is_replaced(project: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(project, tmp_path / "project"))
    public = root / "public"
    site.build(root)
    (public / ".git").write_text("gitdir: elsewhere")
    (public / "CNAME").write_text("example.org")
    (public / "articles" / "mine.html").write_text("mine")
    folder = public.stat().st_ino
    (root / "site" / "zh" / "articles" / "gone.md").write_text("# 一页 {#top}\n", encoding="utf-8")
    (root / "site" / "en" / "articles" / "gone.md").write_text(
        "# A page {#top}\n", encoding="utf-8"
    )
    site.build(root)
    assert (public / "articles" / "gone" / "index.html").is_file()
    (root / "site" / "zh" / "articles" / "gone.md").unlink()
    (root / "site" / "en" / "articles" / "gone.md").unlink()
    site.build(root)
    assert not (public / "articles" / "gone").exists()
    assert not (public / "en" / "articles" / "gone").exists()
    assert (public / ".git").read_text() == "gitdir: elsewhere"
    assert (public / "CNAME").read_text() == "example.org"
    assert (public / "articles" / "mine.html").read_text() == "mine"
    assert public.stat().st_ino == folder  # a mount or a worktree stays what it is


def test_a_first_publication_into_a_worktree_works(project: Path, tmp_path: Path) -> None:
    tree = tmp_path / "pages"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: elsewhere")
    (tree / "CNAME").write_text("example.org")
    site.build(project, out=tree)
    assert (tree / "index.html").is_file()
    assert (tree / "CNAME").read_text() == "example.org"


def test_a_folder_in_a_file_s_place_is_told_of(project: Path, tmp_path: Path) -> None:
    tree = tmp_path / "pages"
    (tree / ".git").mkdir(parents=True)
    (tree / "index.html").mkdir()
    with pytest.raises(SiteError, match="cannot be written"):
        site.build(project, out=tree)


SPOILT = {
    "foreign-script": ('<script src="https://example.com/x.js"></script>', "from elsewhere"),
    "foreign-image": ('<img src="//example.com/x.png">', "from elsewhere"),
    "foreign-style": ('<link rel="stylesheet" href="http://example.com/x.css">', "elsewhere"),
    "foreign-svg-image": ('<svg><image href="https://example.com/x"/></svg>', "elsewhere"),
    "frame": ('<iframe src="/check/"></iframe>', "<iframe> has no place"),
    "base": ('<base href="/en/">', "<base> has no place"),
    "style-element": ("<style>p{}</style>", "<style> has no place"),
    "style-attribute": ('<p style="color:red">', "<p style> has no place"),
    "handler": ('<p onclick="x()">', "<p onclick> is an inline event handler"),
    "handler-in-capitals": ("<P ONMOUSEOVER=x()>", "inline event handler"),
    "javascript": ('<a href="javascript:x()">x</a>', "no web address"),
    "javascript-disguised": ('<a href=" JaVa&#9;Script:x()">x</a>', "no web address"),
    "data-page": ('<a href="data:text/html,x">x</a>', "no web address"),
    "inline-script": ("<script>x()</script>", "not the one for its scripts"),
    "dead-link": ('<a href="nowhere/">x</a>', "does not exist"),
    "dead-fragment": ('<a href="../#nowhere">x</a>', "whose fragment leads nowhere"),
    "dead-image": ('<img src="x.png">', "does not exist"),
    "dead-pointer": (
        f'<a href="../receipts/{ARTICLE}/five-runs.json#/analysis/runs/9">x</a>',
        "whose fragment leads nowhere",
    ),
}


@pytest.mark.parametrize(("markup", "fault"), SPOILT.values(), ids=SPOILT.keys())
def test_what_is_unfit_is_named(built: Path, markup: str, fault: str) -> None:
    page = built / "check" / "index.html"
    page.write_text(page.read_text("utf-8").replace("</article>", f"{markup}</article>"), "utf-8")
    with pytest.raises(SiteError) as caught:
        check_built(built)
    assert len(caught.value.details) == 1
    assert caught.value.details[0].startswith("check/index.html: ")
    assert fault in caught.value.details[0]


def test_links_that_lead_somewhere_pass(built: Path) -> None:
    page = built / "check" / "index.html"
    good = (
        '<a href="#words">x</a><a href="/en/check/#words">x</a><a href="https://example.com">x</a>'
        f'<a href="../receipts/{ARTICLE}/five-runs.json#/analysis/runs/4">x</a>'
    )
    page.write_text(page.read_text("utf-8").replace("</article>", f"{good}</article>"), "utf-8")
    check_built(built)
    assert good in page.read_text("utf-8")


def remove_policy(html: str) -> str:
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)


def loosen_policy(html: str) -> str:
    return html.replace("default-src 'none'", "default-src *")


@pytest.mark.parametrize("spoil", [remove_policy, loosen_policy])
def test_a_page_without_its_policy_is_named(built: Path, spoil: Callable[[str], str]) -> None:
    page = built / "404.html"
    page.write_text(spoil(page.read_text("utf-8")), "utf-8")
    with pytest.raises(SiteError) as caught:
        check_built(built)
    assert caught.value.details[0].startswith("404.html: ")
    assert "Content-Security-Policy" in caught.value.details[0]


def test_a_page_in_one_language_only_is_named(built: Path) -> None:
    page = built / "en" / "extra.html"
    page.write_text(with_policy('<meta charset="utf-8"><p>x</p>'))
    with pytest.raises(SiteError) as caught:
        check_built(built)
    assert caught.value.details == ("extra.html: exists in one language only",)


def test_a_policy_holds_the_digests_of_inline_scripts_only() -> None:
    data = '<script type="application/json">{}</script>'
    page = f'<script>a&&b</script><script src="x.js"></script>{data}'
    digest = base64.b64encode(hashlib.sha256(b"a&&b").digest()).decode()
    assert re.findall("'sha256-[^']*'", policy(page)) == [f"'sha256-{digest}'"]


@pytest.mark.parametrize(
    ("path", "status", "holds"),
    [
        ("/", 200, "空口无凭"),
        ("/en/", 200, "Every number has a receipt"),
        ("/nowhere/", 404, "没有这一页"),
        ("/en/nowhere/", 404, "There is no such page"),
        (f"/receipts/{ARTICLE}/SHA256SUMS", 200, "five-runs.json"),
    ],
)
def test_the_server_answers_in_the_language_asked(
    address: tuple[str, int], path: str, status: int, holds: str
) -> None:
    found, kind, body = get(address, path)
    assert found == status
    assert holds in body
    assert "html" in kind or kind == "text/plain; charset=utf-8"


def test_a_taken_port_is_named(project: Path, address: tuple[str, int]) -> None:
    with pytest.raises(SiteError, match=f"Port {address[1]}"):
        site.server(project / "public", address[1])


def test_nothing_to_serve_is_said(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="There is no site"):
        site.serve(tmp_path, 0)


class Policies(HTMLParser):
    """Collects the policies that a browser would find in a page, before anything they govern."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.late = False
        self._governed = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if (names.get("http-equiv") or "").lower() == "content-security-policy":
            self.found.append(names["content"] or "")
            self.late |= self._governed
        self._governed |= tag in {"script", "link", "style", "img", "base"}


DIRECTIVES = {
    "default-src": ["'none'"],
    "style-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    "connect-src": ["'self'"],
    "worker-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
}
"""All but the scripts', which has their digests. None here follows from `default-src` alone: that
says nothing of `base-uri` and `form-action`."""


def test_every_page_has_each_directive_of_the_policy(project: Path) -> None:
    pages = sorted((project / "public").rglob("*.html"))
    assert len(pages) > 4
    for path in pages:
        page = Policies()
        page.feed(path.read_text(encoding="utf-8"))
        (text,) = page.found
        directives = {
            name: sources for name, *sources in (part.split() for part in text.split(";"))
        }
        scripts = directives.pop("script-src")
        assert directives == DIRECTIVES, path
        assert scripts[0] == "'self'", path
        assert all(re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", one) for one in scripts[1:]), path
        assert not page.late, path
