"""The bar chart: one horizontal bar a row, its value beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from generator.charts.style import ACCENT, BAR, BOTTOM, INK, WIDTH, ticks
from generator.figures import Bars, Wording, plain

if TYPE_CHECKING:
    import altair as alt

ROW, LEFT, RIGHT = 30, 64, 44


def bar_chart(bars: Bars, words: Wording) -> alt.LayerChart | alt.FacetChart:
    """Draw a horizontal bar chart; what is marked has the accent colour and a word."""
    import altair as alt  # noqa: PLC0415 - takes half a second, and only drawing needs it

    rows: list[dict[str, Any]] = [
        {
            "row": words.row.format(bar.name),
            "value": bar.value,
            "marked": bar.marked,
            "text": plain(bar.value) + (f" {words.mark}" if bar.marked and words.mark else ""),
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
            axis=alt.Axis(values=ticks(top), format=",d"),
        ),
    )
    colour = alt.condition("datum.marked", alt.value(ACCENT), alt.value(BAR))
    return alt.layer(
        base.mark_bar(height=18).encode(color=colour),
        base.mark_text(align="left", dx=5, color=INK).encode(text="text:N"),
    ).properties(
        width=WIDTH - LEFT - RIGHT,
        height=ROW * max(1, len(rows)),
        padding={"left": LEFT, "top": 6, "right": RIGHT, "bottom": BOTTOM},
    )
