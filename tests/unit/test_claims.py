"""Claims hold, fail or cannot be told, and their conditions can do nothing but compare."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.claims import Judged, expression_faults, judge, variable
from generator.declaration import Claim, PublishedClaim
from generator.experiments import kinds
from generator.schema import Bilingual

BOTH = Bilingual(zh="是", en="yes")
SCHEMAS = {
    "five-runs": kinds()["repeat"].analysis,
    "det-a": kinds()["replay"].analysis,
    "wide": kinds()["ubatch"].analysis,
}
ANALYSES: dict[str, dict[str, Any]] = {
    "five-runs": {
        "distinct": 4,
        "apart": None,
        "outlier": None,
        "stops": {"limit": 5},
        "runs": [{"seed": 1, "valid": True}, {"seed": None, "valid": False}],
    },
    "wide": {"flips": 0, "first_flip": None},
}


def _claim(when: str, published: bool | None = None) -> Claim:
    return Claim(
        when=when,
        topic=BOTH,
        holds=BOTH,
        fails=BOTH,
        published=None if published is None else PublishedClaim(holds=published, values=BOTH),
    )


def _judged(when: str, published: bool | None = None) -> Judged:
    return judge("some-claim", _claim(when, published), ANALYSES)


@pytest.mark.parametrize(
    ("when", "outcome"),
    [
        ("five_runs.distinct > 1", "holds"),
        ("five_runs.distinct > 4", "fails"),
        ("five_runs['distinct'] == 4", "holds"),
        ("wide.flips", "fails"),
        ("not wide.flips", "holds"),
        ("five_runs.distinct > 1 and wide.flips == 0", "holds"),
        ("five_runs.stops.limit == 5", "holds"),
        ("five_runs.runs | length == 2", "holds"),
        ("five_runs.runs[0].seed == 1", "holds"),
        ("five_runs.distinct in [3, 4]", "holds"),
        ("five_runs.distinct / 2 == 2", "holds"),
    ],
)
def test_a_condition_is_decided(when: str, outcome: str) -> None:
    judged = _judged(when)
    assert (judged.outcome, judged.reason) == (outcome, "")
    assert (judged.holds, judged.fails) == (outcome == "holds", outcome == "fails")


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ("det_a.identical_bytes", "'det_a' is undefined"),
        ("not det_a.identical_bytes", "'det_a' is undefined"),
        ("five_runs.apart == 1", "apart was not measured"),
        ("five_runs.apart != 1", "apart was not measured"),
        ("not five_runs.apart", "apart was not measured"),
        ("five_runs['apart'] > 1", "apart was not measured"),
        ("five_runs.apart in [1]", "apart was not measured"),
        ("five_runs.outlier.shared_tokens == 0", "outlier was not measured"),
        ("five_runs.runs[1].seed == 1", "seed was not measured"),
        ("five_runs.runs[7].seed == 1", "7"),
        ("wide.flips > 0 or five_runs.apart == 1", "apart was not measured"),
        ("five_runs.distinct > 'x'", "not supported"),
        ("1 / wide.flips > 1", "division by zero"),
        ("five_runs.distinct | round(method='x')", "method"),
    ],
)
def test_what_was_not_measured_is_neither_true_nor_false(when: str, reason: str) -> None:
    judged = _judged(when, published=True)
    assert judged.outcome == "unmeasured"
    assert reason in judged.reason
    assert not judged.holds
    assert not judged.fails
    assert judged.verdict == "unmeasurable"


def test_what_is_decided_already_needs_no_more_measurements() -> None:
    assert _judged("five_runs.distinct == 4 or det_a.identical == 1").holds
    assert _judged("five_runs.distinct == 5 and det_a.identical == 1").fails


@pytest.mark.parametrize(
    ("when", "published", "verdict"),
    [
        ("five_runs.distinct > 1", True, "same"),
        ("five_runs.distinct > 1", False, "different"),
        ("five_runs.distinct > 9", False, "same"),
        ("five_runs.distinct > 9", True, "different"),
        ("det_a.identical == 1", False, "unmeasurable"),
        ("five_runs.distinct > 1", None, None),
    ],
)
def test_today_is_compared_with_what_was_published(
    when: str, published: bool | None, verdict: str | None
) -> None:
    assert _judged(when, published).verdict == verdict


def test_experiments_are_variables_with_underscores() -> None:
    assert variable("det-results-a") == "det_results_a"


# --- expressions at fault


@pytest.mark.parametrize(
    "when",
    [
        "five_runs.distinct > 1",
        "five_runs.outlier.shared_tokens == 0 and det_a.identical_bytes",
        "five_runs['distinct'] > 1",
        "five_runs.stops.limit == 5",
        "five_runs.runs[0].text == 'x'",
        "(five_runs.runs | length) - 1 > 0",
        "wide.first_flip.gap < 0.1 if wide.flips else five_runs.distinct == 1",
    ],
)
def test_good_conditions_have_no_fault(when: str) -> None:
    assert expression_faults(when, SCHEMAS) == []


@pytest.mark.parametrize(
    ("when", "problem", "remedy"),
    [
        ("five_run.distinct > 1", "unknown experiment 'five_run'", "`five_runs`"),
        ("five-runs.distinct > 1", "unknown experiment", "`five_runs`"),
        ("zzz.distinct > 1", "unknown experiment 'zzz'", "one of: det_a, five_runs, wide"),
        ("five_runs.distnct > 1", "five_runs has no 'distnct'", "`distinct`"),
        ("five_runs['distnct'] > 1", "five_runs has no 'distnct'", "`distinct`"),
        ("five_runs.outlier.aks == '1'", "five_runs.outlier has no 'aks'", "`ask`"),
        ("five_runs.asked.more == 1", "five_runs.asked has no fields", "five_runs.asked alone"),
        ("1 > 0", "looks at no experiment", "something measured"),
        ("true", "looks at no experiment", "something measured"),
        ("five_runs.distinct >", "not an expression", "a.b > 1"),
        ("five_runs.distinct = 1", "not an expression", "a.b > 1"),
        (") }} {{ (five_runs.distinct", "not an expression", "a.b > 1"),
        ("five_runs.distinct | nothing", "nothing", "a.b > 1"),
        ("five_runs.distinct is nothing", "nothing", "a.b > 1"),
        ("(" * 500 + "five_runs.distinct" + ")" * 500, "not an expression", "a.b > 1"),
        ("not " * 300 + "five_runs.distinct", "not an expression", "a.b > 1"),
        ("9" * 5000 + " > five_runs.distinct", "not an expression", "a.b > 1"),
    ],
)
def test_faults_are_named_with_what_is_meant(when: str, problem: str, remedy: str) -> None:
    faults = expression_faults(when, SCHEMAS)
    assert faults
    assert problem in faults[0][0]
    assert remedy in faults[0][1]


def test_every_fault_of_one_condition_is_told() -> None:
    faults = expression_faults("five_run.distinct > 1 and det_a.identicle == 3", SCHEMAS)
    assert [problem for problem, _ in faults] == [
        "unknown experiment 'five_run'",
        "det_a has no 'identicle'",
    ]


def test_an_experiment_of_unknown_kind_is_no_fault_of_its_claims() -> None:
    assert expression_faults("new.anything > 1", {"new": None}) == []


# --- the sandbox

ESCAPES = [
    "five_runs.__class__",
    "five_runs['__class__']",
    "five_runs.runs.__class__.__mro__",
    "five_runs.runs[0]['__class__']",
    "''.__class__ == five_runs.distinct",
    "five_runs.stops.keys()",
    "five_runs.stops.update({'limit': 1})",
    "five_runs.runs.append(1)",
    "range(1000000) | length > five_runs.distinct",
    "lipsum.__globals__ and five_runs.distinct",
    "cycler(five_runs.distinct)",
    "'%s'.format(five_runs.distinct)",
    "9 ** 9 ** 9 ** 9 > five_runs.distinct",
    "five_runs.distinct ~ 'x'",
]


@pytest.mark.parametrize("when", ESCAPES)
def test_no_condition_reaches_beyond_the_analyses(when: str) -> None:
    assert expression_faults(when, SCHEMAS)


@pytest.mark.parametrize("when", [when for when in ESCAPES if "**" not in when])
def test_a_condition_that_was_not_checked_escapes_as_little(when: str) -> None:
    before = repr(ANALYSES)
    harmless = any(word in when for word in ("keys", "format", "~"))
    assert _judged(f"({when}) == 1").outcome == ("fails" if harmless else "unmeasured")
    assert repr(ANALYSES) == before


WORDS = "five_runs wide . distinct flips ( ) [ ] | length > 1 and not ' {{ }} {% if else is _ #"


@given(
    st.lists(st.sampled_from([*WORDS.split(), " ", "\n"]), max_size=12).map("".join)
    | st.text(max_size=20)
)
def test_any_text_is_checked_and_judged_without_an_exception(when: str) -> None:
    faults = expression_faults(when, SCHEMAS)
    assert all(problem and remedy for problem, remedy in faults)
    if not faults:
        assert _judged(when).outcome in ("holds", "fails", "unmeasured")
