"""Which states of Seega are possible; see `Game.faults`."""

from collections.abc import Callable

import numpy as np

from azlab.games.game import Game
from azlab.games.validity import Faults, other_options

EMPTY = NONE = -1  # as in seega.py
RULES = (
    "quiet_limit", "move_limit", "per_turn", "last_placer_moves", "safe_centre", "chain_rule", "extra_any", "explicit_pass",
    "least",
)  # fmt: skip


def state_faults(game: Game, states: np.ndarray, look_at: Callable) -> Faults:
    """The faults of `states` [B]; `look_at` is the kernel that knows which stones can move and go on capturing."""
    yield from other_options(game, states, RULES)
    board = states["board"].reshape(len(states), -1)
    yield "board has a cell that is neither empty nor a seat's", ((board < EMPTY) | (board > 1)).any(axis=1)
    stones = np.stack([(board == seat).sum(axis=1) for seat in (0, 1)], axis=1)
    yield "stones are not as many as on the board", (states["stones"] != stones).any(axis=1)
    yield from _placing_faults(game, states, board, stones)
    yield from _count_faults(game, states, stones)
    yield from _turn_faults(game, states, look_at)


def _placing_faults(game: Game, states: np.ndarray, board: np.ndarray, stones: np.ndarray) -> Faults:
    """Of the first phase: all follows from the number of stones."""
    placing, ply = states["placing"], states["ply"].astype(np.int64)
    cells, per_turn = board.shape[1], game.options["placement"]
    yield "placing is true on a full board", placing & (ply > cells - 2)
    yield "ply is not the number of stones placed", placing & (stones.sum(axis=1) != ply)
    yield "board has a stone on the centre while stones are placed", placing & (board[:, cells // 2] != EMPTY)
    turns, rest = ply // (2 * per_turn), ply % (2 * per_turn)
    yield "stones are too many of one seat", placing & (stones[:, 0] != turns * per_turn + np.minimum(rest, per_turn))
    yield "to_move is the other seat", placing & (states["to_move"] != rest // per_turn)
    yield "in_turn is not the number of stones placed in this turn", states["in_turn"] != np.where(placing, ply % per_turn, 0)
    for name, before in (("over", False), ("blocked", False), ("chain", NONE), ("quiet", 0), ("moves", 0)):
        yield f"{name} is set while stones are placed", placing & (states[name] != before)


def _count_faults(game: Game, states: np.ndarray, stones: np.ndarray) -> Faults:
    """Of the second phase: stones, moves, and the end."""
    moving, ply, moves, quiet = ~states["placing"], *(states[name].astype(np.int64) for name in ("ply", "moves", "quiet"))
    full, total = game.options["size"] ** 2 - 1, stones.sum(axis=1)
    yield "board has no empty cell", moving & (total > full)
    yield "quiet is not a number from 0 to moves", (quiet < 0) | (quiet > moves)
    # A game begins with the placing or with a drawn board. Stopping a chain is a ply but no move; it follows a move that
    # captured, and the chain of now is not stopped yet.
    others = ply - moves
    stops = np.maximum(np.minimum(full - total, moves) - (states["chain"] != NONE), 0) * (game.options["chain"] == "optional")
    is_from_start = (others >= full) & (others <= full + stops)
    yield "ply does not fit moves", moving & ~is_from_start & ~((others >= 0) & (others <= stops))
    yield "stones are more than a seat places", moving & is_from_start & (stones > full // 2).any(axis=1)
    yield "stones are missing before the first move", moving & is_from_start & (moves == 0) & (total != full)
    quiet_limit, move_limit, least = (game.options[name] for name in ("quiet_limit", "move_limit", "least_stones"))
    is_end = stones.min(axis=1) < least
    for name, count, limit in (("quiet", quiet, quiet_limit), ("moves", moves, move_limit)):
        if limit is not None:
            yield f"{name} is more than its limit", count > limit
            is_end = is_end | (count == limit)
    yield "over is not what stones and limits say", moving & (states["over"] != is_end)
    winner = np.sign(stones[:, 0] - stones[:, 1])
    yield "result is not what the stones say", states["over"] & (states["result"] != winner)


def _turn_faults(game: Game, states: np.ndarray, look_at: Callable) -> Faults:
    """Whether the player to move can: by a step, by going on with a chain, or by passing when blocked."""
    chain, going_on = states["chain"].astype(np.int64), ~states["placing"] & ~states["over"]
    is_chain = chain != NONE
    cells = game.options["size"] ** 2
    yield "chain is no cell of the board", (chain < NONE) | (chain >= cells)
    yield "chain is set though the game is over", is_chain & states["over"]
    yield "chain is set though the rules know none", is_chain & (game.options["chain"] == "none")
    stone = states["board"].reshape(-1, cells)[np.arange(len(states)), chain]
    yield "chain is not a stone of the seat to move", is_chain & (stone != states["to_move"])
    yield "chain is set though nothing was captured", is_chain & ((states["quiet"] != 0) | (states["moves"] == 0))
    is_mobile, is_chaining = np.empty(len(states), np.bool_), np.empty(len(states), np.bool_)
    look_at(states, is_mobile, is_chaining)
    yield "chain is a stone that cannot capture", is_chain & ~is_chaining
    passes = going_on & ~is_mobile & (game.options["blocked"] == "pass")
    yield "blocked is not what the board says", states["blocked"] != passes
    yield "to_move is a seat that cannot move", going_on & ~is_mobile & ~passes
