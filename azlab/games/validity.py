"""Whether a state is possible: what comes from a file is looked at before a kernel sees it.

Kernels do not check their input, and compiled code that reads beyond an array ends the whole process. So every state from
outside goes through `Game.validate`. What every game has is checked here, its own fields by `Game.faults`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from azlab.errors import AzlabError

if TYPE_CHECKING:
    from azlab.games.game import Game

Faults = Iterator[tuple[str, Any]]  # a clause on what is wrong, and in which states it is: bool [B]

AT_ONCE = 4096  # states looked at together: enough to hide the cost of a call, few enough to need little memory


def validate(game: "Game", states: Any) -> None:
    """See `Game.validate`."""
    found = np.asarray(states)
    if found.dtype != game.dtype:
        raise AzlabError(f"This is no state of {game!r}: it is of another game, another board or another version of azlab.")
    flat = found.reshape(-1)
    for first in range(0, len(flat), AT_ONCE):
        part = flat[first : first + AT_ONCE].copy()  # kernels are compiled for arrays that are contiguous and may be written
        for what, is_wrong in _all_faults(game, part):
            if is_wrong.any():
                which = f"state {first + int(is_wrong.argmax())} of {len(flat)}" if len(flat) > 1 else "this"
                raise AzlabError(f"{which[0].upper()}{which[1:]} is no possible state of {game!r}: {what}.")


def possible(game: "Game", states: np.ndarray) -> np.ndarray:
    """Which of `states` [B] `validate` accepts: bool [B]."""
    rows = np.arange(len(states))
    is_clean = False
    while not is_clean and len(rows):
        is_clean = True
        for _, is_wrong in _all_faults(game, states[rows]):
            if is_wrong.any():  # begin again without them: a check may rely on those before it
                rows, is_clean = rows[~is_wrong], False
                break
    accepted = np.zeros(len(states), np.bool_)
    accepted[rows] = True
    return accepted


def _all_faults(game: "Game", states: np.ndarray) -> Faults:
    yield from _common_faults(game, states)
    yield from game.faults(states)


def _common_faults(game: "Game", states: np.ndarray) -> Faults:
    for name in game.dtype.names or ():
        if game.dtype[name].base == np.bool_:
            byte = np.ascontiguousarray(states[name]).view(np.uint8).reshape(len(states), -1)
            yield f"{name} is neither true nor false", (byte > 1).any(axis=1)
    if "filler" in (game.dtype.names or ()):
        yield "filler is not zero", states["filler"].any(axis=1)
    ply, over, result = states["ply"], states["over"], states["result"]
    yield f"ply is not a number from 0 to {game.max_length}", (ply < 0) | (ply > game.max_length)
    yield "to_move is neither 0 nor 1", (states["to_move"] < 0) | (states["to_move"] > 1)
    yield "result is not -1, 0 or 1", (result < -1) | (result > 1)
    yield "result is not 0 though over is false", ~over & (result != 0)
    yield f"over is false after {game.max_length} moves, and no game is longer", ~over & (ply == game.max_length)


def other_options(game: "Game", states: np.ndarray, fields: tuple[str, ...]) -> Faults:
    """Faults where a field that holds an option differs from that of the game's own start."""
    start = game.new_states(1)
    for name in fields:
        yield f"{name} is not {start[name][0].item()}, as the rules chosen say", states[name] != start[name][0]
