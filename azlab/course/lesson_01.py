"""Exercises on rules: counting tic-tac-toe."""

from typing import Any

from azlab.course import exercise
from azlab.games import game
from azlab.games.count import count_games, positions_by_ply


@exercise("01.1", "count a position once, by whichever moves it was reached, and stop at finished games")
def positions_of_tictactoe(answer: Any) -> bool | str:
    right = sum(positions_by_ply(game("tictactoe"), 9))
    if answer > right:
        return "Too many: have you counted a position again for every order of moves, or gone on after a win?"
    return answer == right


@exercise(
    "01.2", "a game is a sequence of moves up to a win or a full board; X wins those that end on an odd move with three in a row"
)
def games_won_by_x(answer: Any) -> bool | str:
    won_by_x, won_by_o, drawn = count_games(game("tictactoe"))
    if answer == won_by_x + won_by_o + drawn:
        return "That is the number of all games; how many of them does X win?"
    return answer == won_by_x
