"""The chart of gap and drift along a text: a dot above its ring is a flip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generator.charts.style import ACCENT, BOTTOM, GRID, INK, WIDTH, decades, ticks
from generator.figures import Places, Wording

if TYPE_CHECKING:
    import altair as alt

LEFT, RIGHT, HEIGHT = 62, 12, 200


def place_chart(places: Places, words: Wording) -> alt.LayerChart | alt.FacetChart:
    """Draw gaps as rings and drifts as dots, a line between them: the dot above is the flip."""
    import altair as alt  # noqa: PLC0415 - takes half a second, and only drawing needs it

    rows = [
        {
            "index": place.index,
            # a logarithmic scale has no place for 0
            "gap": place.gap if place.gap > 0 else None,
            "drift": place.drift or None,
            "marked": place.marked,
            "text": words.mark if place.marked else "",
        }
        for place in places.places
    ]
    values = [v for row in rows for v in (row["gap"], row["drift"]) if isinstance(v, float)]
    powers = decades(values)
    last = max((place.index for place in places.places), default=1)
    vertical = alt.Scale(type="log", domain=[powers[0], powers[-1]], nice=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "index:Q",
            title=words.axis,
            scale=alt.Scale(domain=[-0.5, last + 0.5], nice=False),
            axis=alt.Axis(values=ticks(max(1, last)), format=",d"),
        )
    )
    colour = alt.condition("datum.marked", alt.value(ACCENT), alt.value(INK))
    axis = alt.Axis(
        values=powers,
        # a long row of zeros would not fit beside the axis
        labelExpr="format(datum.value, datum.value < 0.001 ? '.0e' : '~g')",
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleX=-LEFT + 4,
        titleY=-14,
    )
    gap = alt.Y("gap:Q", title=words.row, scale=vertical, axis=axis)
    drift = alt.Y("drift:Q", title=words.row, scale=vertical, axis=axis)
    known = base.transform_filter("isValid(datum.gap) && isValid(datum.drift)")
    return alt.layer(
        known.mark_rule(strokeWidth=1).encode(
            y=gap,
            y2="drift:Q",
            color=alt.condition("datum.marked", alt.value(ACCENT), alt.value(GRID)),
        ),
        base.transform_filter("isValid(datum.gap)")
        .mark_point(shape="circle", size=34, filled=False, strokeWidth=1.5, opacity=1)
        .encode(y=gap, color=colour),
        base.transform_filter("isValid(datum.drift)")
        .mark_point(shape="circle", size=26, filled=True, opacity=1)
        .encode(y=drift, color=colour),
        known.transform_filter("datum.marked")
        .mark_text(dy=-11, color=ACCENT, fontWeight="bold")
        .encode(y=drift, text="text:N"),
    ).properties(
        width=WIDTH - LEFT - RIGHT,
        height=HEIGHT,
        padding={"left": LEFT, "top": 30, "right": RIGHT, "bottom": BOTTOM},
    )
