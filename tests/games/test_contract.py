"""Every game keeps the contract of azlab.games.game: `check()` on random games, and what people see of a position."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import azlab
from azlab.games import GAMES, game_class
from azlab.games.check import RuleViolation
from azlab.games.game import Kernels
from azlab.games.kernel import new_rng

VARIANTS = [
    ("tictactoe", {}),
    ("connect4", {}),
    ("connect4", {"rows": 4, "cols": 5}),
    ("connect4", {"rows": 3, "cols": 16}),
    ("dots_and_boxes", {}),
    ("dots_and_boxes", {"rows": 1, "cols": 3}),
    ("dots_and_boxes", {"rows": 2, "cols": 2}),
    ("go", {"size": 2, "komi": 0}),
    ("go", {"size": 5, "komi": 0.5}),
    ("go", {"size": 9, "handicap": 3}),
    ("go", {"size": 3, "ko": "positional"}),
    ("go", {"size": 4, "ko": "situational"}),
    ("simple_go", {}),
    ("seega", {}),
    ("seega", {"chain": "mandatory", "blocked": "pass", "placement": 1, "first_mover": "last_placer"}),
    ("seega", {"chain": "none", "safe_centre": True, "least_stones": 1, "quiet_limit": None, "move_limit": 50}),
    ("seega", {"size": 7}),
    ("seega", {"size": 3}),
    ("seega", {"rules": "maic"}),
    ("seega", {"rules": "khamsawee"}),
    ("seega", {"rules": "neto"}),
    ("seega", {"rules": "richgames"}),
    ("seega", {"rules": "bodogemu"}),
]
IDS = [" ".join([name, *map(str, options.values())]) for name, options in VARIANTS]


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=IDS)
@pytest.mark.slow
def test_every_game_keeps_the_contract(name, options):
    game = azlab.game(name, **options)

    @settings(max_examples=8)
    @given(seed=st.integers(0, 2**32))
    def check(seed):
        game.check(games=1, seed=seed)

    check()


def test_all_games_are_among_the_variants():
    assert {name for name, _ in VARIANTS} == set(GAMES)


@pytest.fixture(params=VARIANTS, ids=IDS)
def game(request):
    name, options = request.param
    return azlab.game(name, **options)


def some_position(game, plies=6, seed=3):
    rng = np.random.default_rng(seed)
    position = game.start()
    while position.ply < plies and not position.over:
        position = position.play(int(rng.choice(position.legal_actions)))
    return position


def test_a_game_survives_pickling_and_equals_another_with_the_same_options(game):
    again = pickle.loads(pickle.dumps(game))
    assert again == game and hash(again) == hash(game) and again.options == game.options
    assert eval(repr(game), {"azlab": azlab}) == game


def test_positions_can_be_keys_and_are_equal_by_state(game):
    position, again = some_position(game), some_position(game)
    assert position == again and {position: 1}[again] == 1
    assert position != game.start()
    assert copy.deepcopy(position) == position
    assert pickle.loads(pickle.dumps(position)).svg == position.svg


def test_text_and_svg_show_the_position(game):
    position = some_position(game)
    assert position.status in position.text and position.status in position.svg
    assert position.text != game.start().text and position.svg != game.start().svg
    assert str(position) == position.text
    bundle = position._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg") and " at 0x" not in bundle["text/plain"]


def test_the_state_handed_out_is_a_copy(game):
    position = game.start()
    state = position.state
    state["over"] = True
    assert not position.over


def test_playing_many_games_at_once_equals_playing_them_one_by_one(game):
    states = game.new_states(32)
    rng = np.random.default_rng(0)
    alone = [game.start() for _ in range(32)]
    for _ in range(12):
        mask = game.legal_mask(states)
        going = np.flatnonzero(mask.any(axis=1))
        actions = np.array([rng.choice(np.flatnonzero(mask[i])) for i in going], np.int64)
        chosen = states[going]
        game.kernels.play(chosen, actions)
        states[going] = chosen
        for i, action in zip(going, actions, strict=True):
            alone[i] = alone[i].play(int(action))
    for i, position in enumerate(alone):
        assert states[i : i + 1].tobytes() == position.state.tobytes()


def test_a_symmetry_turns_no_boards_at_all():
    game = azlab.game("connect4")
    assert game.symmetries[1].on_planes(np.zeros((0, *game.planes_shape), np.float32)).shape == (0, *game.planes_shape)


def test_symmetries_form_a_group(game):
    tables = {tuple(symmetry.actions) for symmetry in game.symmetries}
    for one in game.symmetries:
        for other in game.symmetries:
            assert tuple(one.actions[other.actions]) in tables


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: azlab.game("chess"), "There is no game 'chess'; the games are tictactoe, connect4"),
        (lambda: azlab.game("connect4", size=9), "connect4 has no option 'size'; its options are: rows=6, cols=7"),
        (lambda: azlab.game("connect4", rows=0), "rows must be a whole number from 1 to 20, not 0"),
        (lambda: azlab.game("connect4", rows=12, cols=12), "too large"),
        (lambda: azlab.game("connect4", rows=2.5), "rows must be a whole number"),
        (lambda: azlab.game("dots_and_boxes", rows=99), "rows must be a whole number from 1 to 25, not 99"),
        (lambda: azlab.game("go", size=20), "size must be a whole number from 2 to 19, not 20"),
        (lambda: azlab.game("seega", size=6), "size must be one of 3, 5, 7, 9, not 6"),
        (lambda: azlab.game("connect4").start().play("9"), "'9' is not a move of connect4; a move is a column, 1 to 7"),
        (lambda: azlab.game("connect4").from_moves("4444444"), "4 is not legal here; legal moves are 1, 2, 3, 5, 6, 7"),
        (lambda: azlab.game("connect4").start().play(7), "There is no action 7; actions are numbered 0 to 6"),
        (lambda: azlab.game("connect4").start().play(None), "A move is a name or a whole number, not None"),
        (lambda: azlab.game("go").start().play("i5"), "'i5' is not a move of go"),
        (lambda: azlab.game("tictactoe").from_moves("a1 b1 a2 b2 a3 b3"), "The game is over; no move is legal"),
        (lambda: azlab.game("dots_and_boxes").start().play("aa"), "'aa' is not a move of dots_and_boxes"),
    ],
)
def test_bad_input_gets_a_sentence_that_says_what_is_possible(call, sentence):
    with pytest.raises(azlab.AzlabError) as raised:
        call()
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


# --- check() itself: each fault put into a game on purpose must be found ------------------------------------------------


def broken(**replaced):
    """Tic-tac-toe with some attributes replaced by faulty ones; its class can be pickled because the module knows it."""
    name = f"Broken{sum(key.startswith('Broken') for key in globals())}"
    globals()[name] = type(name, (game_class("tictactoe"),), {"__module__": __name__, **replaced})
    return globals()[name]()


def with_kernel(**kernels):
    return broken(kernels=game_class("tictactoe").kernels._replace(**kernels))


def faults():
    good: Kernels = game_class("tictactoe").kernels

    def allow_after_the_end(states, mask):
        good.legal(states, mask)
        mask[states["over"]] = True

    def forbid_a_corner(states, mask):
        good.legal(states, mask)
        mask[:, 0] &= mask.sum(axis=1) < 9  # not on the first move: the corners are no longer alike

    def no_count(states, actions):
        good.play(states, actions)
        states["ply"] -= 1

    def early_result(states, actions):
        good.play(states, actions)
        states["result"] = 1

    def half_encoding(states, planes):
        planes[:, 0] = 0

    def encode_by_board(states, planes):
        good.encode(states, planes)
        planes[:, 0, 0, 0] = 7

    def encode_and_spoil(states, planes):
        good.encode(states, planes)
        states["board"][:, 4] = 1

    def short_playout(states, rng, trace):
        states["ply"] += 1

    def one_stream(states, rng, trace):
        shared = new_rng(int(rng[0] % np.uint64(1000)), len(states))
        good.playout(states, shared, trace)

    yield "moves after the end", with_kernel(legal=allow_after_the_end)
    yield "rules not symmetric", with_kernel(legal=forbid_a_corner)
    yield "moves not counted", with_kernel(play=no_count)
    yield "result before the end", with_kernel(play=early_result)
    yield "encoding half written", with_kernel(encode=half_encoding)
    yield "encoding not symmetric", with_kernel(encode=encode_by_board)
    yield "encoding changes the state", with_kernel(encode=encode_and_spoil)
    yield "playout stops early", with_kernel(playout=short_playout)
    yield "playout depends on neighbours", with_kernel(playout=one_stream)

    def untraced(states, rng, trace):
        good.playout(states, rng, trace)
        trace[:, :1] = 4  # as if every game had begun in the centre

    def every_other_move(states, mask):
        mask[:] = states["ply"] % 2 == 1

    yield "playout with a wrong trace", with_kernel(playout=untraced)
    yield "a phase that comes back", with_kernel(horizon=every_other_move)
    yield "length limit too small", broken(max_length=4)
    yield "two moves of one name", broken(move_name=lambda self, action: "abc"[action % 3])


@pytest.mark.parametrize("fault", list(faults()), ids=lambda fault: fault[0])
def test_check_finds_a_fault_put_in_on_purpose(fault):
    with pytest.raises(RuleViolation):
        fault[1].check(games=10)
