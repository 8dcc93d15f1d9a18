"""A small line plot as SVG: our curve over the source's. Colours come from the page, so it suits light and dark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

WIDTH, HEIGHT = 560, 280
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 12, 50  # room for the labels around the lines


@dataclass(frozen=True)
class Line:
    """`style` is the CSS class that gives its colour: source or ours."""

    name: str
    style: str
    x: Sequence[float]
    y: Sequence[float]


@cache
def _environment() -> Environment:
    folder = FileSystemLoader(Path(__file__).parent / "templates")
    return Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def template(name: str) -> Template:
    """A file of the folder `templates`. Whatever is put into it is escaped, except what another of these templates made."""
    return _environment().get_template(name)


def number(value: float) -> str:
    """Four significant digits, thousands apart; whole numbers in full."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    text = f"{value:.4g}"
    return f"{float(text):,.0f}" if abs(value) >= 10_000 else text


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers that lie between `low` and `high`."""
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) if step > 1e-10 else k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def plot(title: str, lines: Sequence[Line]) -> Markup:
    """The lines with axes and a legend."""
    low_x, high_x = _range([value for line in lines for value in line.x])
    low_y, high_y = _range([value for line in lines for value in line.y])
    across = lambda x: round(LEFT + (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT), 1)  # noqa: E731
    down = lambda y: round(HEIGHT - BOTTOM - (y - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM), 1)  # noqa: E731
    drawn, place = [], LEFT
    for line in lines:
        points = " ".join(f"{across(x)},{down(y)}" for x, y in zip(line.x, line.y))
        drawn.append({"name": line.name, "style": line.style, "points": points, "place": place})
        place += 50 + 8 * len(line.name)
    text = template("plot.svg").render(
        title=title, lines=drawn, width=WIDTH, height=HEIGHT, left=LEFT, right=WIDTH - RIGHT, bottom=HEIGHT - BOTTOM,
        marks_x=[(number(tick), across(tick)) for tick in ticks(low_x, high_x)],
        marks_y=[(number(tick), down(tick)) for tick in ticks(low_y, high_y)],
    )  # fmt: skip
    return Markup(text)


def _range(values: list[float]) -> tuple[float, float]:
    """From the least to the largest; wider where these are the same, or too near each other to be told apart in a plot."""
    low, high = min(values), max(values)
    size = max(abs(low), abs(high))
    if high - low > max(1e-9 * size, 1e-280):
        return low, high
    return low - max(0.5, size / 1000), high + max(0.5, size / 1000)
