"""Exercises on policies: softmax, the gradient of its logarithm, REINFORCE, baselines. `use` hands out the functions on top."""

import math
from typing import Any

import numpy as np

from azlab.course import Mistake, exercise, mistake
from azlab.course.answers import function_of, number
from azlab.course.small_game import SmallGame
from azlab.games import game

Table = list[dict[str, float]]  # for each position a number for each of its moves


def softmax(preferences: dict[str, float]) -> dict[str, float]:
    """Probabilities in proportion to e to the power of each preference."""
    largest = max(preferences.values(), default=0.0)
    powers = {move: math.exp(preference - largest) for move, preference in preferences.items()}
    return {move: power / sum(powers.values()) for move, power in powers.items()}


def reinforce(
    theta: Table, steps: list[tuple[int, str]], result: float, baseline: list[float], alpha: float, small: SmallGame
) -> None:
    """After a game: make its moves more likely if they did better than expected, less likely if they did worse."""
    for s, move in steps:
        sign = 1 if small.to_move[s] == 0 else -1
        advantage = sign * (result - baseline[s])
        chances = softmax(theta[s])
        for other, chance in chances.items():
            theta[s][other] += alpha * advantage * ((other == move) - chance)


@exercise(
    "07.1",
    "e to the power of each preference, divided by the sum of all of them",
    "take the largest preference off all of them first: the probabilities stay the same, and math.exp does not overflow",
    grade="write",
    instead=softmax,
)
def probabilities(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function that takes a dictionary of preferences and returns one of probabilities")
    cases = [
        {"a": 0.0, "b": 0.0},
        {"a": 1.0, "b": -2.0, "c": 0.5},
        {"a": 3.0},
        {"a": -1000.0, "b": -1001.0},
        {"a": 1000.0, "b": 990.0},
    ]
    for case in cases:
        try:
            given = answer(dict(case))
        except Exception as error:  # math.exp and numpy say it in different ways
            if "OverflowError" in str(error) or "ZeroDivision" in str(error):
                return f"It does not survive preferences such as {max(case.values(), key=abs):g}; what if all were smaller?"
            raise
        if not isinstance(given, dict) or set(given) != set(case):
            return "It has to return a dictionary with the same moves."
        right, found = softmax(case), {move: float(chance) for move, chance in given.items()}
        if any(not abs(found[move] - right[move]) < 1e-9 for move in case):
            return f"For {case} it says { ({move: round(chance, 3) for move, chance in found.items()}) }."
    return True


@exercise(
    "07.2",
    "the derivative of log π(a) with respect to the preference of b is (1 if a is b, else 0) less π(b)",
    "here a and b are the same move",
)
def gradient_by_hand(answer: Any) -> bool | str | Mistake:
    """By a small step, with the probabilities 0.5, 0.3 and 0.2."""
    preferences = {move: math.log(chance) for move, chance in (("a", 0.5), ("b", 0.3), ("c", 0.2))}
    step, given = 1e-6, number(answer)
    after = softmax(preferences | {"b": preferences["b"] + step})
    right = (math.log(after["b"]) - math.log(0.3)) / step
    if abs(given - 0.21) < 1e-3:
        return "That is how the probability itself changes; asked for is its logarithm."
    if abs(given + 0.3) < 1e-3:
        return "So it is for the preference of another move; here it is the move's own."
    return abs(given - right) < 1e-3


def _games() -> list[tuple[SmallGame, list[tuple[int, str]], int]]:
    """Finished games, of both results and with extra turns: the small game, the steps (position, move) and the result."""
    found = []
    for name, start, moves, options in (
        ("tictactoe", "b2 a1", "b3 b1 c1 a3 c2 a2 c3", {}),
        ("tictactoe", "b2 b1 a1 c3", "a3 c1", {}),
        ("dots_and_boxes", "aA", "Aa Ab aB bA Ac bB", {"rows": 1, "cols": 2}),
    ):
        small = SmallGame(game(name, **options).from_moves(start))
        s, steps = 0, []
        for move in moves.split():
            if small.result[s] is not None:
                break
            steps.append((s, move))
            s = small.children[s][move]
        found.append((small, steps, small.result[s] or 0))
    return found


def _table(small: SmallGame, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    return [{move: float(rng.normal()) for move in moves} for moves in small.children]


@exercise(
    "07.3",
    "for each step: by how much was the result better than the baseline, for the player who moved? That is the advantage",
    "theta[s][other] changes by alpha * advantage * ((other == move) - chance of other), for every move of the position",
    "the result is the first player's: turn the sign of result - baseline[s] where small.to_move[s] is 1",
    grade="write",
    instead=reinforce,
    may_ask_oracles=False,
)
def one_game_of_reinforce(answer: Any) -> bool | str | Mistake:
    function_of(answer, "a function of theta, steps, result, baseline, alpha and small, which changes theta")
    fits = {"right": True, "sign": True, "minus": True, "alternating": True, "no baseline": True, "only the move": True}
    for seed, (small, steps, _) in enumerate(_games()):
        baseline = np.random.default_rng(seed).uniform(-0.5, 0.5, len(small)).tolist()
        for result in (1, -1):
            made = _table(small, seed)
            answer(made, steps, result, list(baseline), 0.3, small)
            for name in fits:
                fits[name] &= _same(made, _changed(name, _table(small, seed), steps, result, baseline, small))
    if fits["right"]:
        return True
    if fits["sign"] or fits["minus"]:
        return mistake(
            "wrong player", "Moves of the second player are good if the first player's result is bad: turn the sign for them."
        )
    if fits["alternating"]:
        return mistake("turns alternate")
    if fits["no baseline"]:
        return "The baseline is not used: the advantage is the result less what was expected."
    if fits["only the move"]:
        return "Only the move that was played changes; the others have to become less likely when it becomes more likely."
    return "The preferences after a game are not right."


def _changed(how: str, theta: Table, steps: list, result: float, baseline: list[float], small: SmallGame) -> Table:
    """What one game does to the preferences, right or with one mistake."""
    for number_of_step, (s, move) in enumerate(steps):
        sign = {"sign": 1, "minus": -1, "alternating": (-1) ** number_of_step * (1 - 2 * small.to_move[0])}.get(
            how, 1 - 2 * small.to_move[s]
        )
        advantage = sign * (result - (0.0 if how == "no baseline" else baseline[s]))
        for other, chance in softmax(theta[s]).items():
            if how != "only the move" or other == move:
                theta[s][other] += 0.3 * advantage * ((other == move) - chance)
    return theta


def _same(one: Table, other: Table) -> bool:
    return all(abs(a[move] - b[move]) < 1e-9 for a, b in zip(one, other) for move in b)


@exercise(
    "07.4",
    "G - b is 0.2 with probability 0.9; what is it otherwise?",
    "0.9 times 0.2 squared, plus 0.1 times the square of the other",
)
def what_a_baseline_does(answer: Any) -> bool | str | Mistake:
    right = sum(chance * (outcome - 0.8) ** 2 for chance, outcome in ((0.9, 1), (0.1, -1)))
    given = number(answer)
    if abs(given - 1) < 1e-6:
        return "That is the mean square without a baseline."
    return abs(given - right) < 2e-3
