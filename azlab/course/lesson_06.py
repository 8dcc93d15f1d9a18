"""Exercises on value networks by generations: afterstates, random moves, lines of an opponent."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import function_of, number, whole

ROWS = ("012", "345", "678", "036", "147", "258", "048", "246")


def _ended(board: str) -> str:
    """X or O for who has three in a row, = for a full board, nothing otherwise. Written anew: the check shares no code."""
    for row in ROWS:
        marks = {board[int(cell)] for cell in row}
        if len(marks) == 1 and marks != {"."}:
            return marks.pop()
    return "" if "." in board else "="


def _after(board: str, turn: str) -> list[str]:
    return [board[:cell] + turn + board[cell + 1 :] for cell in range(9) if board[cell] == "."]


@exercise("06.1", "before its first move there are nine empty cells, before its next two fewer, and so on to the last")
def afterstates_of_a_whole_game(answer: Any) -> bool | str:
    answer = whole(answer)
    if answer == 9:
        return "That is the first move alone; add up all moves of Black."
    return answer == sum(range(1, 10, 2))


@exercise("06.2", "m is 4 and k is 0, 1, ... 7, each as likely; with k = 0 no first move is random, with k > m half of them are")
def chance_of_a_random_first_move(answer: Any) -> bool:
    chances = [0.5 if k > 4 else float(k > 0) for k in range(8)]
    return bool(abs(number(answer) - sum(chances) / 8) < 1e-3)


@exercise(
    "06.3",
    "against_every_line(game, choose, seat) takes any function from states to actions; legal_mask gives the free cells",
    grade="explore",
)
def lines_won_by_the_first_free_cell(answer: Any) -> bool | str | Mistake:
    """As White; each line counts the same, so a game counts by the chance that a random opponent comes to play it."""

    def won(board: str, turn: str) -> float:
        if _ended(board):
            return float(_ended(board) == "O")
        if turn == "O":
            return won(_after(board, "O")[0], "X")
        following = _after(board, "X")
        return sum(won(one, "O") for one in following) / len(following)

    answer = whole(answer)
    if answer == 200:
        return mistake("wrong count", "That is the number of different games; count the lines, as the source does.")
    return bool(answer == round(945 * won("." * 9, "X")))


@exercise(
    "06.4",
    "count backwards from the ends: White takes the best move, and Black's moves are averaged; a loss counts as a tie",
    grade="explore",
)
def most_lines_that_white_can_win(answer: Any) -> bool | str:
    @functools.cache
    def share(board: str, turn: str, loss: float) -> float:
        if _ended(board):
            return {"O": 1.0, "=": 0.0, "X": loss}[_ended(board)]
        following = [share(one, "O" if turn == "X" else "X", loss) for one in _after(board, turn)]
        return max(following) if turn == "O" else sum(following) / len(following)

    answer = whole(answer)
    if answer == round(945 * share("." * 9, "X", float("-inf"))):
        return "That is the most for a player who never loses; here losses are allowed."
    return bool(answer == round(945 * share("." * 9, "X", 0.0)))


def _lost_games(choose: Callable[[np.ndarray], np.ndarray], seat: int) -> int:
    """How many different games the player in `seat` loses if the opponent tries everything."""
    from azlab.games import game
    from azlab.games.count import children

    rules = game("tictactoe")
    states, lost = rules.new_states(1), 0
    while len(states):
        if states["to_move"][0] == seat:
            rules.kernels.play(states, choose(states))
        else:
            states = children(rules, states)[0]
        lost += int((states["result"][states["over"]] == 2 * seat - 1).sum())
        states = states[~states["over"]]
    return lost


@exercise(
    "06.5",
    "a look ahead repairs what the network gets wrong near the end; how many plies does your network need?",
    grade="explore",
)
def loses_no_line(answer: Callable[[np.ndarray], np.ndarray]) -> bool | str:
    function_of(answer, "a function that takes states and returns an action for each")
    lost = [_lost_games(answer, seat) for seat in (0, 1)]
    return True if not any(lost) else f"It can be led to lose {lost[0]} games as Black and {lost[1]} as White."
