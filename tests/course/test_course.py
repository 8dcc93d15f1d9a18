"""Exercises: right answers pass, wrong ones get a hint, and no message gives an answer away."""

import re
from fractions import Fraction

import numpy as np
import pytest

import azlab
from azlab import course
from azlab.errors import AzlabError
from azlab.learning import MonteCarloControl
from azlab.search.evaluators import OracleEvaluator, UniformEvaluator

from . import written

# Counts are from the literature, not from our own; the others were worked out by hand.
RIGHT: dict = {
    "00.1": "a3",
    "00.2": "b1",
    "00.3": "a1 b2 b1 c1 c3 a3",
    "01.1": 2,
    "01.2": 131184,
    "01.3": "aA Aa bA Ac bB Ab aB Ba",
    "01.4": [1, 5, 9, 13, 17, 21],
    "01.5": 8231,
    "02.2": 4,
    "02.3": 3,
    "02.6": 5,
    "03.1": "c",
    "03.5": 0.05,
    "03.6": 190.85,
    "03.7": "uct:3000",
    "04.2": -11 / 30,
    "04.5": 0.25,
    "07.2": 0.7,
    "07.4": 0.36,
    "08.4": 900 / 1150,
    "05.1": 57,
    "05.2": "b2",
    "05.3": -0.5,
    "05.4": 88856024095823479632,
}
WRONG: dict = {
    "00.1": "c3",
    "00.2": "a3",
    "00.3": "a1 b2 c3 c1 a3 b1 c2 b3",
    "01.1": 8,
    "01.2": 255168,
    "01.3": "aA Aa Ab aB Ac",
    "01.4": [4, 8, 12, 16, 20],
    "01.5": 16422,
    "02.2": 9,
    "02.3": 4,
    "02.6": 2,
    "03.1": "a",
    "03.5": 0.02,
    "03.6": 100,
    "03.7": "uct:2",
    "04.2": 0.1667,
    "04.5": 0.75,
    "07.2": 0.21,
    "07.4": 1,
    "08.4": 0.6,
    "05.1": 81,
    "05.2": "a1",
    "05.3": -0.2,
    "05.4": 44428012047911739816,
}


FUNCTIONS = {  # right, wrong
    "02.1": (written.value, lambda position: 0),
    "02.4": (written.alpha_beta, lambda position, low, high: written.value(position)),
    "02.5": (written.limited, written.judges_ends),
    "03.2": (written.ucb1, written.ucb1_that_divides_the_wrong_way),
    "03.3": (written.choose, written.choose_for_the_first),
    "03.4": (written.simulate, written.simulate_for_the_mover),
    "04.1": (written.values_of, written.values_for_the_mover),
    "04.3": (written.greedy, written.greedy_for_the_first),
    "04.4": (written.td_update, written.td_beyond_the_end),
    "04.6": (written.q_update, written.q_always_max),
    "05.6": (written.monte_carlo, written.monte_carlo_that_forgets),
    "07.1": (written.softmax, written.softmax_that_overflows),
    "07.3": (written.reinforce, written.reinforce_without_baseline),
    "08.1": (written.evaluate, written.evaluate_for_the_mover),
    "08.2": (written.puct, written.puct_for_the_first),
    "08.3": (written.simulate_puct, written.simulate_puct_for_the_mover),
    "08.5": (written.targets, written.targets_for_the_first),
    "08.6": (written.loss, written.loss_without_softmax),
}
RIGHT |= {key: lambda right=right: right for key, (right, _) in FUNCTIONS.items()}
WRONG |= {key: lambda wrong=wrong: wrong for key, (_, wrong) in FUNCTIONS.items()}


def table_of_2x2(games, **settings):
    table = MonteCarloControl(azlab.game("go", size=2, komi=0), **settings)
    table.run(games)
    return table


