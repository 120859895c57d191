"""Sides are read from words, and every word that cannot be meant is told with a near miss."""

from __future__ import annotations

import pytest

from generator.errors import InputError
from generator.hunt.sides import Side, differing, factors
from generator.settings import ServerSettings
from tests.unit.hunt.flipping import ENGINE, sides_of


def test_settings_are_read_by_their_types() -> None:
    left, right = sides_of(
        "n_ubatch=64,flash_attn=off", " repack=false  cache=warm ", "threads=1 threads_batch=1"
    )
    common = {"threads": 1, "threads_batch": 1, "n_batch": 2048}
    assert left == Side(
        "n_ubatch=64 flash_attn=off",
        ENGINE,
        ServerSettings.model_validate({**common, "n_ubatch": 64, "flash_attn": "off"}),
        "cold",
    )
    assert right == Side(
        "repack=false cache=warm",
        ENGINE,
        ServerSettings.model_validate({**common, "repack": False}),
        "warm",
    )
    assert differing(left, right) == {
        "n_ubatch": [64, 512],
        "flash_attn": ["off", "auto"],
        "repack": [True, False],
        "cache": ["cold", "warm"],
    }


def test_another_engine_is_a_side() -> None:
    left, right = sides_of("engine=one", "engine=two")
    assert differing(left, right) == {"engine": ["one", "two"]}


def test_the_logical_batch_is_as_wide_as_the_widest_physical_one() -> None:
    left, right = sides_of("n_ubatch=512", "n_ubatch=8192")
    assert (left.server.n_batch, right.server.n_batch) == (8192, 8192)
    assert list(differing(left, right)) == ["n_ubatch"]
    left, right = sides_of("n_ubatch=512 n_batch=1024", "n_ubatch=8192 n_batch=1024")
    assert (left.server.n_batch, right.server.n_batch) == (1024, 1024)


def test_every_named_setting_can_be_compared() -> None:
    assert set(ServerSettings.model_fields) - set(factors()) == {"extra", "chat_template"}


@pytest.mark.parametrize(
    ("left", "right", "common", "problem", "remedy"),
    [
        ("n_ubach=1", "", "", "unknown setting 'n_ubach'", "did you mean `n_ubatch`?"),
        ("cache=lukewarm", "", "", "'lukewarm' is no cache", "write cold or warm"),
        ("n_ubatch=0", "", "", "0 is no n_ubatch", "greater than or equal to 1"),
        ("n_ubatch=many", "", "", "'many' is no n_ubatch", "valid integer"),
        ("repack=1", "", "", "1 is no repack", "valid boolean"),
        ("repack", "", "", "'repack' is no setting", "write name=value"),
        ("repack=", "", "", "'repack=' is no setting", "write name=value"),
        ("threads=1 threads=2", "", "", "threads is named twice", "name it once"),
        ("threads=1", "", "threads=2", "threads is named under --settings too", "in one place"),
        ("extra=1", "", "", "unknown setting 'extra'", "write one of"),
        ("", "", "", "both sides are the same", "--between cache=cold cache=warm"),
        ("threads=2", "", "", "both sides are the same", "change a setting"),
        ("cache=warm", "cache=cold", "cache_prompt=false", "no ask is warm", "leave out"),
    ],
)
def test_words_that_cannot_be_meant(
    left: str, right: str, common: str, problem: str, remedy: str
) -> None:
    with pytest.raises(InputError) as caught:
        sides_of(left, right, common)
    (fault,) = caught.value.faults
    assert problem in fault.problem
    assert remedy in fault.remedy


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        sides_of("a=1 b=2", "c=3", "d=4")
    assert len(caught.value.faults) == 4
