"""Games of four plain functions: equal to the built-in ones, useful everywhere, and clear about a beginner's mistakes."""

import pickle

import numpy as np
import pytest

import azlab
from azlab.arena import match
from azlab.bench.easy_games import easy_connect4, easy_tictactoe
from azlab.errors import AzlabError
from azlab.games import easy_kernels, known_game, registry
from azlab.games.check import RuleViolation
from azlab.games.count import count_games, exact_value
from azlab.games.easy import EasyGame
from azlab.learning import AlphaZero
from azlab.learning.config import AlphaZeroConfig
from azlab.oracles.exhaustive import ExhaustiveOracle
from azlab.search import minimax, puct, uct
from azlab.search.evaluators import PlayoutEvaluator, UniformEvaluator


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Nothing stays registered after a test."""
    monkeypatch.setattr(registry, "_others", {})


# --- the same games as the built-in ones ----------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("make", "name"), [(easy_tictactoe, "tictactoe"), (easy_connect4, "connect4")])
def test_move_by_move_as_the_built_in_game(make, name, compiled, many):
    easy, fast = make(compiled=compiled), azlab.game(name)
    assert easy.is_compiled == compiled
    rng = np.random.default_rng(1)
    for _ in range(many(20 if compiled else 5)):
        ours, theirs = easy.start(), fast.start()
        while not theirs.over:
            assert ours.legal_moves == theirs.legal_moves
            move = str(rng.choice(theirs.legal_moves))
            ours, theirs = ours.play(move), theirs.play(move)
            assert (ours.to_move, ours.over, ours.result) == (theirs.to_move, theirs.over, theirs.result)
        assert ours.legal_moves == []


def test_tictactoe_has_the_known_number_of_games():
    assert count_games(easy_tictactoe()) == (131184, 77904, 46080)  # Henry Bottomley, 2001


def test_it_keeps_the_contract_compiled_and_plain():
    for compiled in (True, False):
        easy_tictactoe(compiled).check(games=5)
        easy_connect4(compiled).check(games=1)


def test_both_ways_play_the_same_playouts():
    for make in (easy_tictactoe, easy_connect4):
        games = [make(compiled=compiled) for compiled in (True, False)]
        assert len({game.playout(game.new_states(3), seed=4).tobytes() for game in games}) == 1


# --- extra turns ----------------------------------------------------------------------------------------------------------


def pile(stones=6):
    return np.array([stones], np.int8)


def take(board, player):
    return [number for number in range(3) if number < board[0]]


def taken(board, player, action):
    board[0] -= action + 1
    if action == 2:  # who takes three moves again
        return player
    return -player


def last_stone(board, player):
    return player if board[0] == 0 else None


def nim(**settings):
    return azlab.easy_game(
        "nim", pile, take, taken, last_stone, actions=["one", "two", "three"], max_length=20, values=range(1, 21), **settings
    )


def who_wins(stones, player=1):
    """Nim with extra turns by hand: for `player`, +1 or -1 for the first."""
    if stones == 0:
        return None
    following = [(number, player if number == 3 else -player) for number in (1, 2, 3) if number <= stones]
    values = [player if number == stones else who_wins(stones - number, other) for number, other in following]
    return max(values) if player == 1 else min(values)


@pytest.mark.parametrize("compiled", [True, False])
def test_extra_turns_and_options(compiled):
    game = nim(compiled=compiled)
    game.check(games=5)
    assert game.is_compiled == compiled
    assert game.start().play("three").to_move == 0 and game.start().play("two").to_move == 1
    for stones in range(2, 11):
        assert exact_value(game(stones=stones), game(stones=stones).new_states())[0] == who_wins(stones)
        assert np.sign(minimax(azlab.game("nim", stones=stones).start(), 20).value) == who_wins(stones)
    with pytest.raises(AzlabError, match="stones=6"):
        azlab.game("nim", rows=3)


def test_a_game_that_goes_on_too_long_is_drawn():
    game = azlab.easy_game("short", pile, take, taken, last_stone, actions=3, max_length=2, values=range(1, 7))
    position = game.from_moves("0 0")
    assert position.over and position.result == 0


# --- what Numba cannot compile --------------------------------------------------------------------------------------------

WINS = {frozenset(line) for line in ([0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6])}


def nine():
    return np.zeros(9, np.int8)


def free(board, player):
    return {int(cell) for cell in np.flatnonzero(board == 0)}


def put(board, player, action):
    board[action] = player


def won(board, player):
    own = {cell for cell in range(9) if board[cell] == player}
    if any(line <= own for line in WINS):
        return player
    return 0 if board.all() else None


@pytest.fixture
def plain(capsys):
    return azlab.easy_game("plain", nine, free, put, won)


def test_it_says_why_it_runs_as_plain_python(plain, capsys):
    assert not plain.is_compiled
    azlab.game("plain").start().play("a1")
    said = capsys.readouterr().err
    assert said.count("plain runs as plain Python, hundreds of times slower: ") == 1
    assert "free cannot be compiled (" in said and ", line " in said and len(said.splitlines()) <= 2


def test_plain_python_is_searched(plain):
    position = plain.from_moves("a1 d1 b1 e1")  # X completes a row at c1
    assert plain.move_name(int(np.argmax(uct(position, 200).visits))) == "c1"
    assert uct(position, 50, rave=10, solve=True).line[0] == "c1"
    assert minimax(position, 3).line[0] == "c1"
    for evaluator in (UniformEvaluator(), PlayoutEvaluator(plain)):
        assert puct(position, evaluator).line[0] == "c1"
    assert ExhaustiveOracle(plain).value(plain.from_moves("a1 b1 c1 d1 f1")) == azlab.oracle("tictactoe").value(
        azlab.game("tictactoe").from_moves("a3 b3 c3 a2 c2")
    )


def test_plain_python_is_checked_shown_and_matched(plain):
    plain.check(games=3)
    board = azlab.show.play(plain, against="uct:20")
    assert board.position == plain.start()
    assert len(match("uct:30", "random", 4, plain).records) == 4
    assert "<svg" in plain.from_moves("a1").svg


@pytest.mark.parametrize("make", [lambda: azlab.easy_game("plain", nine, free, put, won), easy_tictactoe])
def test_it_is_trained(make, tmp_path):
    game = make()
    config = AlphaZeroConfig(game=game.spec, net={"blocks": 1, "filters": 8, "stem": 8, "head": 2}, iterations=2).changed(
        {"budget.simulations": 4, "evaluation.simulations": 4, "selfplay.games": 4, "selfplay.workers": 1,
         "selfplay.positions": 20, "training.batch": 16, "evaluation.games": 2, "evaluation.opponents": []}
    )  # fmt: skip
    assert len(AlphaZero.from_config(config, tmp_path / "run").train()) == 2


# --- what people see, and names -------------------------------------------------------------------------------------------


def test_cells_columns_numbers_and_passes_have_names():
    assert easy_tictactoe().from_moves("a1 c3").text.splitlines()[:4] == ["3  . . O", "2  . . .", "1  X . .", "   a b c"]
    game = easy_connect4()
    assert game.from_moves("4 4 3").text.splitlines()[4:7] == ["2  . . . O . . .", "1  . . X X . . .", "   1 2 3 4 5 6 7"]
    assert game.clicks(3)[0].kind == "column"
    assert game(rows=4, cols=5).num_actions == 5 and game(rows=4, cols=5).max_length == 20
    assert [nim().move_name(action) for action in range(3)] == ["one", "two", "three"]
    passing = azlab.easy_game("passing", nine, free, put, won, actions="cells and pass", max_length=9)
    assert passing.num_actions == 10 and passing.move_name(9) == "pass" and passing.spot(9) is None


def test_the_network_sees_own_pieces_other_pieces_and_the_turn():
    game = easy_tictactoe()
    planes = game.encode(game.from_moves("a3 b3 c3").state)[0]
    own, other, turn = planes
    assert own[0].tolist() == [0, 1, 0] and other[0].tolist() == [1, 0, 1] and turn.min() == 1 and own[1:].sum() == 0
    planes = nim().encode(nim().start().play("two").state)[0]  # not of the players by sign: as it is, four stones
    assert planes.shape == (21, 1, 1) and np.flatnonzero(planes[:, 0, 0]).tolist() == [3, 20]


def own_planes(board, player):
    return np.stack((board == player, board == 0)).astype(np.float32)


def test_what_the_network_sees_can_be_written_by_hand():
    parts = easy_tictactoe().rules
    game = azlab.easy_game("seen", parts.start, parts.legal, parts.play, parts.result, encode=own_planes)
    game.check(games=2)
    assert game.is_compiled and game.planes_shape == (2, 3, 3)
    assert game.encode(game.from_moves("a3 b3").state)[0, 0].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_symmetries_are_checked():
    assert len(easy_tictactoe().symmetries) == 8 and len(easy_connect4().symmetries) == 2
    rules = easy_connect4().rules
    wrong = azlab.easy_game("wrong", rules.start, rules.legal, skewed, rules.result, actions="columns", symmetric=True)
    with pytest.raises(RuleViolation, match="symmetry 'mirror left-right'"):
        wrong.check()
    with pytest.raises(AzlabError, match="leave it out"):
        _ = nim(symmetric=True).symmetries


def skewed(board, player, action):
    for row in range(board.shape[0]):
        if row == board.shape[0] - 1 or board[row + 1, action] != 0:
            board[row, action] = player
            if action == 0 and row > 2:
                board[row - 1, action] = player
            return


FILE = """
import numpy as np
import azlab
from pathlib import Path

