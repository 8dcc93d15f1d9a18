"""Draws the `Picture` of a board as SVG.

Colours are from the palette of Okabe and Ito, which colour-blind people can tell apart, and the seats differ in shape or
brightness as well. The light colours stand in the shapes themselves, so the picture is right even where style sheets are
stripped; a style sheet replaces them for viewers in dark mode. The output is the same byte for byte every time, so stored
notebook outputs can be compared.
"""

from collections.abc import Callable
from html import escape

from azlab.games.picture import Picture

CELL = 40  # pixels a cell
MARGIN = 30  # room for coordinates
CAPTION = 26  # room for the line below the board
CAPTION_LETTER = 7.5  # width of a letter of it, on the safe side

# what: (light, dark)
COLOURS = {
    "paper": ("#faf8f3", "#22262b"),
    "ink": ("#3b3b3b", "#d6d6d6"),
    "cell": ("#ffffff", "#2f343b"),
    "edge": ("#8a8a8a", "#6f7680"),
    "faint": ("#dedad0", "#3b414a"),
    "wood": ("#e3c07a", "#a5854a"),
    "wood-line": ("#5b4a26", "#2a2110"),
    "frame": ("#34608f", "#29496b"),  # the upright board of Connect 4
    "hole": ("#faf8f3", "#22262b"),
    "centre": ("#ece7da", "#3d434c"),
    "seat0": ("#0072b2", "#56b4e9"),
    "seat1": ("#d55e00", "#e69f00"),
    "owned0": ("#b3d5e8", "#1d4d6b"),
    "owned1": ("#f3cfb0", "#6b3d10"),
    "disc0": ("#f0e442", "#f0e442"),
    "disc1": ("#d55e00", "#d55e00"),
    "black": ("#1c1c1c", "#101010"),
    "white": ("#fdfdfd", "#f0f0f0"),
    "mark": ("#009e73", "#2bc79a"),  # the last move
}


def dark_rules() -> str:
    """The style sheet that gives a picture its dark colours where a viewer prefers them."""
    rules = "".join(f".azlab-{name}{{fill:{dark}}}.azlab-{name}-line{{stroke:{dark}}}" for name, (_, dark) in COLOURS.items())
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


def _style_sheet() -> str:
    return f"<style>{dark_rules()}</style>"


def _fill(name: str) -> str:
    return f'class="azlab-{name}" fill="{COLOURS[name][0]}"'


def _stroke(name: str, width: float) -> str:
    return f'class="azlab-{name}-line" stroke="{COLOURS[name][0]}" stroke-width="{width:g}" stroke-linecap="round" fill="none"'


def _px(value: float) -> str:
    return f"{MARGIN + CELL * value:g}"


def _circle(x: float, y: float, radius: float, look: str) -> str:
    return f'<circle cx="{_px(x)}" cy="{_px(y)}" r="{CELL * radius:g}" {look}/>'


def _line(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    return f'<line x1="{_px(x1)}" y1="{_px(y1)}" x2="{_px(x2)}" y2="{_px(y2)}" {look}/>'


def _square(x: float, y: float, size: float, style: str) -> list[str]:
    colour = "frame" if style == "hole" else style
    edge = f' stroke="{COLOURS["edge"][0]}" stroke-width="1"' if style in ("cell", "centre") else ""
    side = f"{CELL * size:g}"
    out = [f'<rect x="{_px(x)}" y="{_px(y)}" width="{side}" height="{side}" {_fill(colour)}{edge}/>']
    if style == "hole":
        out.append(_circle(x + 0.5, y + 0.5, 0.4, _fill("hole")))
    return out


def _stone(x: float, y: float, seat: int, last: bool, style: str) -> list[str]:
    if style == "mark":  # X and O of tic-tac-toe
        look, arm = _stroke(f"seat{seat}", 5), 0.26
        if seat == 0:
            out = [_line(x - arm, y - arm, x + arm, y + arm, look), _line(x - arm, y + arm, x + arm, y - arm, look)]
        else:
            out = [_circle(x, y, 0.28, look)]
        return out + ([_circle(x + 0.38, y - 0.38, 0.06, _fill("mark"))] if last else [])
    if style == "go":
        out = [_circle(x, y, 0.45, f'{_fill(("black", "white")[seat])} stroke="#1c1c1c" stroke-width="1"')]
    else:  # a disc of Connect 4; the second seat's has a ring
        out = [_circle(x, y, 0.4, _fill(f"disc{seat}"))]
        if seat == 1:
            out.append(_circle(x, y, 0.27, 'fill="none" stroke="#ffffff" stroke-width="2"'))
    return out + ([_circle(x, y, 0.13, _fill("mark"))] if last else [])


LINE_LOOKS = {
    "grid": ("wood-line", 1.0),
    "faint": ("faint", 3.0),
    "drawn": ("ink", 5.0),
    "last": ("mark", 6.0),
    "strike": ("mark", 3.0),
}


def _label(x: float, y: float, text: str, style: str) -> list[str]:
    size = 13 if style == "coordinate" else 17
    return [
        f'<text x="{_px(x)}" y="{_px(y)}" {_fill("ink")} font-size="{size}" font-family="sans-serif" '
        f'text-anchor="middle" dominant-baseline="central">{escape(text)}</text>'
    ]


def _share(x: float, y: float, share: float) -> list[str]:
    disc = _circle(x, y, 0.12 + 0.3 * share**0.5, f'{_fill("mark")} fill-opacity="0.75"')
    text = (
        f'<text x="{_px(x)}" y="{_px(y)}" fill="#ffffff" font-size="11" font-family="sans-serif" font-weight="bold" '
        f'text-anchor="middle" dominant-baseline="central">{100 * share:.0f}</text>'
    )
    return [disc, text] if share >= 0.04 else [disc]


# how each kind of shape of a `Picture` becomes SVG elements
SHAPES: dict[str, Callable[..., list[str]]] = {
    "square": _square,
    "stone": _stone,
    "line": lambda x1, y1, x2, y2, style: [_line(x1, y1, x2, y2, _stroke(*LINE_LOOKS[style]))],
    "dot": lambda x, y, radius: [_circle(x, y, radius, _fill("wood-line" if radius < 0.1 else "ink"))],
    "share": _share,
    "label": _label,
}


def drawn(shape: tuple) -> str:
    """One shape of a picture as SVG elements."""
    return "".join(SHAPES[shape[0]](*shape[1:]))


def size(picture: Picture) -> tuple[float, float]:
    """Width and height of a picture without a caption, in pixels."""
    return CELL * picture.width + 2 * MARGIN, CELL * picture.height + 2 * MARGIN


def draw(picture: Picture, caption: str = "") -> str:
    """The picture as a self-contained SVG text with a caption below."""
    board, tall = size(picture)
    width = max(board, CAPTION_LETTER * len(caption) + 16)  # a small board with a long caption stands in the middle
    height = tall + (CAPTION if caption else 0)
    body = [drawn(shape) for shape in picture.shapes]
    if width > board:
        body = [f'<g transform="translate({(width - board) / 2:g} 0)">', *body, "</g>"]
    if caption:
        body.append(
            f'<text x="{width / 2:g}" y="{height - 16:g}" {_fill("ink")} font-size="14" font-family="sans-serif" '
            f'text-anchor="middle">{escape(caption)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'role="img"><title>{escape(caption)}</title>{_style_sheet()}'
        f'<rect width="100%" height="100%" rx="8" {_fill("paper")}/>{"".join(body)}</svg>'
    )
