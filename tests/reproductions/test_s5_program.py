"""What the program of source S5 does beside its text."""

from threading import Event

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.learning.alphazero import AlphaZero
from azlab.learning.config import AlphaZeroConfig, preset
from azlab.learning.parts import Parts, parts_of
from azlab.learning.selfplay import SelfPlayConfig, Worker
from azlab.search import Budget, Explore, Search
from azlab.search.evaluators import PlayoutEvaluator


def with_switches(**switches):
    return parts_of(AlphaZeroConfig(parts={"program": "s5_connect4", **switches}))


def test_the_reply_to_the_last_move_is_every_move_alike():
    """Positions before the last one have the shares of the next search, whatever the switch."""
    game = azlab.game("connect4")
    settings = Search(), Budget(6, cap=(0.7, 2)), Explore(temperature=((0, 1.0),)), SelfPlayConfig(games=3, workers=1)
    found = {}
    for switch in (True, False):
        worker = Worker(game, 3, PlayoutEvaluator(game, playouts=2, seed=4), *settings, with_switches(uniform_last_reply=switch))
        found[switch] = worker.play(120, [1], Event()).examples
    assert all(np.array_equal(found[True][k], found[False][k]) for k in range(3))
    reply, plain = found[True].reply, found[False].reply
    rows = np.flatnonzero((reply != plain).any(axis=1))
    assert len(rows) > 1 and np.array_equal(reply[rows], np.full((len(rows), 7), 1 / 7, np.float16)) and not plain[rows].any()
    lasts = [
        k for k in range(len(reply)) if k + 1 == len(reply) or found[True].states["ply"][k + 1] < found[True].states["ply"][k]
    ]
    assert set(rows) <= set(lasts)  # games follow one another
    assert len(rows) < len(lasts)  # a game whose last search was small teaches nothing of its end


def test_switches_are_off_by_default_and_named_where_wrong():
    assert with_switches() == Parts()
    with pytest.raises(AzlabError, match="uniform_last_reply"):
        with_switches(uniform_last_reply=2)
    with pytest.raises(AzlabError, match=r"section \[parts\]: there is no setting 'last'"):
        with_switches(last=True)


@pytest.mark.parametrize("name", ["connect4_baseline", "connect4_extended"])
def test_presets_draw_moves_up_to_ply_30(name):
    """The program compares turn > 30, its turns beginning with 0."""
    explore = preset(name).explore
    assert explore.temperature_at(30) == 1.0 and explore.temperature_at(31) == 0.0


@pytest.mark.parametrize("name", ["connect4_baseline", "connect4_extended"])
def test_the_presets_train_at_a_tiny_size(name, tmp_path):
    tiny = {
        "iterations": 2, "net.blocks": 1, "net.filters": 8, "net.stem": 8, "net.head": 2, "budget.simulations": 4,
        "selfplay.games": 8, "selfplay.positions": 60, "evaluation.simulations": 2, "evaluation.positions": "",
        "evaluation.patience": 0, "training.batch": 16,
    }  # fmt: skip
    run = AlphaZero.from_config(preset(name).changed(tiny), tmp_path)
    rows = run.train()
    assert len(rows) == 2 and ("reply_loss" in rows[-1]) == (name == "connect4_extended")
    assert run.parts.names() == (
        "targets = azlab_reproductions.s5_connect4.program.with_last_reply\n" if "reply_loss" in rows[-1] else ""
    )
