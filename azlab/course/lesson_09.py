"""Exercises on Dots and Boxes: lines, the 28 numbers, turns, symmetries, margins, a player of one's own."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import function_of, whole, word

Line = tuple[str, int, int]  # "-" or "|", row, column; written anew: the checks share no code with the game

EXAM, MISTAKES = 1000, 0.1  # positions of exercise 09.7, and the share of random moves in the games they come from
ALLOWED = 0.7  # margin lost by a move; taking every box loses about 0.85


def _sides(rows: int, cols: int) -> list[frozenset[Line]]:
    """The four sides of every box."""
    return [frozenset({("-", r, c), ("-", r + 1, c), ("|", r, c), ("|", r, c + 1)}) for r in range(rows) for c in range(cols)]


def _lines(rows: int, cols: int) -> list[Line]:
    return sorted(frozenset.union(*_sides(rows, cols)))


def _line(name: str) -> Line:
    """The line that the source calls `name`: aA is horizontal, Bc vertical."""
    if name[0].islower():
        return "-", "ABCD".index(name[1]), "abc".index(name[0])
    return "|", "ABC".index(name[0]), "abcd".index(name[1])


def _margins(sides: list[frozenset[Line]], left: list[Line]) -> dict[Line, int]:
    """The margin of the boxes to come after each line, for the player to move, when the lines in `left` are not drawn."""
    number = {line: 1 << k for k, line in enumerate(left)}
    beside = {line: [sum(number.get(side, 0) for side in box) for box in sides if line in box] for line in left}

    def after(undrawn: int, line: Line) -> int:
        rest = undrawn & ~number[line]
        won = sum(not box & rest for box in beside[line])
        return won + value(rest) if won else -value(rest)

    @functools.cache
    def value(undrawn: int) -> int:
        return max((after(undrawn, line) for line in left if undrawn & number[line]), default=0)

    return {line: after((1 << len(left)) - 1, line) for line in left}


@exercise("09.1", "count the rows of horizontal lines and how many each has; then the same for vertical ones", grade="write")
def lines_of_a_board(answer: Any) -> bool | str:
    function_of(answer, "a function of rows and cols")
    for rows, cols in itertools.product(range(1, 6), repeat=2):
        if answer(rows, cols) != len(_lines(rows, cols)):
            return f"It is wrong for {rows}x{cols} boxes; draw that board and count."
    return True


@exercise(
    "09.2", "a capital letter comes first, so it is vertical: which row of the matrix is that, if every row has five numbers?"
)
def number_of_a_line(answer: Any) -> bool | str:
    answer = whole(answer)
    kind, row, column = _line("Cb")
    if answer == 4 * (2 * row + (kind == "|")) + column:
        return "That is its number on 3x3 boxes; the matrix of 4x4 boxes is wider."
    return bool(answer == 5 * (2 * row + (kind == "|")) + column)


@exercise(
    "09.3", "how often has the turn passed when 24 lines made 9 boxes, and who moves when it has passed an even number of times?"
)
def who_draws_the_last_line(answer: Any) -> bool | str:
    return (
        word(answer, "Blue", "Orange", what="the name of a player") == ("Blue", "Orange")[(24 - (9 - 1)) % 2]
    )  # eight lines won something, and the last line is one of them


@exercise("09.4", "if Blue takes everything that is on offer, who has to open the chain of five?")
def best_line_of_the_puzzle(answer: Any) -> bool | str:
    left = ["cB", "Bd", "Ca", "aC", "Bb", "bC", "Cc", "Cd"]
    answer = str(answer).strip()
    if answer not in left:
        return "Name a line that is not drawn yet, a horizontal one such as aA, a vertical one such as Aa."
    margins = _margins(_sides(3, 3), [_line(name) for name in left])
    return margins[_line(answer)] == max(margins.values())


@exercise(
    "09.5", "a rectangle stays the same in two mirrors and when turned by 180 degrees; try all sets, each in its smallest form"
)
def sets_up_to_symmetry(answer: Any) -> bool | str | Mistake:
    """All 128 sets of the board of 1x2 boxes, whose lines are moved by the two mirrors and both together."""
    lines = _lines(1, 2)

    def form(drawn: tuple[Line, ...], upside_down: bool, left_right: bool) -> tuple[Line, ...]:
        moved = []
        for kind, row, column in drawn:
            last_row, last_column = (1, 1) if kind == "-" else (0, 2)
            moved.append((kind, last_row - row if upside_down else row, last_column - column if left_right else column))
        return tuple(sorted(moved))

    sets = itertools.chain.from_iterable(itertools.combinations(lines, n) for n in range(len(lines) + 1))
    smallest = {min(form(drawn, *mirrors) for mirrors in itertools.product((False, True), repeat=2)) for drawn in sets}
    answer = whole(answer)
    if answer == 2 ** len(lines):
        return mistake("counts all", "That is the number of all sets, each counted in every form.")
    return bool(answer == len(smallest))


@exercise("09.6", "65,536 sets are enough for a table; a number whose bits are the undrawn lines is a good key")
def margin_of_1x5(answer: Any) -> bool | str | Mistake:
    answer = whole(answer)
    right = max(_margins(_sides(1, 5), _lines(1, 5)).values())
    if answer == -right != right:
        return mistake("wrong player", "That is the margin of the other player.")
    return bool(answer == right)


@exercise(
    "09.7",
    "what does `greedy` do where no box can be taken? Which of these lines offer something?",
    "take boxes; where there are none, avoid lines that offer one; where all do, offer the shortest chain",
    grade="write",
    may_ask_oracles=False,
)
def a_player_of_your_own(answer: Callable[[Any], Any]) -> bool | str:
    from azlab.oracles.oracle import losses

    function_of(answer, "a function that takes a position and returns a move")
    exact, states = _exam()
    lost = 0.0
    for state, costs in zip(states, losses(exact.action_scores(states), states["to_move"]), strict=True):
        move = answer(exact.game.position(state))
        lost += costs[exact.game.action(move) if isinstance(move, str) else int(move)]
    mean = lost / len(states)
    return bool(mean < ALLOWED) or f"It loses {mean:.2f} of the margin by a move; less than {ALLOWED} is asked for."


@functools.cache
def _exam() -> tuple[Any, np.ndarray]:
    """The oracle, and positions of good games in which not all lines are equally good."""
    from azlab.games import game
    from azlab.oracles import oracle

    boxes, rng = game("dots_and_boxes"), np.random.default_rng(5)
    exact, games = oracle(boxes), 2 * EXAM
    states, lines = boxes.new_states(games), rng.integers(0, 24, games)
    for ply in range(23):
        going_on = states[lines > ply]
        allowed = np.where(rng.random((len(going_on), 1)) < MISTAKES, boxes.legal_mask(going_on), exact.best_actions(going_on))
        boxes.kernels.play(going_on, np.where(allowed, rng.random(allowed.shape), -1).argmax(axis=1))
        states[lines > ply] = going_on
    matters = exact.best_actions(states).sum(axis=1) < boxes.legal_mask(states).sum(axis=1)
    return exact, states[matters][:EXAM]
