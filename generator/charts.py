"""Drawing: a figure's data to an SVG that follows the page's theme, the same bytes everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from generator.figures import Bars, Figure, Places, Wording, plain

if TYPE_CHECKING:
    import altair as alt

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
WIDE_LEFT, NARROW_RIGHT, HEIGHT = 62, 12, 200
TICKS, DECADES = 3, 8


def _ticks(top: float) -> list[int]:
    """Return about four round whole numbers from 0 to *top*, each of them once."""
    magnitude = 10 ** math.floor(math.log10(top / TICKS))
    step = max(1, *(int(m * magnitude) for m in (1, 2, 5) if m * magnitude <= top / TICKS))
    return list(range(0, int(top) + 1, step))


def specification(figure: Figure, words: Wording) -> dict[str, object]:
    """Return the Vega-Lite specification of a figure, with nothing left to the machine.

    Sizes and paddings are fixed (`autosize: none`), so that no installed font moves a pixel.
    """
    import altair as alt  # noqa: PLC0415 - takes half a second, and only drawing needs it

    chart = _bars(figure, words) if isinstance(figure, Bars) else _places(figure, words)
    configured = (
        chart.properties(autosize=alt.AutoSizeParams(type="none"))
        .configure(background="transparent", view=alt.ViewConfig(stroke="transparent"))
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


def _bars(bars: Bars, words: Wording) -> alt.LayerChart | alt.FacetChart:
    import altair as alt  # noqa: PLC0415 - see above

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
            axis=alt.Axis(values=_ticks(top), format=",d"),
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


def _places(places: Places, words: Wording) -> alt.LayerChart | alt.FacetChart:
    """Draw gaps as rings and drifts as dots, a line between them: the dot above is the flip."""
    import altair as alt  # noqa: PLC0415 - see above

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
    decades = _decades(values)
    last = max((place.index for place in places.places), default=1)
    vertical = alt.Scale(type="log", domain=[decades[0], decades[-1]], nice=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "index:Q",
            title=words.axis,
            scale=alt.Scale(domain=[-0.5, last + 0.5], nice=False),
            axis=alt.Axis(values=_ticks(max(1, last)), format=",d"),
        )
    )
    colour = alt.condition("datum.marked", alt.value(ACCENT), alt.value(INK))
    axis = alt.Axis(
        values=decades,
        # a long row of zeros would not fit beside the axis
        labelExpr="format(datum.value, datum.value < 0.001 ? '.0e' : '~g')",
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleX=-WIDE_LEFT + 4,
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
        width=WIDTH - WIDE_LEFT - NARROW_RIGHT,
        height=HEIGHT,
        padding={"left": WIDE_LEFT, "top": 30, "right": NARROW_RIGHT, "bottom": BOTTOM},
    )


def _decades(values: Sequence[float]) -> list[float]:
    """Return the powers of ten around *values*, at most about eight of them."""
    low = math.floor(math.log10(min(values, default=1.0)))
    high = max(low + 1, math.ceil(math.log10(max(values, default=1.0))))
    step = math.ceil((high - low) / DECADES)
    return [10.0**exponent for exponent in range(high, low - step, -step)][::-1]


def svg(figure: Figure, words: Wording, *, name: str) -> str:
    """Draw a figure as one line of inline SVG.

    Args:
        figure: The data.
        words: The words in the page's language.
        name: Unique on the page; the ids inside are made from it.

    Returns:
        An `<svg role="img">` with title and description, colours as CSS variables, text as text,
        no fonts, no links.
    """
    import vl_convert  # noqa: PLC0415 - loads a JavaScript engine, and only drawing needs it

    drawn = vl_convert.vegalite_to_svg(specification(figure, words), vl_version="v6.4")
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