RIGHT["05.5"] = lambda: table_of_2x2(10_000, epsilon=0.5, key="situation", seed=1)
WRONG["05.5"] = lambda: table_of_2x2(500)

# Lesson 06 by hand, or by the library, which its checkers do not use.
RIGHT |= {"06.1": 25, "06.2": 11 / 16, "06.3": 416, "06.4": 887}
WRONG |= {"06.1": 9, "06.2": 0.5, "06.3": 200, "06.4": 866}
RIGHT["06.5"] = lambda: lambda states: azlab.oracle("tictactoe").best_actions(states).argmax(axis=1)
WRONG["06.5"] = lambda: lambda states: azlab.game("tictactoe").legal_mask(states).argmax(axis=1)

# Lesson 10: 15*64 + 64 + 64*32 + 32 + 4*(64 + 32) + 32*15 + 15 + 32 + 1; 1 + 100 walks + 2 new nodes; a binomial sum, for which
# the normal distribution with continuity correction gives 0.890; 1 - 0.2**7.
RIGHT |= {"10.1": 4016, "10.2": 103, "10.3": 0.889, "10.4": 0.9999872}
WRONG |= {"10.1": 3632, "10.2": 101, "10.3": 0.934, "10.4": 0.8}
# Lesson 13: 1.96 * 0.2 * sqrt(6/5); sqrt(2/n) <= 1/2 needs n = 8, times six arms; 2 * 0.8545 - 1; (0.2 - 1.0) / 2.
RIGHT |= {"13.1": 0.4294, "13.2": 48, "13.3": 0.709, "13.4": -0.4}
WRONG |= {"13.1": 0.392, "13.2": 40, "13.3": 1.709, "13.4": -0.8}
# Lesson 12: 0.06 / 0.18; (10 * 4.5 + 30 * 14.5) / 40 - (4.5 + 14.5) / 2.
RIGHT |= {"12.1": 1 / 3, "12.2": 2.5}
WRONG |= {"12.1": 0.06, "12.2": 12}
RIGHT["12.3"] = lambda: lambda player, outcome: {0: 0, 1: player, -1: player % 2 + 1}[outcome]
WRONG["12.3"] = lambda: lambda player, outcome: {0: 0, 1: player, -1: (player + 1) % 2}[outcome]  # the program's
RIGHT["12.4"] = lambda: (
    lambda games, share, seed: np.isin(games, np.flatnonzero(np.random.default_rng(seed).random(int(games.max()) + 1) < share))
)
WRONG["12.4"] = lambda: lambda games, share, seed: np.random.default_rng(seed).random(len(games)) < share


def with_other_plies(right, ply, other):
    counts, wanted = np.bincount(ply, minlength=50), np.bincount(other, minlength=50)
    share = np.bincount(ply, right, minlength=50) / np.maximum(counts, 1)
    return (share * wanted)[counts > 0].sum() / wanted[counts > 0].sum()


RIGHT["12.5"] = lambda: with_other_plies
WRONG["12.5"] = lambda: lambda right, ply, other: right[np.isin(ply, other)].mean()
# Lesson 15: 24! / 12!^2; the coin's standard deviation is 4.18, and 2.37 of them with continuity correction leave 0.9 %, so 35 +
# 9.9 + 0.5 = 45.4; 45 = 4 * 11 + 1, and cell 11 is C2; E2, D2 and D4, C2, B2.
RIGHT |= {"15.1": 2_704_156, "15.2": 46, "15.3": "C2-down", "15.4": "D3-down E3-up D3-up C3-left"}
WRONG |= {"15.1": 5_200_300, "15.2": 42, "15.3": "C2-right", "15.4": "D3-up C3-down D3-down"}


def captured(board, row, col):
    """The neighbours of a cell that are the enemy's and have an own stone behind them."""
    found = set()
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        line = [(row + k * down, col + k * right) for k in (1, 2)]
        if all(0 <= at < 5 for cell in line for at in cell) and [board[cell] for cell in line] == [-1, 1]:
            found.add(line[0])
    return found


