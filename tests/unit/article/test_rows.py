"""A row says by itself what its asks were sent, and their boot was set to, that others were not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markupsafe import Markup

from generator.article.sent import Sent
from generator.receipt import BootRecord, Receipt
from tests.factory import completion_response, make_ask, make_boot, make_receipt, width_boot


def sent(receipt: Receipt) -> Sent:
    """Return what the asks of *receipt* were sent, a fact written as its pointer."""
    return Sent(receipt, lambda pointer, **_: Markup("[{}]").format(pointer), Markup("see rows"))


def told(note: Markup) -> dict[str, list[str]]:
    """Return the pointers that a row's note gives, by name."""
    parts = re.findall(r"<code>(\w+) (.*?)</code>", note)
    return {name: re.findall(r"\[(.*?)\]", facts) for name, facts in parts}


def boot(name: str, *requests: dict[str, Any], control: bool = False) -> BootRecord:
    names = [str(index) for index, _ in enumerate(requests, start=1)]
    if control:
        names[-1] = "control"
    asks = [make_ask(completion_response(), name=ask) for ask in names]
    changed = [
        ask.model_copy(update={"request": {**ask.request, **request}})
        for ask, request in zip(asks, requests, strict=True)
    ]
    return make_boot(changed, name=name)


def test_a_setting_that_followed_another_is_told_with_its_row() -> None:
    answer = completion_response()
    pages = sent(make_receipt("ubatch", [width_boot(512, answer), width_boot(8192, answer)]))
    wide = pages.row("1", n_ubatch=8192)
    assert told(wide) == {"n_batch": ["/boots/1/settings/n_batch"]}
    assert told(pages.row("1", n_ubatch=512)) == {"n_batch": ["/boots/0/settings/n_batch"]}


@pytest.mark.parametrize(
    ("name", "value"), [("temperature", 1.5), ("n_predict", 7), ("prompt", "Else"), ("seed", 9)]
)
def test_a_row_of_several_asks_names_what_the_first_ask_was_not_sent(name: str, value: Any) -> None:
    plain = {"temperature": 0.0, "n_predict": 8, "prompt": "Hello", "seed": 42}
    odd = {**plain, name: value}
    boots = [boot("a", plain, plain), boot("b", plain, odd), boot("c", plain, plain)]
    pages = sent(make_receipt("sweep", boots))
    shown = "max_tokens" if name == "n_predict" else name
    expected = [f"/boots/1/asks/0/request/{name}", f"/boots/1/asks/1/request/{name}"]
    assert told(pages.boots(["b"])) == {shown: expected}
    assert pages.boots(["a"]) == pages.boots(["c"]) == ""
    assert told(pages.boots(["b"], beside=[shown])) == {}


def test_what_a_table_does_not_show_makes_no_row_differ() -> None:
    boots = [boot("a", {"seed": 1}, {"seed": 2}, control=True), boot("b", {"seed": 1})]
    pages = sent(make_receipt("sweep", boots))
    assert pages.boots(["a", "b"], without=["control"]) == ""
    assert told(pages.boots(["a"])) != {}


def test_different_values_are_listed_in_the_order_in_which_they_were_sent() -> None:
    requests = [{"temperature": value} for value in (0.0, 1.5, 0.0, 0.5)]
    pages = sent(make_receipt("repeat", [boot("main", *requests)]))
    pointers = [f"[/boots/0/asks/{index}/request/temperature]" for index in (0, 1, 3)]
    assert pages("temperature", listed=True) == " / ".join(pointers)
