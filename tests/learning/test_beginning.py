"""A training that begins with the weights or the games of another."""

import shutil

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.games import game
from azlab.learning import AlphaZero, RunFolder, TrainedAgent
from azlab.learning.alphazero import trained_learner
from azlab.learning.config import preset
from azlab.learning.parts import Parts
from azlab.learning.shipped import load_player, save_player


@pytest.fixture(scope="module")
def first(tiny, tmp_path_factory):
    """The folder of a run of two iterations."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    AlphaZero.from_config(tiny(iterations=2), folder).train()
    return folder


@pytest.fixture
def player(first, tmp_path):
    """A player's file with its last network."""
    config = RunFolder(first).config()
    save_player(trained_learner(RunFolder(first), config, 2), config, tmp_path / "player.safetensors")
    return tmp_path / "player.safetensors"


def weights(learner):
    return [array.tobytes() for array in learner.weights()]


def weights_of(folder, iteration):
    config = RunFolder(folder).config()
    return weights(trained_learner(RunFolder(folder), config, iteration))


def interrupted_in(phase):
    def interrupt(what, *_, **__):
        if what == phase:
            raise KeyboardInterrupt

    return interrupt


def test_it_begins_with_the_last_network_of_a_run_and_metrics_of_its_own(tiny, first, tmp_path):
    run = AlphaZero.from_config(tiny(iterations=1, seed=5, begin__weights=str(first)), tmp_path / "second")
    rows = run.train()
    assert weights_of(tmp_path / "second", 0) == weights_of(first, 2) != weights_of(first, 1)
    assert [row["iteration"] for row in rows] == [1] and rows[0]["window"] == rows[0]["examples"]  # none of the old games
    assert rows[0]["total_seconds"] == rows[0]["seconds"]


def test_it_plays_with_the_weights_it_began_with(tiny, first, tmp_path):
    """Not with those drawn from its seed: the games of a run without `begin` are others."""
    settings = {"iterations": 1, "seed": 5, "explore__noise": 0.0, "explore__temperature": [[0, 0.0]], "budget__simulations": 2}
    begun = AlphaZero.from_config(tiny(**settings, begin__weights=str(first)), tmp_path / "begun")
    begun.train()
    same = AlphaZero(None, trained_learner(RunFolder(first), tiny(), 2), tiny(**settings), tmp_path / "same")
    same.train()
    fresh = AlphaZero.from_config(tiny(**settings), tmp_path / "fresh")
    fresh.train()
    policies = [RunFolder(tmp_path / name).load_games(1, begun.game).policy for name in ("begun", "same", "fresh")]
    assert np.array_equal(policies[0], policies[1]) and not np.array_equal(policies[0], policies[2])
    assert weights(begun.learner) == weights(same.learner)


def test_of_a_single_file_or_of_a_player(tiny, first, player, tmp_path):
    one = first / "nets" / "00001.safetensors"
    for place, source in (("file", one), ("player", player)):
        AlphaZero.from_config(tiny(iterations=1, begin__weights=str(source)), tmp_path / place).train()
    assert weights_of(tmp_path / "file", 0) == weights_of(first, 1)
    assert weights_of(tmp_path / "player", 0) == weights(load_player(player)[0]) != weights_of(first, 2)  # which is rounded


@pytest.mark.parametrize("phase", ["playing", "training"])
def test_interrupted_in_its_first_iteration_it_goes_on_although_what_it_began_with_is_gone(phase, tiny, first, tmp_path):
    source = shutil.copytree(first, tmp_path / "source")
    config = tiny(iterations=2, seed=5, begin__weights=str(source))
    whole = AlphaZero.from_config(config, tmp_path / "whole")
    whole.train()
    run = AlphaZero.from_config(config, tmp_path / "run", interrupted_in(phase))
    with pytest.raises(KeyboardInterrupt):
        run.train()
    shutil.rmtree(source)
    copy = shutil.copytree(tmp_path / "run", tmp_path / "copy")
    run.progress = lambda *_, **__: None
    run.train()  # by the same object
    again = AlphaZero.from_config(None, copy)  # and by another
    again.train()
    assert weights(again.learner) == weights(run.learner) == weights(whole.learner)


