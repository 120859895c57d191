"""One entry to renewing a pin of any type."""

from __future__ import annotations

from typing import assert_never

from generator.engines.path import pin_what_is_there
from generator.pin_types import (
    EnginePin,
    ModelPin,
    PathEngine,
    SourceEngine,
    UrlEngine,
    WheelEngine,
)
from generator.upgrade.modelled import renew_model
from generator.upgrade.packaged import renew_source, renew_wheel
from generator.upgrade.release import renew_release
from generator.upgrade.wishes import Bench, Newest, Wish, unfit, with_build


def renewed(pin: EnginePin | ModelPin, wish: Wish, bench: Bench) -> EnginePin | ModelPin:
    """Return the pin that shall stand for *pin*; nothing is written.

    Args:
        pin: The pin as it is.
        wish: What it shall be renewed to.
        bench: Where to work.

    Raises:
        FetchError: What is wished for cannot be had.
        EngineError: It cannot be run here.
        InputError: The wish does not fit.
    """
    match pin:
        case ModelPin():
            return renew_model(pin, wish, bench)
        case WheelEngine():
            return renew_wheel(pin, wish, bench)
        case SourceEngine():
            return renew_source(pin, wish, bench)
        case UrlEngine():
            return renew_release(pin, wish, bench)
        case PathEngine():
            if not isinstance(wish, Newest):
                raise unfit(pin.name, "it lies at a path of its own", "leave the option out")
            return pin_what_is_there(pin.name, pin.title, pin.path, bench.store, bench.root)
        case _:
            assert_never(pin)


def new_name(pin: EnginePin | ModelPin, new: EnginePin | ModelPin) -> str:
    """Return how the renewed pin is to be called.

    A name with llama.cpp's build number in it would lie about another build, and receipts that were
    measured with the old build name it; so the new pin gets a name of its own. What lies at a path
    keeps its name: the old program is gone.
    """
    match pin, new:
        case (ModelPin() | PathEngine(), _) | (_, ModelPin()):
            return pin.name
        case _:
            return with_build(pin.name, pin.build, new.build)
