"""Draws a search tree as SVG and the numbers at one of its nodes as a table. The same input gives the same bytes.

The root is on the left, a column for each move deeper. A large tree shows its most visited part; the rest waits behind "+3".
"""

import math
from collections.abc import Collection
from html import escape

import numpy as np

from azlab.search.steps import Choice, Snapshot
from azlab.show.board import _fill, _stroke, _style_sheet

MOST_NODES = 24  # shown without being asked for: they fit a notebook without scrolling far
MOST_ROWS = 12  # of the table
BOX_WIDTH, BOX_HEIGHT = 124, 24
COLUMN, ROW = 172, 31  # from box to box
MARGIN = 12


def shown_nodes(
    snapshot: Snapshot, selected: int = 0, expanded: Collection[int] = (), folded: Collection[int] = (), most: int = MOST_NODES
) -> list[int]:
    """The nodes to draw: the most visited, the last path, the way to `selected`, all children of `expanded`, none of `folded`."""
    tree, size = snapshot.tree, snapshot.size
    # parents have at least the visits of their children and come before them, so nothing hangs in the air
    wanted = set(np.lexsort((np.arange(size), -tree.visits[0]))[:most].tolist())
    wanted.update(snapshot.path())
    if selected < size:
        wanted.update(snapshot.steps.path_to(selected))
    for node in sorted(expanded):
        if node in wanted:
            wanted.update(child for child in tree.children[0, node].tolist() if child >= 0)
    shown: set[int] = {0}
    for node in sorted(wanted - {0}):
        parent = int(tree.parent[0, node])
        if parent in shown and parent not in folded:
            shown.add(node)
    return sorted(shown)


def _places(snapshot: Snapshot, shown: list[int]) -> dict[int, tuple[float, float]]:
    """(column, row) of each shown node; children in the order of their actions, a parent in the middle of them."""
    tree = snapshot.tree
    below: dict[int, list[int]] = {node: [] for node in shown}
    for node in shown[1:]:
        below[int(tree.parent[0, node])].append(node)
    column = {0: 0}
    for node in shown[1:]:
        column[node] = column[int(tree.parent[0, node])] + 1
    rows: dict[int, float] = {}
    free, open_nodes = 0, [0]
    order = []  # each node before what is below it
    while open_nodes:
        node = open_nodes.pop()
        order.append(node)
        children = sorted(below[node], key=lambda child: int(tree.action[0, child]))
        open_nodes += reversed(children)
        if not children:
            rows[node] = free
            free += 1
    for node in reversed(order):
        if below[node]:
            at = [rows[child] for child in below[node]]
            rows[node] = (min(at) + max(at)) / 2
    return {node: (column[node], rows[node]) for node in shown}


def signed(value: float) -> str:
    """A value with its sign; nothing for an unknown one, and no -0.00."""
    if math.isnan(value):
        return ""
    return "∞" if math.isinf(value) else f"{round(value, 2) + 0.0:+.2f}"


def node_value(snapshot: Snapshot, node: int) -> float:
    """The mean value of a node for who moved there; of the root for who is to move."""
    tree = snapshot.tree
    return snapshot.value(node, int(tree.to_move[0, tree.parent[0, node] if node else 0]))


def tree_svg(
    snapshot: Snapshot, selected: int = 0, expanded: Collection[int] = (), folded: Collection[int] = (), caption: str = ""
) -> str:
    """The tree after some simulations; elements that can be clicked have `data-node` or `data-toggle`."""
    tree = snapshot.tree
    shown = shown_nodes(snapshot, selected, expanded, folded)
    places = _places(snapshot, shown)
    path = set(snapshot.path())
    spot = {node: (MARGIN + COLUMN * column, MARGIN + ROW * row) for node, (column, row) in places.items()}
    width = max(x for x, _ in spot.values()) + BOX_WIDTH + 40 + MARGIN
    height = max(y for _, y in spot.values()) + BOX_HEIGHT + MARGIN + (24 if caption else 0)
    body = []
    for node in sorted(shown[1:], key=lambda one: one in path):  # the path on top
        parent = int(tree.parent[0, node])
        x1, y1, x2, y2 = spot[parent][0] + BOX_WIDTH, spot[parent][1], spot[node][0], spot[node][1]
        share = tree.visits[0, node] / max(1, tree.visits[0, parent])
        look = _stroke("mark", 3) if node in path else _stroke("edge", 1 + round(2 * float(share), 1))
        middle, half = (x1 + x2) / 2, BOX_HEIGHT / 2
        curve = f"M{x1:g} {y1 + half:g}C{middle:g} {y1 + half:g} {middle:g} {y2 + half:g} {x2:g} {y2 + half:g}"
        body.append(f'<path d="{curve}" {look}/>')
    for node in shown:
        children = [child for child in tree.children[0, node].tolist() if child >= 0]
        hidden = sum(child not in places for child in children)
        body.append(_box(snapshot, node, *spot[node], selected == node, node in path))
        if hidden or node in expanded:
            body.append(_toggle(node, *spot[node], f"+{hidden}" if hidden else "−"))
    if caption:
        body.append(
            f'<text x="{MARGIN}" y="{height - 9:g}" {_fill("ink")} font-size="13" font-family="sans-serif">'
            f"{escape(caption)}</text>"
        )
        width = max(width, 7.2 * len(caption) + 2 * MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'role="img"><title>{escape(caption or "Search tree")}</title>{_style_sheet()}'
        f'<rect width="100%" height="100%" rx="8" {_fill("paper")}/>{"".join(body)}</svg>'
    )


