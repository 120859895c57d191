"""Programs and settings: missing ones, and proxies of which only the names are shown."""

from __future__ import annotations

import pytest

from generator.doctor import Diagnosis
from generator.doctor.view import Clock
from tests.unit.doctor.machines import NOW, found, make_needs, make_view


def looked_at(**fields: object) -> dict[str, Diagnosis]:
    return found(make_needs(), make_view(**fields))


def without(name: str) -> dict[str, str | None]:
    return {**make_view().programs, name: None}


def test_git_is_missing_or_knows_nothing_of_the_project() -> None:
    missing = looked_at(programs=without("git"))["git"]
    assert (missing.verdict, missing.found) == ("warning", "not found")
    assert "apt-get install git" in missing.remedy
    apart = looked_at(clock=Clock(NOW, NOW, None))["git"]
    assert (apart.verdict, apart.found) == ("warning", "this is no checkout")
    assert looked_at()["git"].verdict == "good"


@pytest.mark.parametrize("name", ["curl", "jq"])
def test_a_missing_tool_is_named_with_its_package(name: str) -> None:
    diagnosis = looked_at(programs=without(name))["curl and jq"]
    assert (diagnosis.verdict, diagnosis.found) == ("warning", f"not found: {name}")
    assert f"apt-get install {name};" in diagnosis.remedy


def test_a_browser_is_wanted_for_its_tests_only() -> None:
    assert looked_at()["browser"].verdict == "good"
    assert looked_at(browser=None)["browser"].verdict == "warning"


@pytest.mark.parametrize(
    ("count", "verdict", "told"),
    [(3, "good", "3 can write"), (0, "warning", "0 can"), (None, "warning", "no fc-list")],
)
def test_fonts_that_can_write_chinese(count: int | None, verdict: str, told: str) -> None:
    diagnosis = looked_at(cjk_fonts=count)["fonts"]
    assert (diagnosis.verdict, told in diagnosis.found) == (verdict, True)


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "none set"),
        ({"http_proxy": ""}, "http_proxy"),
        (
            {"https_proxy": "http://user:secret@proxy:3128", "no_proxy": "localhost"},
            "https_proxy, no_proxy",
        ),
        ({"HTTP_PROXY": "proxy:3128", "http_proxy": "proxy:3128"}, "HTTP_PROXY, http_proxy"),
    ],
)
def test_proxies_that_can_be_used_are_named(environment: dict[str, str], told: str) -> None:
    diagnosis = looked_at(environment=environment)["proxy"]
    assert (diagnosis.verdict, diagnosis.found) == ("good", told)


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"https_proxy": "ftp://secret"}, "https_proxy begins with ftp://"),
        ({"https_proxy": "http://"}, "https_proxy names no host and port"),
        ({"https_proxy": "http://secret:port"}, "https_proxy is no address"),
        ({"ALL_PROXY": "socks5://secret:1080"}, "ALL_PROXY is a SOCKS proxy, for which"),
        ({"http_proxy": "http://a", "HTTP_PROXY": "http://b"}, "http_proxy and HTTP_PROXY differ"),
    ],
)
def test_proxies_that_cannot_be_used(environment: dict[str, str], told: str) -> None:
    diagnosis = looked_at(environment=environment)["proxy"]
    assert (diagnosis.verdict, told in diagnosis.found) == ("warning", True), diagnosis
    assert "secret" not in diagnosis.found


def test_a_socks_proxy_is_fine_where_its_package_is() -> None:
    environment = {"all_proxy": "socks5://proxy:1080"}
    assert looked_at(environment=environment, socks=True)["proxy"].verdict == "good"
