"""Players of two phases, by name and in matches."""

import pytest

import azlab
from azlab.arena.match import match
from azlab.arena.phases import PhaseAgent
from azlab.errors import AzlabError

SEEGA = azlab.game("seega", size=3)


class First:
    """Takes the first or the last legal move, and notes how many positions it was asked about at a time."""

    def __init__(self, which):
        self.which, self.name, self.asked = which, f"move {which}", []

    def choose(self, position):
        self.asked.append(1)
        return position.legal_actions[self.which]


class Many(First):
    def choose_many(self, positions):
        self.asked.append(len(positions))
        return [position.legal_actions[self.which] for position in positions]


@pytest.mark.parametrize("kind", [First, Many])
def test_each_phase_has_its_player(kind):
    player = PhaseAgent(kind(0), kind(-1))
    assert player.name == "phases:move 0 then move -1"
    position = SEEGA.start()
    while not position.over:
        chosen = player.choose(position)
        assert chosen == position.legal_actions[0 if position.state["placing"][0] else -1] == player.choose_many([position])[0]
        assert player.analyse(position).best_action == chosen and player.think(position).action() == chosen
        position = position.play(chosen)


def test_positions_of_both_phases_are_asked_about_at_once():
    player = PhaseAgent(Many(0), Many(-1))
    path = SEEGA.from_moves("A1 A2 A3 B1 B3 C1 C2 C3").path()
    assert player.choose_many(path) == [position.legal_actions[0] for position in path[:8]] + [path[8].legal_actions[-1]]
    assert player.before.asked == [8] and player.beyond.asked == [1]


def test_a_match_by_names():
    played = match("phases:random then uct:5", "phases:uct:5 then random", 4, SEEGA, openings=0, seed=3)
    assert played.complete and played.names == ("phases:random then uct:5", "phases:uct:5 then random")


@pytest.mark.parametrize("name", ["phases", "phases:", "phases:random", "phases:random then ", "phases: then random"])
def test_two_players_have_to_be_named(name):
    with pytest.raises(AzlabError, match="two players, such as 'phases:random then uct:1000'"):
        azlab.agent(name)


def test_a_game_of_one_phase_is_refused_before_the_first_move():
    with pytest.raises(AzlabError, match="tictactoe has one phase"):
        azlab.agent("phases:random then random").prepare(azlab.game("tictactoe"))
    with pytest.raises(AzlabError, match="cannot play all of it|no oracle|not"):
        azlab.agent("phases:gnugo then random").prepare(SEEGA)