def _box(snapshot: Snapshot, node: int, x: float, y: float, is_selected: bool, is_on_path: bool) -> str:
    tree, game = snapshot.tree, snapshot.steps.position.game
    name = game.move_name(int(tree.action[0, node])) if node else "start"
    visits, value = int(tree.visits[0, node]), signed(node_value(snapshot, node))
    edge, thick = ("mark", 3) if is_on_path else ("edge", 1)
    if is_selected:
        edge, thick = "ink", 3
    bar = (BOX_WIDTH - 8) * (1 + snapshot.value(node, 0)) / 2  # the share of seat 0, on the left
    foot = y + BOX_HEIGHT - 5
    text = 'font-size="12" font-family="sans-serif"'
    end = ' font-style="italic"' if tree.over[0, node] else ""
    parts = [
        f'<g data-node="{node}"><title>{escape(name)}: {visits:,} visits, value {value}</title>',
        f'<rect x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" {_fill("cell")}/>',
        f'<rect x="{x + 4:g}" y="{foot:g}" width="{bar:.1f}" height="3" {_fill("seat0")}/>',
        f'<rect x="{x + 4 + bar:.1f}" y="{foot:g}" width="{BOX_WIDTH - 8 - bar:.1f}" height="3" {_fill("seat1")}/>',
        f'<rect x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" {_stroke(edge, thick)}/>',
        f'<text x="{x + 7:g}" y="{y + 15:g}" {_fill("ink")} {text} font-weight="bold"{end}>{escape(name)}</text>',
        f'<text x="{x + BOX_WIDTH - 48:g}" y="{y + 15:g}" {_fill("ink")} {text} text-anchor="end">{visits:,}</text>',
        f'<text x="{x + BOX_WIDTH - 6:g}" y="{y + 15:g}" {_fill("ink")} {text} text-anchor="end">{value}</text></g>',
    ]
    return "".join(parts)


def _toggle(node: int, x: float, y: float, label: str) -> str:
    x, y = x + BOX_WIDTH + 17, y + BOX_HEIGHT / 2
    return (
        f'<g data-toggle="{node}"><rect x="{x - 15:g}" y="{y - 9:g}" width="30" height="18" rx="9" {_fill("faint")}/>'
        f'<text x="{x:g}" y="{y + 4:g}" {_fill("ink")} font-size="11" font-family="sans-serif" text-anchor="middle">'
        f"{label}</text></g>"
    )


def table_rows(snapshot: Snapshot, node: int = 0) -> tuple[list[str], list[tuple[Choice, list[str]]], int]:
    """Headings, (choice, cells) of the moves at a node, and how many more there are."""
    is_puct = snapshot.steps.kind == "PUCT"
    heads = ["move", "N", "Q", "P", "U", "Q + U"] if is_puct else ["move", "N", "Q", "bonus", "UCB"]
    choices = snapshot.choices(node)
    if len(choices) > MOST_ROWS:
        choices = sorted(choices, key=lambda c: (-c.visits, -c.prior, c.action))
    rows = []
    for choice in choices[:MOST_ROWS]:
        score = "exact" if choice.proven else signed(choice.score) or "∞"
        cells = [choice.name, f"{choice.visits:,}", signed(choice.value)]
        cells += [f"{choice.prior:.3f}"] if is_puct else []
        cells += ["" if choice.proven else signed(choice.bonus), score]
        rows.append((choice, cells))
    return heads, rows, max(0, len(choices) - MOST_ROWS)


def table_html(snapshot: Snapshot, node: int = 0) -> str:
    """The moves at a node; the one a simulation would take now is marked, rows of visited moves have `data-node`."""
    heads, rows, more = table_rows(snapshot, node)
    if not rows:
        return "<p>The game is over here.</p>"
    body = ""
    for choice, cells in rows:
        marks = (' class="azlab-next"' if choice.is_next else "") + (f' data-node="{choice.node}"' if choice.node else "")
        cells = ["▸" if choice.is_next else "", *cells]
        body += f"<tr{marks}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    foot = f"<p>and {more} more moves</p>" if more else ""
    head = "".join(f"<th>{name}</th>" for name in ("", *heads))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


def table_text(snapshot: Snapshot, node: int = 0) -> str:
    """The same for a terminal."""
    heads, rows, more = table_rows(snapshot, node)
    lines = ["".join(f"{name:>8}" for name in heads)]
    lines += ["".join(f"{cell:>8}" for cell in cells) + ("  <- next" if choice.is_next else "") for choice, cells in rows]
    return "\n".join(lines + ([f"and {more} more moves"] if more else []))