def test_a_larger_network_learns_from_the_games_of_a_run_first(tiny, first, tmp_path):
    config = tiny(iterations=2, net__filters=12, begin__games=str(first))
    rows = AlphaZero.from_config(config, tmp_path / "larger").train()
    rules, old, new = game("tictactoe"), RunFolder(first), RunFolder(tmp_path / "larger")
    known = [old.load_games(iteration, rules) for iteration in (1, 2)]
    learnt = new.load_games(1, rules)
    assert np.array_equal(learnt.states, np.concatenate([part.states for part in known]))
    assert np.array_equal(learnt.policy, np.concatenate([part.policy for part in known]))
    assert rows[0]["moves"] == 0 and rows[0]["examples"] == learnt.size
    assert rows[1]["moves"] > 0 and rows[1]["window"] == learnt.size + rows[1]["examples"]
    assert TrainedAgent(tmp_path / "larger").choose(rules.start()) in range(9)


def test_only_the_latest_games_that_fit_into_the_window(tiny, first, tmp_path):
    config = tiny(iterations=1, training__window=[[1, 7]], begin__games=str(first))
    AlphaZero.from_config(config, tmp_path / "run").train()
    rules = game("tictactoe")
    last = RunFolder(first).load_games(2, rules)
    assert np.array_equal(RunFolder(tmp_path / "run").load_games(1, rules).states, last.states[-7:])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"begin__weights": "nowhere"}, "neither a run nor a file of weights nowhere"),
        ({"begin__games": "nowhere"}, "is no training run"),
        ({"begin__weights": "{first}", "net__filters": 12}, "holds a net of another shape"),
        ({"begin__weights": "{player}", "net__filters": 12}, "holds a network of another shape"),
        ({"begin__weights": "{first}", "game": "connect4"}, r"was trained for tictactoe\(\), not for connect4\(\)"),
        ({"begin__weights": "{player}", "game": "connect4"}, r"was trained for tictactoe\(\), not for connect4\(\)"),
        ({"begin__games": "{first}", "game": "connect4"}, r"was trained for tictactoe\(\), not for connect4\(\)"),
        ({"begin__games": "{retired}"}, "were deleted to save room"),
        ({"begin__weights": "{begun}"}, "has not finished its first iteration"),
    ],
)
def test_what_cannot_be_begun_with_is_said_and_leaves_the_folder_free(settings, says, tiny, first, player, tmp_path):
    begun, retired = tmp_path / "begun", shutil.copytree(first, tmp_path / "retired")
    RunFolder(retired).retire()
    with pytest.raises(KeyboardInterrupt):
        AlphaZero.from_config(tiny(), begun, interrupted_in("playing")).train()
    places = {"first": first, "player": player, "begun": begun, "retired": retired}
    named = {name: value.format(**places) if isinstance(value, str) else value for name, value in settings.items()}
    with pytest.raises(AzlabError, match=says):
        AlphaZero.from_config(tiny(iterations=1, **named), tmp_path / "run").train()
    AlphaZero.from_config(tiny(iterations=1), tmp_path / "run").train()


def test_first_examples_come_from_one_place(tiny, first, tmp_path):
    def examples(*_):
        raise AssertionError

    config = tiny(iterations=1, begin__games=str(first))
    with pytest.raises(AzlabError, match="not from both"):
        AlphaZero.from_config(config, tmp_path / "run", parts=Parts(first_examples=examples)).train()


def test_a_player_does_not_tell_what_its_training_began_with(tiny, first, tmp_path):
    run = AlphaZero.from_config(tiny(iterations=1, begin__weights=str(first)), tmp_path / "run")
    run.train()
    save_player(run.learner, run.config, tmp_path / "player.safetensors")
    assert load_player(tmp_path / "player.safetensors")[1].begin.weights == ""
    assert str(first).encode() not in (tmp_path / "player.safetensors").read_bytes()


@pytest.mark.slow
def test_the_preset_for_a_night_goes_in_stages(tmp_path):
    """At a toy size: a first run, one that goes on with its network and window, and a wider net on the games of that."""
    toy = {
        "iterations": 2, "net.blocks": 1, "net.filters": 8, "net.stem": 8, "selfplay.games": 8, "selfplay.positions": 40,
        "budget.simulations": 4, "evaluation.count": 5, "evaluation.simulations": 4, "evaluation.search_every": 2,
    }  # fmt: skip
    config = preset("connect4_strong").changed(toy)
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    first = AlphaZero.from_config(config, one).train()
    second = AlphaZero.from_config(config.changed({"begin.weights": one, "begin.games": one}), two).train()
    assert weights_of(tmp_path / "two", 0) == weights_of(tmp_path / "one", 2)
    assert second[0]["window"] == first[1]["window"]  # merged, as they were
    wider = {"net.filters": 12, "net.stem": 12, "begin.games": two, "training.passes": [[1, 3.0], [2, 1.0]]}
    third = AlphaZero.from_config(config.changed(wider), three).train()
    assert third[0]["moves"] == 0 < third[1]["moves"] and "mcts_accuracy" in third[1]
