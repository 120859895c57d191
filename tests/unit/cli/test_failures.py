"""What is said of failed asks: each cause once, on one screen, with a remedy that fits it."""

from __future__ import annotations

import json

import pytest

from generator.cli.failures import MOST_CAUSES, failed_asks
from generator.receipt import AskRecord, Failed, Receipt
from tests.factory import MODEL, completion_response, make_ask, make_boot, make_receipt


def failed(name: str, kind: str, message: str, body: str | None = None) -> AskRecord:
    outcome = Failed(
        status="failed", kind=kind, message=message, http_status=None, body=body, wall_s=0.1
    )
    return make_ask(None, name=name).model_copy(update={"outcome": outcome})


def receipt(*asks: AskRecord, experiment: str = "runs") -> Receipt:
    return make_receipt("repeat", [make_boot(asks)], experiment=experiment)


def test_nothing_is_said_where_nothing_failed() -> None:
    assert failed_asks([receipt(make_ask(completion_response()))], 1) is None


def test_a_cause_is_told_once_with_what_it_kept_from_being_asked() -> None:
    error = failed_asks(
        [
            receipt(
                make_ask(completion_response()),
                failed("2", "died", "the server died of SIGKILL: want of memory"),
                failed("3", "died", "not asked: the server died of SIGKILL: want of memory"),
            )
        ],
        3,
    )
    assert error is not None
    assert error.what == "2 of 3 asks failed."
    (line,) = error.details
    assert line.startswith("runs · main · ask 2 (3 not asked any more): died: the server died of")
    assert error.remedy.startswith("Free memory")


def test_the_same_cause_is_told_with_all_its_asks() -> None:
    asks = [failed(str(number), "reset", "connection reset") for number in (1, 2)]
    error = failed_asks([receipt(*asks)], 2)
    assert error is not None
    assert error.details == ("runs · main · ask 1, 2: reset: connection reset",)


def test_a_response_of_another_shape_is_a_failure_too() -> None:
    error = failed_asks([receipt(make_ask({"surprise": True}))], 1)
    assert error is not None
    assert "ask 1: odd: the response is no answer" in error.details[0]


TEMPLATE = (
    "Unable to generate parser for this template. Automatic parser generation failed: \n"
    "While executing CallExpression at line 2, column 63 in source:\nError: Jinja Exception: no"
)


@pytest.mark.parametrize(
    ("message", "template", "told"),
    [
        (
            TEMPLATE,
            "mine",
            "receipts/chat-templates/mine.jinja:2:63: Jinja Exception: no",
        ),
        (TEMPLATE, None, f"the chat template of {MODEL}:2:63: Jinja Exception: no"),
        ("too long\nby far", None, "too long"),
    ],
)
def test_a_refusal_is_told_in_the_servers_words_and_leads_to_the_template(
    message: str, template: str | None, told: str
) -> None:
    body = json.dumps({"error": {"code": 400, "message": message}})
    boot = make_boot([failed("1", "http_status", "HTTP 400", body)])
    boot = boot.model_copy(update={"settings": {**boot.settings, "chat_template": template}})
    error = failed_asks([make_receipt("repeat", [boot], experiment="runs")], 1)
    assert error is not None
    assert error.details == (f"runs · main · ask 1: http_status: HTTP 400: {told}",)


@pytest.mark.parametrize("body", [None, "", "<html>", "{}", '{"error": "no"}', "[]"])
def test_a_refusal_whose_body_says_nothing_is_told_by_its_status(body: str | None) -> None:
    error = failed_asks([receipt(failed("1", "http_status", "HTTP 500", body))], 1)
    assert error is not None
    assert error.details == ("runs · main · ask 1: http_status: HTTP 500",)


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [("timeout", "--ask-limit"), ("impostor", "other program"), ("reset", "another build")],
)
def test_the_remedy_fits_the_cause(kind: str, remedy: str) -> None:
    error = failed_asks([receipt(failed("1", kind, "x"))], 1)
    assert error is not None
    assert remedy in error.remedy


def test_many_causes_fit_on_a_screen() -> None:
    asks = [failed(str(number), "reset", f"{number}" * 500) for number in range(50)]
    error = failed_asks([receipt(*asks)], 50)
    assert error is not None
    assert len(error.details) == MOST_CAUSES + 1
    assert error.details[-1] == f"… and {50 - MOST_CAUSES} more like these"
    assert sum(-(-len(line) // 78) for line in error.details) <= 20