RIGHT["15.5"] = lambda: captured
WRONG["15.5"] = lambda: (
    lambda board, row, col: {  # every enemy beside it
        (row + a, col + b) for a, b in ((-1, 0), (1, 0), (0, -1), (0, 1)) if (board[(row + a) % 5, (col + b) % 5]) == -1
    }
)
RIGHT["10.5"] = lambda: OracleEvaluator(azlab.oracle(azlab.game("dots_and_boxes", rows=1, cols=3)))
WRONG["10.5"] = UniformEvaluator


def careful(position):
    """Takes a box if it can; else offers as few boxes as possible. Lesson 09 asks for a player like this."""
    after = [position.play(action) for action in position.legal_actions]

    def won(one, before):
        return sum(one.scores) - sum(before.scores)

    def on_offer(one):
        best = max((one.play(action) for action in one.legal_actions), key=lambda more: won(more, one), default=one)
        return won(best, one) + on_offer(best) if won(best, one) else 0

    best = max(after, key=lambda one: (won(one, position), -on_offer(one)))
    return best.moves[-1]


# Lesson 09 by hand, but for the margin of 1x5, which is the oracle's; the checkers do not use it.
RIGHT |= {"09.2": 26, "09.3": "Blue", "09.4": "Bd", "09.5": 48}
WRONG |= {"09.2": 21, "09.3": "Orange", "09.4": "cB", "09.5": 128, "09.6": 1}
RIGHT["09.1"] = lambda: lambda rows, cols: rows * (cols + 1) + cols * (rows + 1)
WRONG["09.1"] = lambda: lambda rows, cols: 2 * rows * (rows + 1)  # right for squares alone
RIGHT["09.6"] = lambda: int(
    azlab.oracle("dots_and_boxes", rows=1, cols=5).value(azlab.game("dots_and_boxes", rows=1, cols=5).start())
)
RIGHT["09.7"] = lambda: careful
WRONG["09.7"] = lambda: lambda position: position.legal_actions[0]