SIZE = 4

def start(size=SIZE): return np.zeros(size, np.int8)
def legal(board, player): return board == 0
def play(board, player, action): board[action] = player
def full(board): return (board != 0).all()
def result(board, player): return int(np.sign(board.astype(np.int64).sum())) if full(board) else None

Fill = azlab.easy_game("fill", start, legal, play, result)
"""


def test_it_is_found_in_a_file_and_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_modules", {})
    (tmp_path / "fill_game.py").write_text(FILE)
    game = azlab.game(f"{tmp_path / 'fill_game.py'}:Fill", size=3)
    assert isinstance(game, EasyGame) and game.num_actions == 3 and game.spec == "fill_game.py:Fill"
    assert known_game("fill_game.py:Fill", size=3) == game == azlab.game("fill", size=3) != azlab.game("fill")
    assert repr(game) == "azlab.game('fill_game.py:Fill', size=3)"
    assert game.is_compiled and game.from_moves("a1 b1 c1").winner == 0
    again = pickle.loads(pickle.dumps(game))
    assert again == game and hash(again) == hash(game) and again.spec == game.spec
    with pytest.raises(AzlabError, match="its games are: Fill"):
        azlab.game(f"{tmp_path / 'fill_game.py'}:Nothing")


# --- a beginner's mistakes ------------------------------------------------------------------------------------------------


def board_of(value):
    return lambda: value


def game_with(**functions):
    rules = easy_tictactoe().rules
    parts = {name: functions.pop(name, getattr(rules, name)) for name in ("start", "legal", "play", "result")}
    return azlab.easy_game("mistaken", **parts, compiled=False, **functions)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"start": board_of(np.zeros((3, 3)))}, "whole numbers, not float64 of shape (3, 3): write np.zeros((3, 3), np.int8)"),
        ({"start": board_of(np.zeros(3, object))}, "whole numbers, not objects"),
        ({"start": board_of([[1, 2], [3]])}, "whole numbers, not objects"),
        ({"start": board_of(3)}, "must be an array"),
        ({"start": board_of(None)}, "start returned nothing"),
        ({"start": lambda size: 3}, "start needs a default for size"),
        ({"actions": 9}, "needs max_length"),
        ({"actions": "rows"}, '"cells", "cells and pass", "columns"'),
        ({"actions": 0}, "actions must be a whole number"),
        ({"max_length": 0}, "max_length must be"),
        ({"values": ()}, "at least one number"),
        ({"values": (0.5,)}, "Each of values"),
        ({"encode": lambda board, player: board}, "planes, rows, columns"),
    ],
)
def test_what_cannot_be_a_game_is_refused(settings, said):
    with pytest.raises(AzlabError) as error:
        game_with(**settings)
    assert said in str(error.value)


def replaces_the_board(board, player, action):
    board = board.copy()
    board[action // 3, action % 3] = player


def returns_the_board(board, player, action):
    board[action // 3, action % 3] = player
    return board


def plays_twos(board, player, action):
    board[action // 3, action % 3] = 1 if player == 1 else 2


def spoils(board, player):
    board[0, 0] = 1
    return [0]


counter = [0]


def depends_on_a_counter(board, player):
    counter[0] += 1
    free = np.flatnonzero(board == 0)
    return free if counter[0] < 190 else free[:1]  # 20 games have at most 180 moves


def random_start():
    counter[0] += 1
    return np.full((3, 3), counter[0] % 2, np.int8)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"play": replaces_the_board}, "play never changed the board"),
        ({"play": returns_the_board}, "play returns the player who moves next, +1 or -1, or nothing"),
        ({"play": lambda board, player, action: 0}, "play returns the player who moves next"),
        ({"play": lambda board, player, action: board[9]}, "failed with IndexError"),
        ({"play": plays_twos}, "holds 2, which a network would not see"),
        ({"legal": lambda board, player: []}, "legal returned no action, but result says that the game goes on"),
        ({"legal": lambda board, player: None}, "legal returned nothing"),
        ({"legal": lambda board, player: [9]}, "below 0 or above the last one"),
        ({"legal": lambda board, player: [-1]}, "below 0 or above the last one"),
        ({"legal": lambda board, player: [0.5]}, "the numbers of the legal actions"),
        ({"legal": lambda board, player: board[0] == 0}, "not one for each action"),
        ({"legal": lambda board, player: 1 / 0}, "failed with ZeroDivisionError"),
        ({"legal": spoils}, "spoils changed the board; only play may"),
        ({"result": lambda board, player: None}, "legal returned no action"),
        ({"result": lambda board, player: None, "legal": lambda board, player: [0, 8]}, "result never ended one of 20"),
        ({"result": lambda board, player: 5}, "result returns None while the game goes on"),
        ({"result": lambda board, player: (board != 0).all()}, "result returns None while the game goes on"),
        ({"legal": depends_on_a_counter}, "Called again, the functions do something else"),
        ({"start": random_start}, "another board the second time"),
    ],
)
def test_check_names_the_mistake(settings, said):
    counter[0] = 0
    with pytest.raises(RuleViolation) as error:
        game_with(**settings, **({"max_length": 20} if "result" in settings else {})).check()
    assert said in str(error.value)


def test_check_says_when_a_function_cannot_be_found_again():
    def inside(board, player):
        return board == 0

    with pytest.raises(RuleViolation, match="top level of a file or notebook"):
        game_with(legal=inside).check()


def outside(board, player, action):
    board[action // 3, action] = player


def too_many(board, player):
    return np.arange(12)


def nothing_left(board, player):
    return np.flatnonzero(board == 5)


def sevens(board, player):
    return 7


def test_compiled_games_stop_with_a_sentence_too():
    rules = easy_tictactoe().rules
    game = azlab.easy_game("mistaken", rules.start, rules.legal, outside, rules.result)
    assert game.is_compiled
    with pytest.raises(IndexError):
        game.start().play(8)
    for legal, said in ((too_many, "above the last"), (nothing_left, "no action")):
        game = azlab.easy_game("mistaken", rules.start, legal, rules.play, rules.result)
        assert game.is_compiled
        with pytest.raises(AzlabError, match=said):
            game.legal_mask(game.new_states())
        with pytest.raises(AzlabError, match=said):
            game.playout(game.new_states())
    game = azlab.easy_game("mistaken", rules.start, rules.legal, rules.play, sevens)
    assert game.is_compiled
    with pytest.raises(AzlabError, match="result returns None"):
        game.start().play(0)


def test_answers_are_read_alike_compiled_and_plain():
    for answer in (None, 1, -1, 0, np.int8(1), 1.0):
        assert easy_kernels.outcome(answer) in (easy_kernels.GOES_ON, answer)
    assert [easy_kernels.next_player(answer, 1) for answer in (None, 1, -1)] == [-1, 1, -1]
