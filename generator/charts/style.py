"""What all charts share: colours that stand for the page's own, sizes, and ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence

INK, MUTED, BAR, ACCENT, GRID = "#111111", "#222222", "#333333", "#444444", "#555555"
VARIABLES = {
    INK: "var(--fig-ink)",
    MUTED: "var(--fig-muted)",
    BAR: "var(--fig-bar)",
    ACCENT: "var(--fig-accent)",
    GRID: "var(--fig-grid)",
}
WIDTH, BOTTOM = 384, 46
TICKS, DECADES = 3, 8


def ticks(top: float) -> list[int]:
    """Return about four round whole numbers from 0 to *top*, each of them once."""
    magnitude = 10 ** math.floor(math.log10(top / TICKS))
    step = max(1, *(int(m * magnitude) for m in (1, 2, 5) if m * magnitude <= top / TICKS))
    return list(range(0, int(top) + 1, step))


def decades(values: Sequence[float]) -> list[float]:
    """Return the powers of ten around *values*, at most about eight of them."""
    low = math.floor(math.log10(min(values, default=1.0)))
    high = max(low + 1, math.ceil(math.log10(max(values, default=1.0))))
    step = math.ceil((high - low) / DECADES)
    return [10.0**exponent for exponent in range(high, low - step, -step)][::-1]
