"""Exercises on training for Dots and Boxes: parameters, walks, gates, leaking tests, a network without mistakes."""

from math import comb
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import number, whole


@exercise("10.1", "how many cells has the matrix of 2x2 boxes? Every cell is an input, and every cell has an output too")
def parameters_of_a_small_net(answer: Any) -> bool | str:
    """Built as a list of matrices and vectors, and their numbers added up."""
    answer = whole(answer)
    cells = 5 * 3
    matrices = [(cells, 64), (64, 32), (32, cells), (32, 1)]
    weights = sum(int(np.zeros(shape).size) for shape in matrices)
    biases = sum(shape[1] for shape in matrices)
    learned_by_norms, kept_by_norms = 2 * (64 + 32), 2 * (64 + 32)
    if answer == weights + biases:
        return "Batch norms have numbers as well, four for each unit."
    if answer == weights + biases + learned_by_norms:
        return "A batch norm also keeps a running mean and spread for each unit, which are not learned but counted."
    return bool(answer == weights + biases + learned_by_norms + kept_by_norms)


@exercise("10.2", "follow the first walk from the root: which nodes are new, and what does each of them add? And a later walk?")
def visits_with_two_lines_left(answer: Any) -> bool | str:
    """Walks written out: every new node, and every end of a walk, adds a visit to the root."""
    answer = whole(answer)
    visits, known = 1, set()  # the root's own evaluation
    for walk in range(100):
        first = "ab"[walk % 2]  # both moves get visited; the order does not matter
        if first not in known:
            known.add(first)
            visits += 1
        visits += 1  # the finished game behind it
    if answer == 101:
        return "That is the number with one line left; here each of the two moves leads to a new node, once."
    return bool(answer == visits)


@exercise("10.3", "more than half of 50 is 26 or more; the number of wins is binomial")
def an_equal_version_passes_the_gate(answer: Any) -> bool | str | Mistake:
    chance = number(answer, "a probability")
    if chance > 1:
        return mistake("percent for share")
    if abs(chance - _more_than(24)) < 2e-3 and abs(chance - _more_than(25)) > 2e-3:
        return "A tie, 25 to 25, keeps the old version."
    return abs(chance - _more_than(25)) < 2e-3


def _more_than(wins: int, games: int = 50, chance: float = 0.595) -> float:
    return sum(comb(games, k) * chance**k * (1 - chance) ** (games - k) for k in range(wins + 1, games + 1))


@exercise("10.4", "seven other copies, each of them in the test set with a chance of one fifth")
def a_copy_was_trained_on(answer: Any) -> bool | str | Mistake:
    chance = number(answer, "a probability")
    if chance > 1:
        return mistake("percent for share")
    if abs(chance - (1 - 0.2**8)) < 2e-7:
        return "The test board itself is in the test set; seven other copies remain."
    if abs(chance - 0.8) < 1e-6:
        return "That is the chance for a single copy; there are seven."
    return abs(chance - (1 - 0.2**7)) < 2e-6


@exercise(
    "10.5",
    "small networks learn 1x3 boxes in some iterations; random_plies show it positions it would not choose",
    grade="explore",
)
def a_net_without_mistakes(answer: Any) -> bool | str:
    from azlab.games import game
    from azlab.learning.evaluation import graded
    from azlab.search.evaluators import Evaluator

    if not isinstance(answer, Evaluator):
        return "The answer is an evaluator: an object with evaluate(states, legal), such as learner.evaluator()."
    rules = game("dots_and_boxes", rows=1, cols=3)
    test = graded(rules, "reachable")
    moves = answer.evaluate(test.states, rules.legal_mask(test.states))[0].argmax(axis=1)
    wrong = int((~test.best[np.arange(len(moves)), moves]).sum())
    return True if wrong == 0 else f"It errs in {wrong:,} of {len(moves):,} positions."
