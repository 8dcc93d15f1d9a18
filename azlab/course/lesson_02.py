"""Exercises on minimax: written plainly, by hand, with alpha-beta, with a horizon. `use` hands out the functions on top."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import function_of, number, whole
from azlab.course.counting import counted
from azlab.games import game
from azlab.games.game import Position

TREE = [[5, 2, 7], [1, 4, 6], [6, 4, 9], [2, 8]]  # of exercises 02.2 and 02.3: X chooses a row, then O a number in it
DEEP = "26412747"  # a position of Connect 4 in which the first player wins by force
FOR_X = "It is the value for the player to move; asked for is the value for the first player, whoever is to move."


def value(position: Position) -> float:
    """What `position` is worth to the first player when both play perfectly."""
    if position.over:
        return position.result or 0
    values = [value(position.play(action)) for action in position.legal_actions]
    return max(values) if position.to_move == 0 else min(values)


def alpha_beta(position: Position, low: float = -math.inf, high: float = math.inf) -> float:
    """The same, without lines that cannot matter: the first player is sure of `low` elsewhere, the second of `high`."""
    if position.over:
        return position.result or 0
    best = -math.inf if position.to_move == 0 else math.inf
    for action in position.legal_actions:
        found = alpha_beta(position.play(action), low, high)
        if position.to_move == 0:
            best, low = max(best, found), max(low, found)
        else:
            best, high = min(best, found), min(high, found)
        if low >= high:
            break
    return best


def limited(position: Position, depth: int, evaluate: Callable[[Position], float]) -> float:
    """Minimax to `depth` moves; where the game goes on after them, `evaluate` says what the position is worth to the first."""
    if position.over:
        return position.result or 0
    if depth == 0:
        return evaluate(position)
    values = [limited(position.play(action), depth - 1, evaluate) for action in position.legal_actions]
    return max(values) if position.to_move == 0 else min(values)


@cache
def _exam() -> tuple[tuple[Position, float], ...]:
    """Positions near the end of tic-tac-toe, then of 2x2 boxes, each with its value by the compiled search."""
    from azlab.search import minimax

    rng, found = np.random.default_rng(2), []
    for rules, plies in (
        (game("tictactoe"), (3, 4, 4, 5, 5, 6, 6, 7)),
        (game("dots_and_boxes", rows=2, cols=2), (7, 8, 8, 9, 9, 10)),
    ):
        for ply in plies:
            position = rules.start()
            while position.ply < ply or position.over:
                position = rules.start() if position.over else position.play(int(rng.choice(position.legal_actions)))
            exact = minimax(position, rules.max_length, prune=False)
            found.append((position, float(np.sign(exact.value))))
    return tuple(found)


def _diagnosed(given: list[float]) -> bool | str | Mistake:
    """Right, or what is wrong with these values of the positions of `_exam`."""
    if any(one is None for one in given):
        return "It returns nothing for some positions: does every way through the function end with return?"
    values = np.array([float(one) for one in given])
    right = np.array([exact for _, exact in _exam()])
    signs = np.array([1 - 2 * position.to_move for position, _ in _exam()])
    alternates = np.array([position.game.name == "tictactoe" for position, _ in _exam()])
    if np.array_equal(values, right):
        return True
    for part in (slice(None), alternates):  # whoever has the sign wrong and alternates turns hears of the sign first
        if np.array_equal(values[part], -right[part]):
            return mistake(
                "wrong player", "Every value has the wrong sign: +1 is a win of the first player, who wants large ones."
            )
        if np.array_equal(values[part], (right * signs)[part]):
            return mistake("wrong player", FOR_X)
    if np.array_equal(values[alternates], right[alternates]):
        return mistake("turns alternate")
    wrong = int((values != right).argmax())
    position = _exam()[wrong][0]
    return f"After {' '.join(position.moves)} of {position.game.name} it says {values[wrong]:+g}."


@exercise(
    "02.1",
    "a finished position is worth its result; for any other ask for the values of all positions one move later",
    "position.result, position.to_move, position.legal_actions and position.play are all you need; seat 0 is the first player",
    "collect the values in a list, then return max(...) or min(...) of it, depending on who is to move",
    grade="write",
    instead=value,
    may_ask_oracles=False,
)
def plain_minimax(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a position and returns its value for the first player")
    return _diagnosed([answer(position) for position, _ in _exam()])


@exercise(
    "02.2",
    "X chooses the row, and knows that O will choose the number in it: what is each row worth to X?",
    "O takes the smallest number of a row; X takes the row with the largest of these",
)
def tree_by_hand(answer: Any) -> bool | str | Mistake:
    given = number(answer)
    if given == max(map(max, TREE)):
        return mistake("wrong player", "X would like that number, but O chooses within the row, and chooses against X.")
    if given == min(map(max, TREE)):
        return mistake("wrong player", "Here X moves first: she takes the largest of the rows' values, not the smallest.")
    return given == max(map(min, TREE))


@exercise(
    "02.3",
    "after the first row X is sure of its value; as soon as a row shows a number that is not better, it is done with",
    "go from left to right and keep two numbers: the best row so far, and the smallest number of this row so far",
)
def leaves_left_out(answer: Any) -> bool:
    """By the rule itself, row by row."""
    best, seen = -math.inf, 0
    for row in TREE:
        smallest = math.inf
        for leaf in row:
            seen, smallest = seen + 1, min(smallest, leaf)
            if smallest <= best:
                break
        best = max(best, smallest)
    return whole(answer) == sum(map(len, TREE)) - seen


@exercise(
    "02.4",
    "begin with your minimax and go through the moves one at a time; what do you know after some of them?",
    "whoever is to move improves one of the two bounds: the first player raises low, the second lowers high; hand both down",
    "as soon as low >= high the rest of the moves cannot matter: leave the loop",
    grade="write",
    instead=alpha_beta,
    may_ask_oracles=False,
)
def with_two_bounds(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a position, and low and high, and returns the position's value")
    all_moves, its_moves, our_moves, given = 0, 0, 0, []
    for position, _ in _exam():
        everything, its, ours = counted(position), counted(position), counted(position)
        value(everything)
        given.append(answer(its, -math.inf, math.inf))
        alpha_beta(ours)
        all_moves, its_moves, our_moves = (
            all_moves + everything.moves_made, its_moves + its.moves_made, our_moves + ours.moves_made,
        )  # fmt: skip
    outcome = _diagnosed(given)
    if outcome is not True:
        return mistake("unsound cut") if isinstance(outcome, str) and its_moves < all_moves else outcome
    if its_moves >= all_moves:
        return mistake("no cut")
    return (
        its_moves <= our_moves
        or f"It is right, but makes {its_moves:,} moves where {our_moves:,} would do; are both bounds handed down?"
    )


def _opinion(position: Position) -> float:
    """Something between -1 and 1 that no search would find, and wrong for finished games."""
    return (sum((k + 1) * action for k, action in enumerate(position.actions)) % 19 - 9) / 10


@exercise(
    "02.5",
    "three cases: the game is over, the depth is used up, or there are moves to try with one less to go",
    "ask whether the game is over before you ask whether the depth is used up",
    grade="write",
    instead=limited,
    may_ask_oracles=False,
)
def with_a_horizon(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a position, a depth and an evaluation, and returns a value")
    cases = [("connect4", "4433", 3), ("connect4", "443", 2), ("connect4", "121", 1), ("tictactoe", "b2 a1 c1 b1", 2)]
    for name, moves, depth in cases:
        position = game(name).from_moves(moves)
        given, right = answer(position, depth, _opinion), limited(position, depth, _opinion)
        if given is None:
            return "It returns nothing for some positions: does every way through the function end with return?"
        if abs(float(given) - right) < 1e-9:
            continue
        if abs(float(given) - _judging_ends(position, depth)) < 1e-9:
            return mistake("bootstrapped end")
        return f"After {moves} of {name}, with depth {depth}, it says {float(given):+.2f}."
    return True


def _judging_ends(position: Position, depth: int) -> float:
    """What comes out if the evaluation is asked about finished games, too."""
    if depth == 0 or position.over:
        return _opinion(position)
    values = [_judging_ends(position.play(action), depth - 1) for action in position.legal_actions]
    return max(values) if position.to_move == 0 else min(values)


@exercise(
    "02.6",
    "call azlab.search.minimax with depth 1, 2, 3, ... and look at `value`: 1 is a win that was seen",
    "a win in n moves of the winner takes n - 1 replies as well",
    grade="explore",
)
def depth_of_the_win(answer: Any) -> bool:
    from azlab.search import minimax

    position = game("connect4").from_moves(DEEP)
    right = next(depth for depth in range(1, 43) if minimax(position, depth).value == 1)
    return whole(answer) == right
