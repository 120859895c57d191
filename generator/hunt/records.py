"""What a hunt has tried: every trial on disk before the next, so that it can go on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from generator.hunt.trial import Trial
from generator.hunt.trials import Trials
from generator.journal import append, whole_events


class Records:
    """The trials of one hunt, kept in a file of JSON lines.

    A hunt is the same sequence of trials whenever it is run; one that is known is not made again.

    Args:
        path: The file; what another hunt left in it is put aside.
        key: What makes two hunts the same: pins, sides, sampling, machine.
        trials: Makes the trials that are not known.
    """

    def __init__(self, path: Path, key: Mapping[str, Any], trials: Trials) -> None:
        self._path, self._trials = path, trials
        self._known: dict[tuple[str, bool], Trial] = {}
        events = whole_events(path)
        if not events or events[0].get("key") != key:
            with suppress(OSError):  # if it must stay, it cannot be written to either
                path.unlink()
            append(path, {"event": "hunt", "key": key})
            return
        for event in events[1:]:
            try:
                self._known[event["sha256"], event["fresh"]] = Trial.model_validate(event["trial"])
            except (LookupError, ValidationError):  # written by another version of the program
                continue

    def tried(self, prompt: str, *, fresh: bool) -> tuple[Trial, bool]:
        """Return what becomes of a prompt, and whether that was known before."""
        sha256 = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
        known = self._known.get((sha256, fresh))
        if known is not None:
            return known, True
        trial = self._trials.tried(prompt, fresh=fresh)
        event = {"event": "tried", "sha256": sha256, "fresh": fresh, "prompt": prompt}
        append(self._path, {**event, "trial": trial.model_dump(mode="json")})
        self._known[sha256, fresh] = trial
        return trial, False
