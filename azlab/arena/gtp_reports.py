"""What an agent thinks as programs for Go read it: lines of Leela Zero and KataGo, CGOS's JSON, GoGui's tables.

Chances to win are those of the player asked about: half of one plus the search's value, so a draw counts a half. No lead in
points is told, for the searches count games won and not points.
"""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azlab.arena.thinking import Thinking
from azlab.formats.gtp import vertex
from azlab.games.game import Position
from azlab.games.go import Go
from azlab.search.analysis import Analysis

CERTAINTY = 1.96  # standard deviations below the mean: a bound that 19 of 20 pass on either side
OWNERSHIP_GAMES = 200  # random games for the owners of the points


class Row(NamedTuple):
    """A move that was looked at."""

    move: str
    visits: int
    winrate: float  # in [0, 1], for the player to move
    prior: float
    lcb: float  # a lower bound of `winrate` by the number of visits
    line: str

    @property
    def utility(self) -> float:
        return 2 * self.winrate - 1


def winrate(value: float, seat: int) -> float:
    """The chance to win behind a value for seat 0; an unknown one is a half."""
    return 0.5 if math.isnan(value) else min(1.0, max(0.0, 0.5 + 0.5 * value * (1 - 2 * seat)))


def rows(thinking: Thinking, found: Analysis, most: int | None = None) -> list[Row]:
    """The moves that were looked at, the choice first, then by visits."""
    position, best = found.position, found.best_action
    game = position.game
    assert isinstance(game, Go)
    looked_at = [action for action in position.legal_actions if found.visits[action] > 0 or action == best]
    order = sorted(looked_at, key=lambda a: (a != best, -found.visits[a], -found.priors[a], a))[:most]
    made = []
    for action in order:
        visits = int(found.visits[action])
        chance = winrate(float(found.values[action]), position.to_move)
        bound = max(0.0, chance - CERTAINTY * math.sqrt(chance * (1 - chance) / max(1, visits)))
        line = " ".join(vertex(each, game.size) for each in thinking.line(action))
        made.append(Row(vertex(action, game.size), visits, chance, float(found.priors[action]), bound, line))
    return made


def leela_zero(moves: Sequence[Row]) -> str:
    """One line, chances as whole numbers up to 10,000."""
    return " ".join(
        f"info move {row.move} visits {row.visits} winrate {10000 * row.winrate:.0f} prior {10000 * row.prior:.0f} "
        f"lcb {10000 * row.lcb:.0f} order {k} pv {row.line}"
        for k, row in enumerate(moves)
    )


def katago(moves: Sequence[Row]) -> str:
    """One line, chances as fractions."""
    return " ".join(
        f"info move {row.move} visits {row.visits} utility {row.utility:.6f} winrate {row.winrate:.6f} "
        f"prior {row.prior:.6f} lcb {row.lcb:.6f} order {k} pv {row.line}"
        for k, row in enumerate(moves)
    )


def katago_root(found: Analysis) -> str:
    """The position itself, as kata-analyze tells it if asked for rootInfo."""
    chance = winrate(found.value, found.position.to_move)
    return f"rootInfo visits {found.simulations} utility {2 * chance - 1:.6f} winrate {chance:.6f}"


def cgos(found: Analysis, moves: Sequence[Row]) -> str:
    """One line of JSON, as the computer Go server keeps it with the game."""
    listed = [
        {"move": row.move, "winrate": round(row.winrate, 4), "prior": round(row.prior, 4), "visits": row.visits, "pv": row.line}
        for row in moves
    ]
    chance = winrate(found.value, found.position.to_move)
    return json.dumps({"winrate": round(chance, 4), "visits": found.simulations, "moves": listed})


def table(numbers: np.ndarray) -> str:
    """Numbers for the points of a board [N, N], a line for each row from the top; GoGui calls it dboard."""
    return "\n".join(" ".join(f"{float(number):.4f}" for number in row) for row in numbers)


def per_point(values: np.ndarray, size: int) -> np.ndarray:
    """The part of an array over actions that belongs to the points, [N, N], with 0 for what is not known."""
    return np.nan_to_num(values[: size * size].astype(np.float64)).reshape(size, size)


def principal_line(thinking: Thinking, found: Analysis) -> str:
    """The expected moves as GoGui's graphics: a variation with colours."""
    game, seat = found.position.game, found.position.to_move
    assert isinstance(game, Go)
    words = ["VAR"]
    for k, action in enumerate(thinking.line(found.best_action)):
        words += ["bw"[(seat + k) % 2], vertex(action, game.size).upper()]
    return " ".join(words)


def ownership(position: Position, games: int = OWNERSHIP_GAMES, seed: int = 0) -> np.ndarray:
    """Who owns each point at the end of random games, +1 for always Black, -1 for always White: float64 [N, N]."""
    game = position.game
    assert isinstance(game, Go)
    final = game.playout(np.repeat(position.state, games), seed)
    boards = np.stack([game.board(final[k : k + 1]) for k in range(games)])
    colour = np.array([1, -1, 0])[boards]
    around = np.pad(colour, ((0, 0), (1, 1), (1, 1)))
    neighbours = np.stack([around[:, :-2, 1:-1], around[:, 2:, 1:-1], around[:, 1:-1, :-2], around[:, 1:-1, 2:]])
    is_black, is_white = (neighbours == 1).any(axis=0), (neighbours == -1).any(axis=0)
    eyes = np.where(is_black & ~is_white, 1, np.where(is_white & ~is_black, -1, 0))
    return np.where(colour == 0, eyes, colour).mean(axis=0)