OTHER_FORMS: dict = {
    "00.1": ["A3", " a3 ", np.int64(0)],
    "00.3": [["a1", "b2", "b1", "c1", "c3", "a3"], "a1, b2, b1, c1, c3, a3"],
    "01.1": [2.0, "2", np.int64(2), np.array([2])],
    "01.2": ["131,184", "131 184", 131184.0],
    "01.4": ["1 5 9 13 17 21", range(1, 22, 4), {1, 5, 9, 13, 17, 21}, np.arange(1, 22, 4)],
    "02.2": ["4", 4.0],
    "03.1": [" C "],
    "03.5": ["1/20", "5 %", 0.0504],
    "03.6": [191, "190.8"],
    "05.3": ["-1/2", Fraction(-1, 2), "−0.5"],
    "05.4": ["88,856,024,095,823,479,632"],
    "06.2": ["11/16", "68.75 %", 0.6875],
    "09.3": ["blue", " BLUE "],
    "10.3": ["88.9%", "0.889"],
}
MISTAKES = [
    ("01.1", 8, "counts all"),
    ("01.2", 255168, "counts all"),
    ("01.5", 16422, "counts all"),
    ("02.1", lambda position: -written.value(position), "wrong player"),
    ("02.1", written.negamax, "wrong player"),
    ("02.1", written.alternating, "turns alternate"),
    ("02.2", 9, "wrong player"),
    ("02.2", 6, "wrong player"),
    ("02.4", lambda position, low, high: written.value(position), "no cut"),
    ("02.4", written.cuts_too_much, "unsound cut"),
    ("02.5", written.judges_ends, "bootstrapped end"),
    ("03.1", "a", "never explores"),
    ("03.2", written.ucb1_that_divides_the_wrong_way, "wrong count"),
    ("03.2", written.ucb1_that_forgets_the_untried, "never explores"),
    ("03.2", lambda means, uses, c: int(np.argmin(uses)) if 0 in uses else int(np.argmax(means)), "never explores"),
    ("03.3", written.choose_for_the_first, "wrong player"),
    ("03.3", written.choose_the_most_visited, "value not visits"),
    ("03.4", written.simulate_for_the_mover, "wrong player"),
    ("03.5", 5, "percent for share"),
    ("03.6", -190.85, "wrong player"),
    ("04.1", written.values_that_ignore_results, "bootstrapped end"),
    ("04.1", written.values_for_the_mover, "wrong player"),
    ("04.2", 0.8333, "wrong player"),
    ("04.3", written.greedy_for_the_first, "wrong player"),
    ("04.4", written.td_beyond_the_end, "bootstrapped end"),
    ("04.4", written.td_that_turns_the_sign, "wrong player"),
    ("04.6", written.q_always_max, "wrong player"),
    ("04.6", written.q_for_who_moved, "wrong player"),
    ("04.6", written.q_alternating, "turns alternate"),
    ("04.6", written.q_beyond_the_end, "bootstrapped end"),
    ("05.6", written.monte_carlo_for_the_mover, "wrong player"),
    ("07.3", written.reinforce_for_the_first, "wrong player"),
    ("07.3", written.reinforce_alternating, "turns alternate"),
    ("08.1", written.evaluate_for_the_mover, "wrong player"),
    ("08.2", written.puct_for_the_first, "wrong player"),
    ("08.3", written.simulate_puct_for_the_mover, "wrong player"),
    ("08.4", 78.3, "percent for share"),
    ("08.5", written.targets_for_the_first, "wrong player"),
    ("08.5", written.targets_alternating, "turns alternate"),
    ("06.3", 200, "wrong count"),
    ("09.5", 128, "counts all"),
    ("10.3", 88.9, "percent for share"),
]


@pytest.mark.parametrize("exercise", course.exercises(), ids=lambda exercise: exercise.id)
@pytest.mark.slow
def test_an_exercise_knows_right_from_wrong_and_keeps_its_answer(exercise):
    right, wrong = (answer() if callable(answer) else answer for answer in (RIGHT[exercise.id], WRONG[exercise.id]))
    found = course.graded(exercise.id, right)
    assert found.is_right and found.points == exercise.points > 0, found
    for answer in (wrong, "nonsense", [1], ..., None):
        found = course.graded(exercise.id, answer)
        assert not found.is_right and found.points == 0 and len(str(found).splitlines()) == 1
        assert str(right) not in re.findall(r"[\w.]+", found.message)
    for hint in exercise.hints:
        assert str(right) not in re.findall(r"[\w.]+", hint)


@pytest.mark.parametrize(("exercise_id", "answer"), [(key, form) for key, forms in OTHER_FORMS.items() for form in forms])
def test_every_reasonable_form_of_an_answer_is_taken(exercise_id, answer):
    assert course.graded(exercise_id, answer).is_right


@pytest.mark.parametrize(("exercise_id", "answer", "name"), MISTAKES)
def test_a_known_mistake_is_called_by_its_name(exercise_id, answer, name):
    found = course.graded(exercise_id, answer)
    assert found.misconception == name and name in course.MISCONCEPTIONS and found.points == 0


def test_check_prints_one_line_and_returns_the_points(capsys):
    found = azlab.course.check("05.1", 57)
    assert (found.points, found.of, found.is_right) == (1, 1, True)
    assert capsys.readouterr().out == "05.1: right (1 point).\n"
    assert not azlab.course.check("05.1").points
    printed = capsys.readouterr().out
    assert "in place of the dots" in printed and course.exercises()[0].hints[0] not in printed


