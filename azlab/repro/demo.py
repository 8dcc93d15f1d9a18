"""A one-minute demonstration: numbers published about the games, counted anew by azlab's own rules."""

import functools
import time
from collections.abc import Callable, Iterator

import numpy as np

from azlab.games import game
from azlab.games.count import count_games, exact_value, positions_by_ply
from azlab.games.game import Game

Check = tuple[str, object, Callable[[], object]]  # what, the published number, how it is counted here


def checks() -> Iterator[Check]:
    """The demonstrations, quick ones first."""
    tictactoe, connect4 = game("tictactoe"), game("connect4")
    yield "tic-tac-toe, positions", 5478, lambda: sum(positions_by_ply(tictactoe, 9))
    yield "tic-tac-toe, games won by X / won by O / drawn", (131184, 77904, 46080), lambda: count_games(tictactoe)
    yield "tic-tac-toe, value under perfect play", 0, lambda: _value(tictactoe)
    yield (
        "Connect 4, positions after 0 to 8 moves",
        [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275],
        lambda: positions_by_ply(connect4, 8),
    )
    for rows, cols, margin in ((1, 1, -1), (1, 2, 0), (1, 3, -1), (2, 2, 2)):
        board = game("dots_and_boxes", rows=rows, cols=cols)
        yield f"Dots and Boxes {rows}x{cols}, first player's margin", margin, functools.partial(_value, board)
    yield "Go 2x2, legal positions", 57, lambda: _go_positions(2)
    yield "Go 3x3, legal positions", 12675, lambda: _go_positions(3)


def _value(small: Game) -> int:
    return int(exact_value(small, small.new_states(1))[0])


def _go_positions(size: int) -> int:
    """Boards that play can reach; with passes every legal one can be."""
    go = game("go", size=size, komi=0)
    seen = {go.new_states(1)["board"].tobytes()}
    states = go.new_states(1)
    while len(states):
        both = np.concatenate([states, states])
        both["to_move"] = np.repeat([0, 1], len(states))  # either side may be the one to move, the other having passed
        parents, actions = np.nonzero(go.legal_mask(both)[:, :-1])
        following = both[parents]
        if len(following):
            go.kernels.play(following, np.ascontiguousarray(actions))
        fresh = {}
        for state in following:
            board = state["board"].tobytes()
            if board not in seen:
                seen.add(board)
                fresh[board] = state
        states = np.array(list(fresh.values()), go.dtype)
        states["ko"], states["passes"], states["ply"], states["over"] = 0, 0, 0, False
    return len(seen)


def run() -> bool:
    """Print each published number beside ours; return whether all agree."""
    print("Published numbers, counted anew by azlab's rules. The first run also compiles the games.\n")
    all_agree = True
    for what, published, count in checks():
        start = time.perf_counter()
        ours = count()
        agrees = ours == published
        all_agree &= agrees
        verdict = "agrees" if agrees else f"DIFFERS: counted {ours}"
        print(f"{what}: {published}  {verdict}  ({time.perf_counter() - start:.1f} s)", flush=True)
    position = game("connect4").from_moves("44444")
    print(f"\nConnect 4 after 4 4 4 4 4:\n{position.text}\n")
    print("All numbers agree." if all_agree else "Some numbers differ: the rules are wrong.")
    print("Next: `azlab play connect4` plays a game here, `azlab reproduce` checks the sources, `make lab` opens JupyterLab.")
    return all_agree
