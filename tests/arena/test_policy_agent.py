"""A network's own choice: the best or a drawn move, eyes and passes as told, in matches, in the terminal and over GTP."""

import sys

import numpy as np
import pytest

import azlab
from azlab.arena.agents import agent, analysis_of
from azlab.arena.policy_agent import PolicyAgent
from azlab.errors import AzlabError
from azlab.formats.gtp import GtpEngine


class Likes:
    """An evaluator that likes points by their numbers: the first the most, or the last; `knows_pass`, and the pass above all."""

    def __init__(self, last: bool = False, knows_pass: bool = False) -> None:
        self.last, self.knows_pass = last, knows_pass

    def evaluate(self, states, legal):
        count = legal.shape[1]
        weights = np.arange(1, count + 1) if self.last else np.arange(count, 0, -1)
        weights = weights.astype(np.float32) ** 4
        weights[-1] = weights.max() * 2 if self.knows_pass else 0
        priors = legal * weights
        priors[priors.sum(axis=1) == 0] = legal[priors.sum(axis=1) == 0]
        return (priors / priors.sum(axis=1, keepdims=True)).astype(np.float32), np.full(len(states), 0.25, np.float32)


GO = azlab.game("go", size=5, komi=0)
# Black owns the board but for two eyes, a5 and c5; White has no stone.
ALIVE = [name for name in (f"{column}{row}" for row in range(1, 6) for column in "abcde") if name not in ("a5", "c5")]


def alive(to_move=0):
    return GO.set_up(ALIVE, [], to_move)


def test_it_plays_what_the_network_likes_best_among_legal_moves():
    player = PolicyAgent(Likes(), GO)
    position = GO.start()
    assert position.game.move_name(player.choose(position)) == "a5"
    assert player.choose(position.play("a5")) == GO.action("b5")  # a5 is taken
    assert player.choose_many([position, position.play("a5")]) == [0, 1]


def test_own_eyes_are_spared_unless_told_otherwise():
    assert GO.own_eyes(alive().state)[0].nonzero()[0].tolist() == [GO.action("a5"), GO.action("c5")]
    assert not GO.own_eyes(alive(to_move=1).state).any()
    careful = PolicyAgent(Likes(), GO)
    assert careful.passes == "eyes_left" and careful.choose(alive()) == GO.action("pass")
    source = PolicyAgent(Likes(), GO, own_eyes=True, passes="after_opponent")
    assert source.choose(alive()) == GO.action("a5")  # and White will take everything


def test_when_it_passes():
    start = GO.start()
    after_pass, pass_action = start.play("pass"), GO.action("pass")
    polite = PolicyAgent(Likes(), GO, passes="after_opponent")
    assert polite.choose(start) != pass_action and polite.choose(after_pass) == pass_action
    assert polite.choose(alive()) == pass_action  # nothing else is left
    assert PolicyAgent(Likes(), GO, passes="eyes_left").choose(after_pass) != pass_action
    assert PolicyAgent(Likes(), GO, passes="net").choose(after_pass) != pass_action  # it has no output for it
    knows = PolicyAgent(Likes(knows_pass=True), GO)
    assert knows.passes == "net" and knows.choose(start) == pass_action


def test_the_first_moves_are_drawn_and_the_others_are_not():
    def games(sampled, seed):
        player = PolicyAgent(Likes(), GO, sampled=sampled, seed=seed)
        return [
            azlab.arena.match(player, PolicyAgent(Likes(last=True), GO), 2, GO, openings=0).records[0].moves for _ in range(4)
        ]

    assert len(set(games(0, 1))) == 1
    drawn = games(6, 1)
    assert len(set(drawn)) > 1 and drawn == games(6, 1) and drawn != games(6, 2)
    chances = PolicyAgent(Likes(), GO).chances([GO.start()])[0]
    player = PolicyAgent(Likes(), GO, sampled=1, seed=3)
    found = np.bincount([player.choose(GO.start()) for _ in range(2000)], minlength=26) / 2000
    assert abs(found - chances).max() < 0.05


