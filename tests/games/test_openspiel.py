"""OpenSpiel's games here: they keep our contract, equal our own rules, and are searched, trained and shown."""

import sys

import numpy as np
import pytest

import azlab
from azlab.arena import match
from azlab.errors import AzlabError
from azlab.games import known_game, openspiel
from azlab.learning import AlphaZero
from azlab.learning.config import AlphaZeroConfig
from azlab.search import minimax, puct, uct
from azlab.search.evaluators import PlayoutEvaluator, UniformEvaluator

GAMES = [
    "tic_tac_toe", "connect_four", "breakthrough(rows=5,columns=5)", "othello", "hex(board_size=4)", "y(board_size=4)", "mancala",
    "oware", "nine_mens_morris", "clobber(rows=4,columns=4)", "dots_and_boxes", "pentago", "go(board_size=5)", "nim",
]  # fmt: skip


@pytest.fixture(autouse=True)
def spiel(need):
    need.package("open_spiel")
    return pytest.importorskip("pyspiel")


@pytest.mark.parametrize("name", GAMES)
def test_it_keeps_the_contract(name, many):
    azlab.game(f"openspiel:{name}").check(games=many(1))


@pytest.mark.parametrize(("name", "ours"), [("tic_tac_toe", "tictactoe"), ("connect_four", "connect4")])
def test_move_by_move_as_our_own_game(name, ours, many):
    theirs, fast, rng = azlab.game(f"openspiel:{name}"), azlab.game(ours), np.random.default_rng(2)
    for _ in range(many(10)):
        a, b = theirs.start(), fast.start()
        while not b.over:
            assert a.legal_actions == b.legal_actions
            action = int(rng.choice(b.legal_actions))
            a, b = a.play(action), b.play(action)
            assert (a.to_move, a.over, a.result) == (b.to_move, b.over, b.result)


def test_extra_turns_come_from_openspiel():
    game = azlab.game("openspiel:dots_and_boxes(num_rows=1,num_cols=1)")
    position = game.start()
    turns = []
    while not position.over:
        turns.append(position.to_move)
        position = position.play(position.legal_actions[0])
    assert turns == [0, 1, 0, 1] and position.winner == 1
    game = azlab.game("openspiel:dots_and_boxes(num_rows=1,num_cols=2)")
    rng, repeated = np.random.default_rng(0), 0
    for _ in range(20):
        position = game.start()
        while not position.over:
            after = position.play(int(rng.choice(position.legal_actions)))
            repeated += not after.over and after.to_move == position.to_move
            position = after
    assert repeated


def test_it_is_found_with_options_and_by_files(spiel):
    game = azlab.game("openspiel:breakthrough(rows=5,columns=5)")
    assert known_game(game.spec) == game and repr(game) == "azlab.game('openspiel:breakthrough(rows=5,columns=5)')"
    assert AlphaZeroConfig(game=game.spec).rules() == game
    other = azlab.game("openspiel:breakthrough", rows=5, columns=5)
    assert other.num_actions == game.num_actions and other.start().text == game.start().text
    position = game.start().play("a5a4")
    assert game.spiel_state(position).history() == list(position.actions)
    assert position.text.startswith(str(game.spiel_state(position)).splitlines()[0])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("backgammon", "it has chance"),
        ("phantom_ttt", "do not see everything"),
        ("goofspiel", "at the same time"),
        ("first_sealed_auction", "chance"),
        ("matrix_pd", "the other does not lose"),
        ("tic_tac_to", "has no game 'tic_tac_to'"),
        ("breakthrough(rows=0)", "1 to 32000 moves"),
        ("breakthrough(lines=3)", "cannot make"),
    ],
)
def test_other_games_are_refused(name, why):
    with pytest.raises(AzlabError, match=why):
        azlab.game(f"openspiel:{name}")


def test_it_is_searched_and_matched():
    game = azlab.game("openspiel:tic_tac_toe")
    position = game.from_moves([0, 3, 1, 4])  # the first completes the upper row at 2
    assert minimax(position, 3).line[0] == uct(position, 200).line[0] == game.move_name(2) == "(0,2)"
    for evaluator in (UniformEvaluator(), PlayoutEvaluator(game)):
        assert puct(position, evaluator).line[0] == "(0,2)"
    assert len(match("uct:20", "random", 4, game).records) == 4


def test_it_is_played_in_the_widget_as_text():
    board = azlab.show.play("openspiel:hex(board_size=3)", against="uct:20")
    assert board.position.svg.count("<text") > 9
    assert board.position.play("b2").moves == ["b2"]


def test_it_is_trained(tmp_path):
    config = AlphaZeroConfig(
        game="openspiel:breakthrough(rows=3,columns=2)", net={"blocks": 1, "filters": 8, "stem": 8, "head": 2}, iterations=2
    ).changed(
        {"budget.simulations": 4, "evaluation.simulations": 4, "selfplay.games": 4, "selfplay.workers": 1,
         "selfplay.positions": 20, "training.batch": 16, "evaluation.games": 2, "evaluation.opponents": []}
    )  # fmt: skip
    assert len(AlphaZero.from_config(config, tmp_path / "run").train()) == 2


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    openspiel._loaded.cache_clear()
    with pytest.raises(AzlabError, match="pip install open_spiel"):
        azlab.game("openspiel:tic_tac_toe")
    openspiel._loaded.cache_clear()
