"""A figure drawn by Vega-Lite, and the drawing made stable and the page's own."""

from __future__ import annotations

import re
from html import escape

from generator.charts.bars import bar_chart
from generator.charts.places import place_chart
from generator.charts.style import GRID, INK, MUTED, VARIABLES
from generator.figures import Bars, Figure, Wording
from generator.surroundings import some_home

_TAG = re.compile(r'<(?:[^>"]|"[^"]*")*>')


def specification(figure: Figure, words: Wording) -> dict[str, object]:
    """Return the Vega-Lite specification of a figure, with nothing left to the machine.

    Sizes and paddings are fixed (`autosize: none`), so that no installed font moves a pixel.
    """
    with some_home():
        import altair as alt  # noqa: PLC0415 - takes half a second, and only drawing needs it

    chart = bar_chart(figure, words) if isinstance(figure, Bars) else place_chart(figure, words)
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
    for colour, variable in VARIABLES.items():
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
