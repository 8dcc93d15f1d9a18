"""Agents by name, and that the ladder of players really is one."""

import random

import numpy as np
import pytest

import azlab
from azlab.arena import match
from azlab.arena.agents import KINDS, PuctAgent, ready
from azlab.search.evaluators import UniformEvaluator


@pytest.mark.parametrize(
    "text",
    [
        "random",
        "minimax:3",
        "minimax:0.1s",
        "uct:200",
        "uct:0.1s",
        "uct:100,c=0.7,rave=50,solve",
        "puct:50",
        "puct:40,cpuct=2,fpu=0.3",
    ],
)
def test_every_notation_makes_an_agent_that_plays(text):
    agent = azlab.agent(text, seed=1)
    assert agent.name == text
    position = azlab.game("connect4").from_moves("44")
    assert agent.choose(position) in position.legal_actions


@pytest.mark.parametrize("text", ["uct:100", "puct:40", "random"])
def test_the_seed_makes_an_agent_repeatable(text):
    position = azlab.game("dots_and_boxes").start()
    one, same = azlab.agent(text, seed=3), azlab.agent(text, seed=3)
    assert [one.choose(position) for _ in range(5)] == [same.choose(position) for _ in range(5)]


@pytest.mark.parametrize("text", ["minimax:2", "uct:50", "puct:20", "perfect"])
def test_an_analysis_names_the_move_that_is_played(text):
    position = azlab.game("tictactoe").from_moves("a1 b2")
    assert azlab.agent(text, seed=1).analyse(position).best_action in position.legal_actions


@pytest.mark.parametrize("game", ["tictactoe", "dots_and_boxes"])
def test_the_perfect_player_never_errs(game):
    rules = azlab.game(game)
    oracle, perfect = azlab.oracle(rules), azlab.agent("perfect", seed=1)
    rng = np.random.default_rng(0)
    for _ in range(5):
        position = rules.start()
        while not position.over:
            value = oracle.value(position)
            assert oracle.value(position.play(perfect.choose(position))) == value
            position = position.play(int(rng.choice(position.legal_actions)))


@pytest.mark.slow
def test_each_step_of_the_ladder_beats_the_one_below():
    for stronger, weaker in (("minimax:3", "random"), ("uct:300", "random"), ("uct:1000", "uct:20")):
        result = match(stronger, weaker, 40, "connect4", seed=1)
        assert result.interval[0] > 0.5, str(result)


def test_a_batch_of_positions_is_searched_like_single_ones():
    game = azlab.game("connect4")
    positions = [game.from_moves(moves) for moves in ("4", "41", "4141", "445566")]
    together = PuctAgent(UniformEvaluator(), budget=60).choose_many(positions)
    assert together == [PuctAgent(UniformEvaluator(), budget=60).choose(position) for position in positions]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("alphazero", "There is no agent 'alphazero'; agents are random, minimax:DEPTH"),
        ("uct:0", "at least one simulation"),
        ("uct:many", "a whole number should follow the colon"),
        ("minimax:0", "depth must be a whole number from 1"),
        ("uct:10,colour=3", "uct has no setting 'colour'"),
        ("puct:10,colour=3", "puct has no setting 'colour'; it has simulations, cap"),
        ("uct:100,c=abc", "uct:100,c=abc' has a setting whose value is not a number"),
        ("uct:100,seed=3", "does not belong there"),
        ("uct:100,simulations=3", "given twice"),
        ("puct:100,cpuct=abc", "cpuct must be a number"),
        ("puct:100,temperature=1", "temperature is a tuple"),
        ("puct:2s", "such as puct:1000."),
        ("minimax:-1s", "a positive time"),
        ("uct:100,rave=-5", "must not be negative"),
        ("random:3", "random takes no number"),
    ],
)
def test_a_wrong_name_gets_one_sentence(text, sentence):
    with pytest.raises(azlab.AzlabError) as raised:
        azlab.agent(text)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


SETTINGS = [
    "c", "rave", "solve", "simulations", "seconds", "depth", "endgame", "cpuct", "fpu", "temperature", "gumbel", "noise",
    "margin", "level", "timeout", "batch", "bonus", "playouts", "seed", "iteration", "leaves", "reuse_tree", "cpuct_base",
    "gain", "cap", "config", "self", "",
]  # fmt: skip


def test_odd_names_make_an_agent_or_a_sentence(many, odd_word):
    rng, game = random.Random(0), azlab.game("connect4")
    kinds = [kind for kind in KINDS if kind not in ("gtp", "gnugo")]  # these start a program when they get ready
    for _ in range(many(400)):
        name = rng.choice(kinds) if rng.random() < 0.9 else odd_word(rng)
        name += f":{odd_word(rng)}" if rng.random() < 0.9 else ""
        for _ in range(rng.randrange(4)):
            name += f",{rng.choice(SETTINGS)}" + (f"={odd_word(rng)}" if rng.random() < 0.9 else "")
        try:
            ready(azlab.agent(name), game)
            azlab.agent("gnugo" + name[name.find(":") :]) if name.startswith("uct:") else None
        except azlab.AzlabError as error:
            assert str(error)


@pytest.mark.parametrize(
    "text", ["uct:1e999s", "minimax:1e999s", "uct:10,c=1e999", "uct:10,solve=3", "puct:10,cpuct=1e999", "puct:5,solve=3"]
)
def test_settings_without_sense_are_refused_when_the_agent_is_made(text):
    with pytest.raises(azlab.AzlabError):
        azlab.agent(text)


def test_the_perfect_player_says_where_it_cannot_play():
    with pytest.raises(azlab.AzlabError, match="There is no oracle for simple_go"):
        azlab.agent("perfect").choose(azlab.game("simple_go").start())
    with pytest.raises(azlab.AzlabError, match="Perfect play of seega is known at the end of the game only"):
        azlab.agent("perfect").prepare(azlab.game("seega"))
    with pytest.raises(azlab.AzlabError, match="not while they are placed"):
        azlab.agent("perfect").choose(azlab.game("seega").start())