def test_it_tells_what_it_thinks():
    found = analysis_of(PolicyAgent(Likes(), GO), GO.start())
    assert found.best_move == "a5" and found.value == 0.25 and found.priors.sum() == pytest.approx(1)
    assert found.priors.argmax() == 0 and found.priors[-1] == 0


def test_other_rules_of_the_same_board_are_no_other_game():
    player = PolicyAgent(Likes(), GO)
    for other in (azlab.game("go", size=5, komi=7.5), azlab.game("go", size=5, ko="positional")):
        player.prepare(other)
        assert player.choose(other.start()) == 0
    with pytest.raises(AzlabError, match="was trained for"):
        player.prepare(azlab.game("go", size=9))
    with pytest.raises(AzlabError, match="was trained for"):
        player.choose(azlab.game("connect4").start())


def test_any_game_will_do_but_eyes_and_passes_are_for_go():
    game = azlab.game("connect4")
    flat = PolicyAgent(azlab.search.evaluators.UniformEvaluator(), game)
    assert flat.choose(game.start()) in range(7)
    for settings in ({"own_eyes": True}, {"passes": "net"}):
        with pytest.raises(AzlabError, match="are for go"):
            PolicyAgent(Likes(), game, **settings)
    with pytest.raises(AzlabError, match="passes must be one of"):
        PolicyAgent(Likes(), GO, passes="never")


# --- by name ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory, need):
    """A small network for 5x5 as a player's file."""
    need.package("keras")
    from azlab.learning.alphazero import new_learner
    from azlab.learning.config import AlphaZeroConfig
    from azlab.learning.shipped import save_player

    config = AlphaZeroConfig(game="go", options={"size": 5, "komi": 0.0}, net={"kind": "go", "layers": 2, "filters": 4})
    path = tmp_path_factory.mktemp("net") / "net.safetensors"
    save_player(new_learner(config.rules(), config.net, config.loss, 1), config, path)
    return path


def test_a_file_is_a_player_by_name(file):
    player = agent(f"net:{file},own_eyes=True,passes=after_opponent,sampled=3", seed=1)
    assert (player.own_eyes, player.passes, player.sampled) == (True, "after_opponent", 3)
    assert player.choose(GO.start()) in GO.start().legal_actions
    plain = agent(f"net:{file}")
    assert plain.passes == "eyes_left" and plain.name == f"net:{file}"  # it knows no pass
    twice = [agent(f"net:{file},sampled=9", seed=4).choose(GO.start()) for _ in range(2)]
    assert twice[0] == twice[1]


def test_bad_names_are_answered_by_sentences(file, tmp_path):
    for text, says in (
        ("net", "net:FILE"),
        ("net:", "net:FILE"),
        (f"net:{file},simulations=4", "no setting of a net"),
        (f"net:{file},sampled", "no setting of a net"),
        (f"net:{file},sampled=1,sampled=2", "no setting of a net"),
        (f"net:{file},sampled=many", "sampled must be a whole number"),
        (f"net:{file},passes=never", "passes must be one of"),
        (f"net:{file},own_eyes=1", "own_eyes must be one of"),
        (f"net:{file},iteration=2", "one network only"),
        (f"net:{tmp_path / 'nothing'}", "nothing"),
    ):
        with pytest.raises(AzlabError, match=says):
            agent(text)


@pytest.mark.slow
def test_it_plays_in_matches_and_over_gtp(file, capsys):
    from azlab.cli import main

    assert main(["match", "go", f"net:{file},sampled=6", "random", "size=5", "komi=0", "--games", "4"]) == 0
    assert "random" in capsys.readouterr().out
    with GtpEngine([sys.executable, "-m", "azlab.cli", "gtp", f"net:{file}", "size=5"]) as engine:
        engine.komi(6.5)
        moves = [engine.genmove(seat) for seat in (0, 1)]
        assert len(set(moves)) == 2 and all(move[0] in "abcde" for move in moves)
        assert "policy" in engine.ask("kata-raw-nn 0")
