"""Exercises on rules: symmetries, counting, extra turns, a game of one's own."""

import itertools
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import whole, wholes
from azlab.games import game
from azlab.games.count import children, count_games, distinct
from azlab.games.game import Game


def _up_to_symmetry(rules: Game, states: np.ndarray) -> int:
    """How many of `states`, all after the same number of moves, are different when turned and mirrored boards count as one."""
    planes = rules.encode(states)
    forms = [np.ascontiguousarray(symmetry.on_planes(planes)).reshape(len(states), -1) for symmetry in rules.symmetries]
    return len({min(form[i].tobytes() for form in forms) for i in range(len(states))})


@exercise("01.1", "turn and mirror the board: which of the eight other cells become the same?")
def replies_to_the_centre(answer: Any) -> bool | str | Mistake:
    answer = whole(answer)
    rules = game("tictactoe")
    following, _ = children(rules, rules.from_moves("b2").state)
    if answer == len(following):
        return mistake("counts all", "So many replies there are; but some of them are the same on a turned board.")
    return answer == _up_to_symmetry(rules, following)


@exercise(
    "01.2", "a game is a sequence of moves up to a win or a full board; X wins those that end on an odd move with three in a row"
)
def games_won_by_x(answer: Any) -> bool | str | Mistake:
    answer = whole(answer)
    won_by_x, won_by_o, drawn = count_games(game("tictactoe"))
    if answer == won_by_x + won_by_o + drawn:
        return mistake("counts all", "That is the number of all games; how many of them does X win?")
    return answer == won_by_x


@exercise("01.3", "who draws the fourth side of a box moves again; two boxes that wait for one line each, one after the other")
def three_turns_in_a_row(answer: Any) -> bool | str:
    path = game("dots_and_boxes", rows=2, cols=2).from_moves(answer).path()
    movers = [position.to_move for position in path[:-1]]  # who made each move
    longest = run = 1
    for before, now in itertools.pairwise(movers):
        run = run + 1 if now == before else 1
        longest = max(longest, run)
    return longest >= 3 or f"In this game nobody moves more than {['', 'once', 'twice'][longest]} in a row."


@exercise("01.4", "begin at the end: with one match left you must take it; from which piles can you leave one?")
def losing_piles(answer: Any) -> bool | str:
    """Found backwards, by the rule that a pile is lost if every move leads to a won one."""
    is_lost = {0: False}  # who finds nothing left has won: the other took the last match
    for pile in range(1, 22):
        is_lost[pile] = not any(is_lost[pile - take] for take in (1, 2, 3) if take <= pile)
    right = {pile for pile in range(1, 22) if is_lost[pile]}
    given = set(wholes(answer))
    if given and given < right:
        return "These are lost, but they are not all."
    return given == right


@exercise("01.5", "keep the smaller of each position's encoding and its mirror image's in a set, and count the set")
def mirrored_connect4(answer: Any) -> bool | str | Mistake:
    answer = whole(answer)
    rules = game("connect4")
    states = rules.new_states(1)
    for _ in range(6):
        states = distinct(children(rules, states)[0])[0]
    if answer == len(states):
        return mistake("counts all", "That counts a position and its mirror image as two.")
    if answer * 2 == len(states):
        return "Half of them would be right if no position were its own mirror image."
    return answer == _up_to_symmetry(rules, states)
