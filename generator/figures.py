"""Charts: plain data to an SVG that follows the page's theme and is the same bytes everywhere."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass
from html import escape
from typing import Any

INK, MUTED, BAR, ACCENT, GRID = "#111111", "#222222", "#333333", "#444444", "#555555"
_VARIABLES = {
    INK: "var(--fig-ink)",
    MUTED: "var(--fig-muted)",
    BAR: "var(--fig-bar)",
    ACCENT: "var(--fig-accent)",
    GRID: "var(--fig-grid)",
}
_TAG = re.compile(r'<(?:[^>"]|"[^"]*")*>')
WIDTH, ROW, LEFT, RIGHT, BOTTOM = 384, 30, 64, 44, 46
TICKS = 3


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
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([self.label, self.measure, "marked"])
        writer.writerows([bar.name, _plain(bar.value), int(bar.marked)] for bar in self.bars)
        return file.getvalue()


@dataclass(frozen=True)
class Wording:
    """What a chart says in one language; `row` has a `{}` for a bar's name."""

    title: str
    description: str
    axis: str
    row: str
    mark: str


def _plain(value: float) -> str:
    """Write a number in full: `:g` alone would round from the seventh digit on."""
    return f"{value:.15g}"


def _ticks(top: float) -> list[int]:
    """Return about four round whole numbers from 0 to *top*, each of them once."""
    magnitude = 10 ** math.floor(math.log10(top / TICKS))
    step = max(1, *(int(m * magnitude) for m in (1, 2, 5) if m * magnitude <= top / TICKS))
    return list(range(0, int(top) + 1, step))


def specification(bars: Bars, words: Wording) -> dict[str, object]:
    """Return the Vega-Lite specification of a bar chart, with nothing left to the machine.

    Sizes and paddings are fixed (`autosize: none`), so that no installed font moves a pixel.
    """
    import altair as alt  # noqa: PLC0415 - takes half a second, and only drawing needs it

    rows: list[dict[str, Any]] = [
        {
            "row": words.row.format(bar.name),
            "value": bar.value,
            "marked": bar.marked,
            "text": _plain(bar.value) + (f" {words.mark}" if bar.marked and words.mark else ""),
        }
        for bar in bars.bars
    ]
    order = [str(row["row"]) for row in rows]
    top = max([1.0, *(bar.value for bar in bars.bars)])
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("row:N", sort=order, title=None, scale=alt.Scale(paddingInner=0.3)),
        x=alt.X(
            "value:Q",
            title=words.axis,
            scale=alt.Scale(domain=[0, top * 1.25], nice=False),
            axis=alt.Axis(values=_ticks(top), format=",d"),
        ),
    )
    colour = alt.condition("datum.marked", alt.value(ACCENT), alt.value(BAR))
    chart = alt.layer(
        base.mark_bar(height=18).encode(color=colour),
        base.mark_text(align="left", dx=5, color=INK).encode(text="text:N"),
    ).properties(
        width=WIDTH - LEFT - RIGHT,
        height=ROW * max(1, len(rows)),
        autosize=alt.AutoSizeParams(type="none"),
        padding={"left": LEFT, "top": 6, "right": RIGHT, "bottom": BOTTOM},
    )
    configured = (
        chart.configure(background="transparent", view=alt.ViewConfig(stroke="transparent"))
        .configure_axis(
            labelColor=INK,
            titleColor=MUTED,
            domainColor=GRID,
            tickColor=GRID,
            grid=False,
            labelFontSize=13,
            titleFontSize=13,
            titleFontWeight="normal",
            labelLimit=0,
            titlePadding=8,
            labelOverlap=False,
        )
        .configure_text(fontSize=13)
    )
    result: dict[str, object] = configured.to_dict()
    return result


def svg(bars: Bars, words: Wording, *, name: str) -> str:
    """Draw a bar chart as one line of inline SVG.

    Args:
        bars: The data.
        words: The words in the page's language.
        name: Unique on the page; the ids inside are made from it.

    Returns:
        An `<svg role="img">` with title and description, colours as CSS variables, text as text,
        no fonts, no links.
    """
    import vl_convert  # noqa: PLC0415 - loads a JavaScript engine, and only drawing needs it

    drawn = vl_convert.vegalite_to_svg(specification(bars, words), vl_version="v6.4")
    return _themed(drawn, words, name)


def _themed_tag(tag: str, name: str, ids: dict[str, str]) -> str:
    """Rewrite one tag; what stands between tags is text and none of our business."""
    tag = re.sub(r'\s(?:font-family|aria-[a-z]+|role|class)="[^"]*"', "", tag)
    for old in re.findall(r'\sid="([^"]+)"|url\(#([^)]+)\)', tag):
        ids.setdefault(old[0] or old[1], f"{name}-{len(ids) + 1}")
    for old, new in ids.items():
        tag = tag.replace(f' id="{old}"', f' id="{new}"').replace(f"url(#{old})", f"url(#{new})")
    for colour, variable in _VARIABLES.items():
        tag = tag.replace(f'"{colour}"', f'"{variable}"')
    return tag


def _themed(drawn: str, words: Wording, name: str) -> str:
    """Make a drawn chart's bytes stable and its looks the page's business."""
    match = re.search(r"<svg\b[^>]*viewBox=\"([^\"]+)\"[^>]*>(.*)</svg>", drawn, re.DOTALL)
    if match is None:
        raise ValueError("vl-convert returned something that is not an SVG")
    box, body = match[1], match[2]
    ids: dict[str, str] = {}
    body = _TAG.sub(lambda tag: _themed_tag(tag[0], name, ids), body.strip())
    body = re.sub(r">\s+<", "><", body)
    return (
        f'<svg class="figure" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'viewBox="{box}" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{name}-title">{escape(words.title)}</title>'
        f'<desc id="{name}-desc">{escape(words.description)}</desc>{body}</svg>'
    )
