"""The journal of a run: every event is written before the next, so that a killed run can go on.

An event is with the kernel before the next begins, which outlives this process however it ends; the
beginning and the end of each boot are on the disk itself, which outlives the machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from generator.canonical import canonical
from generator.errors import RunError
from generator.receipt import AskRecord, BootRecord, LifeRecord, PromptRecord


@dataclass
class BootState:
    """What the journal knows of one boot: its first life's record, all lives, the asks so far."""

    record: BootRecord
    lives: list[LifeRecord]
    asks: dict[str, AskRecord] = field(default_factory=dict)
    ended: bool = False

    def whole(self) -> BootRecord:
        """Return the boot as one record."""
        return self.record.model_copy(
            update={"lives": self.lives, "asks": list(self.asks.values())}
        )


class Journal:
    """An append-only file of events, replayed when it is opened again.

    Args:
        path: The file; it is created, or begun anew if it belongs to another plan or is damaged.
        key: What makes two runs the same run: plan, declaration, pins.
        started: UTC time of this run, used unless an earlier part of the run is on disk.

    Raises:
        RunError: It cannot be written, here or at any later event.
    """

    def __init__(self, path: Path, key: Mapping[str, Any], started: str) -> None:
        self.boots: dict[str, BootState] = {}
        self.interrupted: list[BootRecord] = []
        self.seeds: dict[tuple[str, str], int] = {}
        self.prompts: dict[str, PromptRecord] = {}
        self.started = started
        self._path = path
        header = {"event": "run", "key": json.loads(canonical(key)), "started": started}
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = whole_events(path)
            goes_on = bool(lines) and lines[0].get("key") == header["key"] and self._resumed(lines)
            # Without a buffer: what a full disk refused is not tried again when we close.
            self._file = path.open("ab" if goes_on else "wb", buffering=0)
        if not goes_on:
            try:
                self._append(header, durable=True)
            except RunError:
                self._file.close()
                raise

    def _resumed(self, lines: Sequence[Mapping[str, Any]]) -> bool:
        """Replay what is on disk; whether all of it could be read."""
        started = self.started
        try:
            self.started = str(lines[0]["started"])
            for line in lines[1:]:
                self._replay(line)
        except (LookupError, TypeError, ValueError):  # written by another version of the program
            self.boots, self.interrupted, self.seeds, self.prompts = {}, [], {}, {}
            self.started = started
            return False
        return True

    def __enter__(self) -> Self:
        """Return the journal itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file; what was noted stays."""
        self._file.close()

    def _append(self, event: Mapping[str, Any], *, durable: bool) -> None:
        with _writing(self._path):
            _write(self._file, event, durable=durable)

    def _note(self, event: Mapping[str, Any], *, durable: bool = False) -> None:
        self._append(event, durable=durable)
        self._replay(event)

    def life(self, record: BootRecord, *, goes_on: bool) -> None:
        """Note that a boot's server is ready.

        Args:
            record: The boot, with one life and no asks.
            goes_on: Whether it continues an earlier life; otherwise that life is put aside.
        """
        event = {"event": "life", "record": record.model_dump(mode="json"), "goes_on": goes_on}
        self._note(event, durable=True)

    def drawn(self, boot: str, ask: str, seed: int) -> None:
        """Note a seed before it is sent, so that killing a run cannot draw another one."""
        self._note({"event": "drawn", "boot": boot, "ask": ask, "seed": seed})

    def prompt(self, record: PromptRecord) -> None:
        """Note a prompt that a model was given, before an ask refers to it."""
        self._note({"event": "prompt", "record": record.model_dump(mode="json")})

    def asked(self, boot: str, record: AskRecord) -> None:
        """Note an ask and its outcome."""
        self._note({"event": "asked", "boot": boot, "record": record.model_dump(mode="json")})

    def ended(self, boot: str, load_after: list[float], peak_memory_bytes: int | None) -> None:
        """Note that a boot is over and everything in it has been asked."""
        self._note(
            {
                "event": "ended",
                "boot": boot,
                "load_after": load_after,
                "peak_memory_bytes": peak_memory_bytes,
            },
            durable=True,
        )

    def _replay(self, event: Mapping[str, Any]) -> None:
        match event["event"]:
            case "life":
                self._replay_life(BootRecord.model_validate(event["record"]), event["goes_on"])
            case "drawn":
                self.seeds[event["boot"], event["ask"]] = event["seed"]
            case "prompt":
                prompt = PromptRecord.model_validate(event["record"])
                self.prompts[prompt.sha256] = prompt
            case "asked":
                record = AskRecord.model_validate(event["record"])
                self.boots[event["boot"]].asks[record.name] = record
            case "ended":
                state = self.boots[event["boot"]]
                state.lives[-1] = state.lives[-1].model_copy(
                    update={
                        "load_after": event["load_after"],
                        "peak_memory_bytes": event["peak_memory_bytes"],
                    }
                )
                state.ended = True

    def _replay_life(self, record: BootRecord, goes_on: bool) -> None:
        earlier = self.boots.get(record.name)
        if earlier is not None and goes_on:
            earlier.lives.extend(record.lives)
            return
        if earlier is not None and earlier.asks:
            self.interrupted.append(earlier.whole())
        self.boots[record.name] = BootState(record, list(record.lives))

    def remove(self) -> None:
        """Delete the journal once its receipt is written."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def append(path: Path, event: Mapping[str, Any]) -> None:
    """Append one event to a file, which is made where it is missing, and see it on the disk.

    Raises:
        RunError: It cannot be written.
    """
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_events(path)  # a line that was cut off would spoil this one
        with path.open("ab", buffering=0) as file:
            _write(file, event, durable=True)


def _write(file: FileIO, event: Mapping[str, Any], *, durable: bool) -> None:
    # not sorted: a response keeps the order of its keys, or its digest could not be recomputed
    line = json.dumps(event, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    while line:
        line = line[file.write(line) :]
    if durable:
        os.fsync(file.fileno())


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Make room there, or get the right to write; what was answered is kept, and the same"
            " command goes on from there.",
        ) from error


def whole_events(path: Path) -> list[dict[str, Any]]:
    """Return the events on disk; a last line that was cut off is removed from the file."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        with path.open("r+b") as file:
            file.truncate(end)
    try:
        events = [json.loads(line) for line in data[:end].splitlines()]
    except ValueError:
        return []
    return events if all(isinstance(event, dict) for event in events) else []
