"""Exercises on looking ahead: UCB and PUCT by hand, depth, Elo, an agent that does not lose."""

import math
from typing import Any

from azlab.course import exercise
from azlab.games import game

VISITS = {"a": (60, 0.5), "b": (30, 0.4), "c": (10, 0.1)}  # move: (visits, mean value) at a node with 100 visits
DEEP = "26412747"  # a position of Connect 4 in which the first player wins by force


@exercise("02.1", "Q + 1.41 * sqrt(ln 100 / n) for each of the three moves; the largest is taken")
def ucb_by_hand(answer: Any) -> bool | str:
    bounds = {move: mean + 1.41 * math.sqrt(math.log(100) / visits) for move, (visits, mean) in VISITS.items()}
    if answer not in bounds:
        return "The answer is the name of one of the three moves."
    return answer == max(bounds, key=lambda move: bounds[move])


@exercise("02.2", "U = cpuct * P * sqrt(N) / (1 + n); a move never tried has n = 0 and Q = 0")
def smallest_prior(answer: Any) -> bool | str:
    """At N = 100 and cpuct = 1.25 a move with Q = 0.5, n = 49, P = 0.5 is to be overtaken by one that was never tried."""
    score = 0.5 + 1.25 * 0.5 * math.sqrt(100) / 50
    right = score / (1.25 * math.sqrt(100))
    if abs(answer - right) < 0.001:
        return True
    return f"With this prior the move never tried scores {1.25 * answer * 10:.3f}; what must it beat?"


@exercise("02.3", "call minimax with depth 1, 2, 3, ... and look at `value`: 1 is a win that was seen")
def depth_of_the_win(answer: Any) -> bool:
    from azlab.search import minimax

    position = game("connect4").from_moves(DEEP)
    right = next(depth for depth in range(1, 43) if minimax(position, depth).value == 1)
    return answer == right


@exercise("02.4", "the expected score is 1 / (1 + 10^(-d / 400)); solve for d, or try values")
def points_ahead(answer: Any) -> bool | str:
    expected = 1 / (1 + 10 ** (-answer / 400))
    if abs(expected - 0.75) < 0.002:
        return True
    return f"With this lead the expected score is {expected:.2f}."


@exercise("02.5", 'the name of an agent, such as "uct:50"; what does an agent need so that it sees every end of tic-tac-toe?')
def never_loses(answer: Any) -> bool | str:
    from azlab.arena import match

    if not isinstance(answer, str) or answer.startswith("perfect"):
        return "The answer is the name of an agent other than the perfect one."
    played = match(answer, "perfect", games=20, game="tictactoe", openings=0)
    return played.losses == 0 or f"It lost {played.losses} of 20 games."
