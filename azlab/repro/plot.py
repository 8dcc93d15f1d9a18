"""A small line plot as SVG: our curve over the source's. Colours come from the page, so it suits light and dark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 560, 280
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 12, 50  # room for the labels around the lines


@dataclass(frozen=True)
class Line:
    """`style` is the CSS class that gives its colour: source or ours."""

    name: str
    style: str
    x: Sequence[float]
    y: Sequence[float]


def number(value: float) -> str:
    """Four significant digits, thousands apart; whole numbers in full."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    text = f"{value:.4g}"
    return f"{float(text):,.0f}" if abs(value) >= 10_000 else text


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers that lie between `low` and `high`."""
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def plot(title: str, lines: Sequence[Line]) -> str:
    """The lines with axes and a legend."""
    low_x, high_x = _range([value for line in lines for value in line.x])
    low_y, high_y = _range([value for line in lines for value in line.y])
    across = lambda x: LEFT + (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT)  # noqa: E731
    down = lambda y: HEIGHT - BOTTOM - (y - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM)  # noqa: E731
    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">']
    for tick in ticks(low_y, high_y):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down(tick):.1f}" y2="{down(tick):.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{down(tick) + 4:.1f}" text-anchor="end">{number(tick)}</text>')
    for tick in ticks(low_x, high_x):
        parts.append(f'<text x="{across(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{number(tick)}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}"/>')
    place = LEFT
    for line in lines:
        points = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in zip(line.x, line.y))
        parts.append(f'<polyline class="{line.style}" points="{points}"/>')
        parts.append(f'<line class="{line.style}" x1="{place}" x2="{place + 22}" y1="{HEIGHT - 10}" y2="{HEIGHT - 10}"/>')
        parts.append(f'<text x="{place + 28}" y="{HEIGHT - 6}">{escape(line.name)}</text>')
        place += 50 + 8 * len(line.name)
    return "".join(parts) + "</svg>"


def _range(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
