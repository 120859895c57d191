"""Figures as plain data: what a chart shows, and what can be downloaded of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One bar; *marked* bars are drawn in the accent colour and told apart by a word too."""

    name: str
    value: float
    marked: bool


@dataclass(frozen=True)
class Bars:
    """A horizontal bar chart's data. *label* and *measure* name the columns of the download."""

    bars: tuple[Bar, ...]
    label: str
    measure: str

    def csv(self) -> str:
        """Return the data as CSV with a header row."""
        rows = [(bar.name, plain(bar.value), int(bar.marked)) for bar in self.bars]
        return _csv((self.label, self.measure, "marked"), rows)


@dataclass(frozen=True)
class Place:
    """A place in a text: how large a gap is there, and how far it moved, if that is known.

    A *marked* place is one where the gap did not hold.
    """

    index: int
    gap: float
    drift: float | None
    marked: bool


@dataclass(frozen=True)
class Places:
    """Gap and drift along a text, drawn on a logarithmic scale."""

    places: tuple[Place, ...]

    def csv(self) -> str:
        """Return the data as CSV with a header row; what is not known is left empty."""
        rows = [
            (
                place.index,
                plain(place.gap),
                "" if place.drift is None else plain(place.drift),
                int(place.marked),
            )
            for place in self.places
        ]
        return _csv(("token", "gap", "drift", "marked"), rows)


Figure = Bars | Places


@dataclass(frozen=True)
class Grid:
    """The data of a table, which a kind's template lays out itself and readers can download."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def csv(self) -> str:
        """Return the data as CSV with a header row."""
        return _csv(self.columns, self.rows)


Data = Figure | Grid


@dataclass(frozen=True)
class Wording:
    """What a figure says in one language.

    Attributes:
        title: Its title, for those who cannot see it; so is the `description`.
        axis: The title of the horizontal axis.
        row: Of bars, what each is called, with a `{}` for its name; of places, the title of the
            vertical axis.
        mark: What stands beside a marked bar or place.
    """

    title: str
    description: str
    axis: str
    row: str
    mark: str


def plain(value: float) -> str:
    """Write a number in full: `:g` alone would round from the seventh digit on."""
    return f"{value:.15g}"


def _csv(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()
