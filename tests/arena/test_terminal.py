"""Playing in the terminal: a whole game, mistakes, taking back, and stopping without losing the game."""

import azlab
from azlab.arena.agents import RandomAgent
from azlab.arena.terminal import play


def answers(*lines):
    """Stands for a person who types these lines and then presses Ctrl-D."""
    waiting = list(lines)

    def ask(prompt):
        if not waiting:
            raise EOFError
        line = waiting.pop(0)
        if line is KeyboardInterrupt:
            raise KeyboardInterrupt
        return line

    return ask


class Fixed:
    """Plays the given moves in turn."""

    name = "fixed"

    def __init__(self, *moves):
        self.moves = list(moves)

    def choose(self, position):
        return position.game.action(self.moves.pop(0))


def test_a_whole_game_against_an_agent(capsys):
    start = azlab.game("connect4").start()
    final = play(start, Fixed("1", "1", "1"), 0, answers("4", "4", "4", "4"))
    assert (final.over, final.result) == (True, 1)
    printed = capsys.readouterr().out
    assert "fixed plays 1" in printed and printed.rstrip().endswith("Yellow wins")


def test_the_person_can_sit_second_or_on_both_sides():
    start = azlab.game("tictactoe").start()
    assert play(start, Fixed("b2", "c1"), 1, answers("a1")).moves == ["b2", "a1", "c1"]
    assert play(start, Fixed(), None, answers("a1", "b2", "c3")).moves == ["a1", "b2", "c3"]


def test_a_mistyped_or_illegal_move_costs_nothing(capsys):
    start = azlab.game("connect4").from_moves("111111")
    final = play(start, Fixed("7"), 0, answers("x", "1", "?", "2"))
    assert final.moves[6:] == ["2", "7"]
    printed = capsys.readouterr().out
    assert "'x' is not a move of connect4" in printed and "1 is not legal here" in printed
    assert "Legal moves: 2 3 4 5 6 7" in printed


def test_undo_goes_back_to_the_persons_turn(capsys):
    start = azlab.game("tictactoe").start()
    assert play(start, Fixed("b2", "c1"), 0, answers("undo", "a1", "undo", "a2")).moves == ["a2", "c1"]
    assert "nothing to take back" in capsys.readouterr().out


def test_undo_respects_extra_turns():
    # Orange (the person, seat 1) takes a box and takes that back: it is Orange's turn again
    start = azlab.game("dots_and_boxes").from_moves("aA aB Aa")
    final = play(start, Fixed(), 1, answers("Ab", "undo", "quit"))
    assert final == start


def test_stopping_prints_how_to_go_on(capsys):
    start = azlab.game("connect4").start()
    for stop in (["4", KeyboardInterrupt], ["4", "quit"], ["4"]):
        final = play(start, Fixed("5"), 0, answers(*stop))
        assert final.moves == ["4", "5"]
        assert '--moves "4 5"' in capsys.readouterr().out


def test_the_random_agent_is_repeatable_and_fair():
    position = azlab.game("connect4").start()
    agent, same = RandomAgent(5), RandomAgent(5)
    choices = [agent.choose(position) for _ in range(700)]
    assert choices == [same.choose(position) for _ in range(700)]
    assert all(60 < choices.count(action) < 140 for action in range(7))