def test_hints_come_one_at_a_time_and_only_on_request(capsys, monkeypatch):
    monkeypatch.setattr(course, "_HINTS_GIVEN", {})
    steps = next(one for one in course.exercises() if one.id == "00.2").hints
    assert len(steps) == 2
    for step in (1, 2, 2):
        azlab.course.hint("00.2")
        assert capsys.readouterr().out == f"00.2, hint {step} of 2: {steps[step - 1]}\n"
    azlab.course.hint("00.2", 1)
    assert "hint 1 of 2" in capsys.readouterr().out
    with pytest.raises(AzlabError, match="2 hints"):
        azlab.course.hint("00.2", 3)


def test_a_stub_is_not_answered_and_an_error_in_an_answer_is_told():
    def stub(rows, cols):
        """What is to be written."""
        ...

    def other_stub(rows, cols):
        raise NotImplementedError()

    for one in (stub, other_stub):
        assert "in place of the dots" in course.graded("09.1", one).message
    assert "ZeroDivisionError" in course.graded("09.1", lambda rows, cols: 1 // 0).message
    assert "TypeError" in course.graded("09.1", lambda rows: 1).message
    assert "wrong for 1x1" in course.graded("09.1", lambda rows, cols: rows).message


def test_what_is_wrong_with_a_network_is_told():
    assert "add up to 1" in course.graded("08.1", written.evaluate_all_actions).message
    assert "log_softmax is missing" in course.graded("08.6", written.loss_without_softmax).message
    assert "value is missing" in course.graded("08.6", lambda g, v, p, z: written.loss(g, z, p, z)).message
    assert "is broken" in course.graded("08.6", lambda *parts: written.loss(*parts).detach()).message


def test_what_is_wrong_with_a_policy_gradient_is_told():
    assert "does not survive" in course.graded("07.1", written.softmax_that_overflows).message
    assert "baseline is not used" in course.graded("07.3", written.reinforce_without_baseline).message
    assert "Only the move" in course.graded("07.3", written.reinforce_the_move_alone).message


def test_what_is_missing_in_a_simulation_is_told():
    assert "no children" in course.graded("03.4", written.simulate_without_new_nodes).message
    assert "0 visits" in course.graded("03.4", lambda root, number: number).message
    assert "right for" in course.graded("03.3", written.choose_for_the_child).message


def test_a_notebook_goes_on_with_the_library_until_an_answer_is_right(capsys):
    from azlab.course import lesson_02

    assert azlab.course.use("02.1", written.value) is written.value
    assert azlab.course.use("02.1", lambda position: 0) is lesson_02.value
    assert capsys.readouterr().out.splitlines() == [
        "02.1: yours is used from here on.",
        "02.1: the library's is used from here on, until yours is right.",
    ]
    with pytest.raises(AzlabError, match="Nothing builds on exercise 02.2"):
        azlab.course.use("02.2", 4)


def test_no_oracle_answers_where_an_algorithm_is_asked_for():
    exact = azlab.oracle("dots_and_boxes")
    found = course.graded("09.7", lambda position: exact.best_moves(position)[0])
    assert found.points == 0 and "without an oracle" in found.message
    assert exact.value(exact.game.start()) == exact.value(exact.game.start())  # afterwards they answer again


def test_an_unknown_exercise_names_those_there_are():
    with pytest.raises(AzlabError, match=r"There is no exercise '99.1'; there are 00.1"):
        course.check("99.1", 3)


def test_an_error_in_a_checker_is_not_taken_for_a_wrong_answer(monkeypatch):
    monkeypatch.setattr(course, "_EXERCISES", dict(course._EXERCISES))

    @course.exercise("98.1", "none")
    def broken(answer):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        course.check("98.1", 1)


def test_two_lessons_cannot_have_the_same_exercise(monkeypatch):
    monkeypatch.setattr(course, "_EXERCISES", dict(course._EXERCISES))
    course.exercises()
    with pytest.raises(AzlabError, match="two exercises 05.1"):
        course.exercise("05.1", "again")(lambda answer: True)
