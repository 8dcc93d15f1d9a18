"""Exercises of the first notebook: positions and moves."""

from typing import Any

from azlab.course import exercise
from azlab.games import game

TO_WIN = "b2 a1 c1 b1"  # X to move
TO_SAVE = "a1 b2 c3"  # O to move, with X in two corners


@exercise(
    "00.1",
    "which free cell makes three X in a row? Draw the board with position.play(...) to see",
    "X stands in the centre and in a corner: which row goes through both?",
)
def winning_move(answer: Any) -> bool | str:
    after = game("tictactoe").from_moves(TO_WIN).play(answer)
    if not after.over:
        return "The game goes on after this move: X has no three in a row yet."
    return after.winner == 0


@exercise(
    "00.2",
    "every move of O makes a threat that X has to answer; what does X threaten from where the answer stands?",
    "after a corner X answers in the last corner, and has two rows to complete; look for a threat whose answer gives X less",
)
def saving_move(answer: Any) -> bool | str:
    """Right if O does not lose with perfect play, found by looking at everything that can follow."""
    from azlab.search import minimax

    after = game("tictactoe").from_moves(TO_SAVE).play(answer)
    found = minimax(after, 9)
    if found.value > 0:
        return f"X answers {found.best_move} and wins."
    return True


@exercise(
    "00.3",
    "how many moves must O make at least, and how many has X made by then?",
    "six moves in all: X must not stand in O's way, nor make a row first",
)
def shortest_win_of_o(answer: Any) -> bool | str:
    final = game("tictactoe").from_moves(answer)
    if not final.over:
        return "This game is not over yet."
    if final.winner != 1:
        return "O does not win this game."
    return final.ply == 6 or "O wins, but it can be done in fewer moves."
