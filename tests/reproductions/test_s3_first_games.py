"""The first iteration's examples from games of an agent."""

import numpy as np
import pytest

import azlab
from azlab.arena.agents import agent
from azlab.learning.alphazero import AlphaZero, silent
from azlab.learning.selfplay import SelfPlayConfig
from azlab_reproductions.s3_dots_and_boxes import first_games
from azlab_reproductions.s3_dots_and_boxes.first_games import FirstGames
from azlab_reproductions.s3_dots_and_boxes.program import OneHot

PROGRAM = {"parts__program": "s3_dots_and_boxes"}


class Watched:
    """An agent that remembers what it said."""

    def __init__(self, name, seed):
        self.agent, self.name, self.said = agent(name, seed), name, []

    def analyse(self, position):
        self.said.append(self.agent.analyse(position))
        return self.said[-1]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("one_hot_from", [-1, 3])
def test_examples_are_what_the_player_said_and_how_the_game_ended(workers, one_hot_from, monkeypatch):
    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    made, counted = [], []

    def watched(name, seed):
        made.append(Watched(name, seed))
        return made[-1]

    monkeypatch.setattr(first_games, "agent_by_name", watched)
    play = FirstGames("onesided:200", 5, OneHot(one_hot_from))
    found = play(game, SelfPlayConfig(workers=workers), [1], lambda what, done, total: counted.append((what, done, total)))
    said = [analysis for one in made for analysis in one.said]
    assert len(made) == workers and counted == [("playing first games", k, 5) for k in range(1, 6)]
    assert found.games == 5 == sum(found.wins) and found.examples.size == 5 * 12 == found.moves == found.lengths == len(said)
    assert found.simulations == 60 * 200
    for start in range(0, 60, 12):
        end = said[start + 11].position.play(said[start + 11].best_action)
        assert end.over
        for k in range(start, start + 12):
            position, best = said[k].position, said[k].best_action
            policy = np.eye(12)[best] if 0 <= one_hot_from <= position.ply else said[k].shares
            assert found.examples.states[k].tobytes() == position.state.tobytes()
            assert found.examples.policy[k] == pytest.approx(policy, abs=1e-3)
            assert found.examples.values[k] == end.result * (1 - 2 * position.to_move)


def test_the_same_seed_plays_the_same_games():
    game = azlab.game("tictactoe")
    play, config = FirstGames("uct:20", 4, OneHot()), SelfPlayConfig(workers=2)
    one, same, other = (play(game, config, [seed], silent).examples for seed in (1, 1, 2))
    assert np.array_equal(one.policy, same.policy) and one.size >= 20
    assert one.size != other.size or not np.array_equal(one.policy, other.policy)


def test_a_run_begins_with_them_and_goes_on_by_itself(tiny, tmp_path):
    heard = []
    settings = PROGRAM | {"parts__first_player": "uct:10", "parts__first_games": 30, "iterations": 2}
    run = AlphaZero.from_config(tiny(**settings), tmp_path, lambda what, done, total, **_: heard.append((what, done, total)))
    first, second = run.train()
    assert first["games"] == 30 and first["examples"] == run.folder.load_games(1, run.game).size >= 30 * 5
    # 40 are asked for, of 6 games at once: however these go, the last of them add fewer than 6 * 9
    assert second["examples"] < 100 and ("playing first games", 30, 30) in heard
    assert [what for what, *_ in heard].index("playing first games") < [what for what, *_ in heard].index("playing")


def test_ctrl_c_stops_all_threads(tiny, tmp_path):
    def interrupt(what, done, total, **_):
        if what == "playing first games":
            raise KeyboardInterrupt

    settings = PROGRAM | {"parts__first_player": "uct:10", "parts__first_games": 10**6, "selfplay__workers": 2}
    with pytest.raises(KeyboardInterrupt):
        AlphaZero.from_config(tiny(**settings), tmp_path, interrupt).train()
