"""Our games as environments of PettingZoo, by PettingZoo's own tests."""

import importlib
import sys

import numpy as np
import pytest

import azlab
from azlab.bench.easy_games import easy_tictactoe
from azlab.errors import AzlabError, IllegalMove

GAMES = [
    ("tictactoe", {}),
    ("connect4", {}),
    ("dots_and_boxes", {"rows": 2, "cols": 2}),
    ("go", {"size": 5}),
    ("simple_go", {"size": 3}),
    ("seega", {}),
]


@pytest.fixture(scope="module")
def zoo(need):
    need.package("pettingzoo")
    return azlab.interop.pettingzoo


def test_all_our_games_are_here():
    assert [name for name, _ in GAMES] == sorted(azlab.games.GAMES, key=[name for name, _ in GAMES].index)


@pytest.mark.filterwarnings("ignore")  # PettingZoo's advice on names and bounds
@pytest.mark.parametrize(("name", "options"), GAMES)
def test_it_passes_the_api_and_seed_tests_of_pettingzoo(zoo, name, options):
    from pettingzoo.test import api_test, seed_test

    api_test(zoo.env(name, **options), num_cycles=100)
    seed_test(lambda: zoo.env(name, **options), num_cycles=20)


@pytest.mark.filterwarnings("ignore")
def test_an_easy_game_passes_them_too(zoo):
    from pettingzoo.test import api_test

    api_test(zoo.env(easy_tictactoe()), num_cycles=100)


def play(env, actions):
    env.reset()
    for action in actions:
        env.step(action)


def test_masks_observations_and_rewards_belong_to_the_agents(zoo):
    env, game = zoo.env("tictactoe"), azlab.game("tictactoe")
    play(env, [0, 3])
    assert env.agent_selection == "player_0"
    own, other = (env.observe(agent) for agent in ("player_0", "player_1"))
    assert np.flatnonzero(own["action_mask"]).tolist() == game.from_moves([0, 3]).legal_actions
    assert other["action_mask"].sum() == 0
    assert own["observation"][0, 0, 0] == 1 == other["observation"][1, 0, 0]  # own stones first, for both
    play(env, [0, 3, 1, 4, 2])  # the first has the upper row
    assert env.rewards == {"player_0": 1, "player_1": -1} and all(env.terminations.values())
    play(env, [0, 3, 1, 4, 8, 5])
    assert env.rewards == {"player_0": -1, "player_1": 1}


def test_an_extra_turn_stays_with_the_agent(zoo):
    env = zoo.env("dots_and_boxes", rows=1, cols=1)
    play(env, [0, 1, 2])
    assert env.agent_selection == "player_1"
    game = azlab.game("dots_and_boxes", rows=1, cols=2)
    position = game.start()
    while position.to_move == (position.ply % 2):
        position = position.play(position.legal_actions[0])
    env = zoo.env(game)
    play(env, position.actions)
    assert env.agent_selection == f"player_{position.to_move}"


def test_illegal_actions(zoo):
    raw = zoo.raw_env("tictactoe")
    play(raw, [0])
    with pytest.raises(IllegalMove):
        raw.step(0)
    guarded = zoo.env("tictactoe")
    play(guarded, [0, 0])
    assert guarded.rewards == {"player_0": 0, "player_1": -1} and all(guarded.terminations.values())


def test_the_board_is_rendered_as_text(zoo, capsys):
    env = zoo.env("tictactoe", render_mode="ansi")
    play(env, [0])
    assert env.render() == azlab.game("tictactoe").from_moves([0]).text
    play(zoo.env("tictactoe", render_mode="human"), [0])
    assert "O to move" in capsys.readouterr().out
    with pytest.raises(AzlabError, match="render_mode"):
        zoo.env("tictactoe", render_mode="rgb_array")


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "azlab.interop.pettingzoo", raising=False)
    with pytest.raises(AzlabError, match="pip install pettingzoo"):
        importlib.import_module("azlab.interop.pettingzoo")
