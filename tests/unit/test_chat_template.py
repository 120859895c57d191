"""Chat templates: what is refused, and what gives another prompt each time."""

from __future__ import annotations

import pytest

from generator.chat_template import Refusal, impure, refusal, syntax_error

CLOCKS = [
    '{{ strftime_now("%Y-%m-%d %H:%M:%S") }}',
    "{% set today = strftime_now('%d') %}{{ today }}",
    "{% if strftime_now is defined %}{{ strftime_now('%H') }}{% endif %}",
    "{{ now() }}",
    "{{ datetime.now().isoformat() }}",
    "{{ datetime['now']() }}",
    "{{ datetime }}",
    "{{ 'Today is ' + date_string }}",
    "{% if not date_string is defined %}{% set date_string = '1' %}{% endif %}{{ date_string }}",
    "{% set f = strftime_now %}{{ f('%H:%M:%S') }}",
    "{% set tools = {'time': strftime_now} %}{{ tools.time('%S') }}",
    "{{ messages | of_the_server_alone }}{{ strftime_now('%S') }}",
]
DICE = [
    "{{ random() }}",
    "{{ [1, 2, 3] | random }}",
    "{{ range(9) | list | random }}",
    "{{ [[1, 2], [3, 4]] | map('random') | join }}",
]
PURE = [
    "{{ now }}",
    "{{ messages[0].content }}{{ date }}",
    "{% macro now() %}then{% endmacro %}{{ now() }}",
    "{# strftime_now('%H') #}text",
    "strftime_now('%H')",
    "{{ 'strftime_now()' }}",
    "{% if strftime_now is defined %}{% endif %}{{ date_string is not defined }}",
    "{% set date_string = 'then' %}{{ date_string }}",
    "{% macro day(datetime) %}{{ datetime }}{% endmacro %}{{ day(1) }}",
    "{% for datetime in messages %}{{ datetime }}{% endfor %}",
    "{{ messages[0].datetime }}",
    "{{ messages | map('upper') | join }}",
    "{% generation %}{{ messages | length }}{% endgeneration %}",
    "{% for m in messages %}{% continue %}{% endfor %}",
]


@pytest.mark.parametrize("source", CLOCKS)
def test_a_template_that_reads_the_clock_is_found(source: str) -> None:
    assert {call.kind for call in impure(source)} == {"clock"}


@pytest.mark.parametrize("source", DICE)
def test_a_template_that_draws_at_random_is_found(source: str) -> None:
    assert {call.kind for call in impure(source)} == {"random"}


@pytest.mark.parametrize("source", PURE)
def test_what_only_looks_like_such_a_call_is_not_one(source: str) -> None:
    assert syntax_error(source) is None
    assert impure(source) == []


def test_the_line_of_a_call_is_named() -> None:
    assert [(call.name, call.line) for call in impure("a\nb {{ now() }}\n{{ [1]|random }}")] == [
        ("now", 2),
        ("random", 3),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "{{ if .System }}{{ .System }}{{ end }}",
        "{% if x %}",
        "{{ x",
        "{% endfor %}",
    ],
)
def test_a_template_that_is_not_jinja_is_refused_with_its_line(source: str) -> None:
    wrong = syntax_error(f"first line\n{source}")
    assert wrong is not None
    assert wrong[0] == 2
    assert impure(source) == []


LOG = """0.00.489 E srv  init: init: chat template parsing error: Unable to generate parser for \
this template. Automatic parser generation failed:{cause}
0.00.490 E srv  init: init: please consider disabling jinja via --no-jinja
0.00.491 E srv  init: exiting due to model loading error"""
PLACED = """
------------
While executing FilterExpression at line 3, column 13 in source:
...{{ messages | frobnicate }}...
             ^
Error: Unknown (built-in) filter 'frobnicate' for type Array"""
FILTER = "Unknown (built-in) filter 'frobnicate' for type Array"


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (PLACED, Refusal(3, 13, FILTER)),
        (PLACED.replace("\n", "\n  "), Refusal(3, 13, FILTER)),
        (" NotImplemented: no such thing", Refusal(1, 1, "NotImplemented: no such thing")),
        ("", Refusal(1, 1, "it does not say why")),
    ],
)
def test_why_a_server_cannot_use_a_template_is_read_in_its_log(
    cause: str, expected: Refusal
) -> None:
    assert refusal(LOG.format(cause=cause)) == expected


@pytest.mark.parametrize("log", ["", "E srv init: couldn't bind HTTP server socket", "Error: no"])
def test_a_server_that_ends_for_another_reason_has_not_refused_the_template(log: str) -> None:
    assert refusal(log) is None
