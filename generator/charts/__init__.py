"""Drawing: a figure's data to an SVG that follows the page's theme, the same bytes everywhere."""

from generator.charts.drawing import specification, svg

__all__ = ["specification", "svg"]
