"""`Game.validate` accepts every state of every game, refuses all others that can be told, and no accepted one harms a kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.games import GAMES
from azlab.games.check import RuleViolation
from azlab.games.game import Game
from azlab.games.tictactoe import TicTacToe
from azlab.games.validity import possible
from azlab.oracles import oracle

ROOT = Path(__file__).resolve().parents[2]
SEEGA = [
    {},
    {"placement": 1, "first_mover": "last_placer"},
    {"chain": "mandatory", "blocked": "pass"},
    {"chain": "none", "safe_centre": True, "least_stones": 1},
    {"least_stones": 1, "quiet_limit": None, "move_limit": 50},
    {"chain": "mandatory", "placement": 1, "quiet_limit": 5, "move_limit": 9},
    {"size": 7, "blocked": "pass", "quiet_limit": 300},
    {"size": 3, "blocked": "pass"},
    {"rules": "bodogemu"},
    {"extra_move": "any", "chain": "mandatory", "size": 3},
]
VARIANTS = [
    ("tictactoe", {}),
    ("connect4", {}),
    ("connect4", {"rows": 7, "cols": 8}),  # all 64 bits
    ("connect4", {"rows": 1, "cols": 20}),
    ("dots_and_boxes", {}),
    ("dots_and_boxes", {"rows": 1, "cols": 2}),
    ("go", {"size": 5, "komi": 0.5}),
    ("go", {"size": 2, "max_moves": 9}),
    ("go", {"size": 7, "handicap": 4}),
    ("go", {"size": 3, "ko": "positional"}),
    ("go", {"size": 4, "ko": "situational", "komi": -2, "max_moves": 40}),
    ("simple_go", {}),
    ("simple_go", {"size": 3}),
    *(("seega", options) for options in SEEGA),
]
IDS = [" ".join([name, *map(str, options.values())]) for name, options in VARIANTS]


def ones_of_games(game, games, seed=0, start=None):
    """All states of so many random games, [N], the start and the ends included."""
    rng = np.random.default_rng(seed)
    going = game.new_states(games) if start is None else np.repeat(start, games)
    found = [going.copy()]
    while len(going := going[~going["over"]]):
        game.kernels.play(going, game.random_actions(going, rng))
        found.append(going.copy())
    return np.concatenate(found)


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=IDS)
def test_all_states_of_random_games_are_possible(name, options, many):
    game = azlab.game(name, **options)
    for seed in range(many(1)):
        states = ones_of_games(game, 40, seed)
        game.validate(states)
        assert possible(game, states).all() and states["over"].any()
    game.validate(states[3])
    game.validate(states[:0])


def test_all_games_are_among_the_variants():
    assert {name for name, _ in VARIANTS} == set(GAMES)


DIAGRAMS = [
    ("go", {"size": 5}, "..... .XO.. XO.O. .XO.. .....", 0),
    ("go", {"size": 5, "ko": "situational"}, "..... .XO.. XO.O. .XO.. .....", 1),
    ("go", {"size": 2, "ko": "positional"}, "X. .O", 1),
    ("simple_go", {"size": 3}, ".X. XX. .XO", 1),
    ("simple_go", {"size": 3}, ".X. X.X .X.", 1),
    ("seega", {}, "XX.OO OOXXO X.OX. OXXOO XOX.O", 1),
    ("seega", {"chain": "mandatory", "blocked": "pass"}, "X.... O.... ..... ..... ...OX", 0),
    ("seega", {"blocked": "pass", "move_limit": 30}, "XOXOX OXOXO XOXO. OXOXO XOXOX", 0),
]


@pytest.mark.parametrize(("name", "options", "diagram", "to_move"), DIAGRAMS)
def test_games_that_begin_with_a_drawn_board_are_possible(name, options, diagram, to_move):
    game = azlab.game(name, **options)
    start = game.from_diagram("\n".join(diagram.split()), to_move)
    game.validate(ones_of_games(game, 30, start=start.state))


@pytest.mark.parametrize(("size", "has_ko"), [(2, False), (3, True)])
def test_all_positions_of_the_oracle_for_small_go_are_possible(size, has_ko):
    """It finds them in a graph of its own, ko points included. They have no past: a pass may stand at ply 0."""
    perfect = oracle("go", size=size, komi=0)
    states = perfect.positions()
    perfect.game.validate(states)
    assert states["ko"].any() == has_ko and states["passes"].any()


def test_in_tic_tac_toe_exactly_the_states_that_games_reach_are_possible():
    """An enumeration of all games finds 5,478 positions, a number that is often published."""
    game = TicTacToe()
    layer = game.new_states(1)
    reached = {layer.tobytes()}
    while len(layer := layer[~layer["over"]]):
        parents, actions = np.nonzero(game.legal_mask(layer))
        layer = layer[parents]
        game.kernels.play(layer, np.ascontiguousarray(actions))
        layer = np.unique(layer)
        reached |= {state.tobytes() for state in layer}
    assert len(reached) == 5478
    boards = np.zeros(3**9, game.dtype)
    boards["board"] = np.arange(3**9)[:, None] // 3 ** np.arange(9) % 3 - 1
    boards["ply"] = (boards["board"] >= 0).sum(axis=1)
    every = []
    for to_move, over, result in np.ndindex(2, 2, 3):
        boards["to_move"], boards["over"], boards["result"] = to_move, over, result - 1
        every.append(boards.copy())
    states = np.concatenate(every)
    assert {state.tobytes() for state in states[possible(game, states)]} == reached


# --- altered on purpose -------------------------------------------------------------------------------------------

ALTERED = [
    ("tictactoe", {}, "a1 b2", {"board": (0, 7)}, "board has a cell"),
    ("tictactoe", {}, "a1 b2", {"board": (0, 1)}, "ply is not the number of marks|too many marks"),
    ("tictactoe", {}, "a1 b2", {"to_move": 1}, "to_move is the seat that has just moved"),
    ("tictactoe", {}, "a1 b2", {"to_move": 2}, "to_move is neither 0 nor 1"),
    ("tictactoe", {}, "a1 b2", {"ply": 10}, "ply is not a number from 0 to 9"),
    ("tictactoe", {}, "a1 b2", {"ply": -1}, "ply is not a number from 0 to 9"),
    ("tictactoe", {}, "a1 b2", {"result": 1}, "result is not 0 though over is false"),
    ("tictactoe", {}, "a1 b1 a2 b2 a3", {"result": 2}, "result is not -1, 0 or 1"),
    ("tictactoe", {}, "a1 b1 a2 b2 a3", {"result": -1}, "result is not what the board says"),
    ("tictactoe", {}, "a1 b1 a2 b2 a3", {"result": 0, "over": False}, "over is not what the board says"),
    ("tictactoe", {}, "a1 b1", {"over": True}, "over is not what the board says"),
    ("connect4", {}, "44", {"rows": 5}, "rows is not 6"),
    ("connect4", {}, "44", {"cols": 127}, "cols is not 7"),
    ("connect4", {}, "44", {"stones": (0, 1 << 6)}, "stones lie outside the board"),
    ("connect4", {}, "44", {"stones": (0, 1 << 63)}, "stones lie outside the board"),
    ("connect4", {}, "44", {"stones": (1, 1 << 21)}, "stones of both seats lie in one cell"),
    ("connect4", {}, "44", {"stones": (1, 1 << 23)}, "stones hang in the air"),
    ("connect4", {}, "44", {"ply": 3}, "ply is not the number of stones"),
    ("connect4", {}, "4444", {"stones": [15 << 21, 0]}, "stones are too many of one seat"),
    ("connect4", {}, "1122334", {"over": False, "result": 0}, "over is not what the board says"),
    ("connect4", {}, "1122334", {"result": -1}, "result is not what the board says"),
    ("dots_and_boxes", {}, "aA Aa", {"lines": (0, 2)}, "lines has a number"),
    ("dots_and_boxes", {}, "aA Aa", {"lines": (3, 1)}, "lines has a line where the board has none"),
    ("dots_and_boxes", {}, "aA Aa", {"ply": 3}, "ply is not the number of lines"),
    ("dots_and_boxes", {}, "aA Aa aB Ab", {"boxes": [0, 2]}, "boxes are not as many as the lines enclose"),
    ("dots_and_boxes", {}, "aA Aa aB Ab", {"boxes": [2, -1]}, "boxes has a negative number"),
    ("dots_and_boxes", {}, "aA Aa aB Ab", {"to_move": 0}, "to_move is the other seat"),
    ("go", {"size": 5}, "a1", {"stride": 7}, "stride is not 6"),
    ("go", {"size": 5}, "a1", {"komi": 6.5}, "komi is not 7.0"),
    ("go", {"size": 5}, "a1", {"komi": np.nan}, "komi is not 7.0"),
    ("go", {"size": 5}, "a1", {"max_moves": 139}, "max_moves is not 140"),
    ("go", {"size": 5}, "a1", {"board": (0, 2)}, "board has stones beyond its edge"),
    ("go", {"size": 5}, "a1", {"board": (8, 3)}, "board has a point"),
    ("go", {"size": 5}, "a1", {"ko": 12}, "ko is no point of the board"),
    ("go", {"size": 5}, "a1", {"ko": -7}, "ko is no point of the board"),
    ("go", {"size": 5}, "a1", {"ko": 8}, "ko is a point where no stone was just taken"),
    ("go", {"size": 5}, "pass", {"passes": 3}, "passes is not 0, 1 or 2"),
    ("go", {"size": 5}, "pass", {"passes": 2}, "over is not what passes and ply say"),
    ("go", {"size": 5}, "pass a1 pass pass", {"over": False, "result": 0}, "over is not what passes and ply say"),
    ("go", {"size": 5}, "pass a1 pass pass", {"result": 1}, "result is not what the board says"),
    ("go", {"size": 3, "ko": "positional"}, "a1 b2", {"hash": 1}, "hash is not that of the board"),
    ("go", {"size": 3, "ko": "positional"}, "a1 b2", {"history": (2, 1)}, "history does not end with the board"),
    ("go", {"size": 3, "ko": "positional"}, "a1 b2", {"history": (3, 1)}, "history goes on after the last move"),
    ("go", {"size": 3, "ko": "positional"}, "a1 b2", {"situational": True}, "situational is not False"),
    ("simple_go", {}, "a1 b2", {"must_pass": True}, "must_pass is not what the board says"),
    ("simple_go", {}, "a1 b2", {"over": True}, "over is not what the board says"),
    ("seega", {}, "A1 A2 B1", {"quiet_limit": 0}, "quiet_limit is not 20"),
    ("seega", {}, "A1 A2 B1", {"least": 1}, "least is not 2"),
    ("seega", {}, "A1 A2 B1", {"board": (24, 2)}, "board has a cell"),
    ("seega", {}, "A1 A2 B1", {"stones": [2, 2]}, "stones are not as many as on the board"),
    ("seega", {}, "A1 A2 B1", {"in_turn": 0}, "in_turn is not the number of stones placed"),
    ("seega", {}, "A1 A2 B1", {"to_move": 0}, "to_move is the other seat"),
    ("seega", {}, "A1 A2 B1", {"chain": 4}, "chain is set while stones are placed"),
    ("seega", {}, "A1 A2 B1", {"placing": False}, "in_turn is not|ply does not fit"),
    ("seega", {}, "A1 A2 B1", {"ply": 4}, "ply is not the number of stones placed"),
]  # fmt: skip


def altered(game, moves, changes):
    """The state after `moves` with other fields; (place, value) changes one number of a field."""
    state = game.from_moves(moves).state
    for name, value in changes.items():
        if isinstance(value, tuple):
            state[name].reshape(-1)[value[0]] = value[1]
        else:
            state[name] = value
    return state


@pytest.mark.parametrize(("name", "options", "moves", "changes", "reason"), ALTERED)
def test_what_is_wrong_is_named(name, options, moves, changes, reason):
    game = azlab.game(name, **options)
    state = altered(game, moves, changes)
    for ask in (game.validate, game.position):
        with pytest.raises(AzlabError, match=f"This is no possible state of .*: .*({reason})"):
            ask(state)


@pytest.mark.parametrize("field", ["over", "placing", "blocked", "safe_centre"])
def test_a_truth_value_is_one_of_two_bytes(field):
    game = azlab.game("seega")
    state = game.new_states(1)
    state[field].view(np.uint8)[:] = 2
    with pytest.raises(AzlabError, match=f"{field} is neither true nor false"):
        game.validate(state)


def test_fours_that_no_single_stone_makes_are_impossible():
    """Yellow has the lowest row of columns 1 to 4 and the fourth row of columns 4 to 7: whichever came first ended the game."""
    game = azlab.game("connect4")
    state = game.new_states(1)
    rows = {0: "YYYYRRR", 1: "RRYRRYR", 2: "RYRRYYR", 3: "...YYYY"}
    for row, marks in rows.items():
        for col, mark in enumerate(marks):
            if mark != ".":
                state["stones"][0, "YR".index(mark)] |= np.uint64(1 << 7 * col + row)
    state["ply"], state["to_move"], state["over"], state["result"] = 25, 1, True, 1
    with pytest.raises(AzlabError, match="stones have fours that no one stone completes"):
        game.validate(state)


def test_a_ko_point_is_where_a_lone_stone_was_taken():
    game = azlab.game("go", size=5)
    taken = game.from_diagram("\n".join([".XO..", "X.XO.", ".XO..", ".....", "....."]), to_move=1).play("b4")
    state = taken.state
    assert state["ko"][0] == 2 * 6 + 3  # c4, where the black stone was
    game.validate(state)
    state["ko"] = 3 * 6 + 3
    with pytest.raises(AzlabError, match="ko is a point where no stone was just taken"):
        game.validate(state)
    state["ko"], state["passes"] = 2 * 6 + 3, 1
    with pytest.raises(AzlabError, match="ko is a point though the last move was a pass"):
        game.validate(state)


def test_superko_does_not_let_a_board_come_back():
    game = azlab.game("go", size=3, ko="positional")
    state = game.from_moves("a1 b2 c3").state
    state["history"][0, 1] = state["history"][0, 3]
    with pytest.raises(AzlabError, match="history has the board already"):
        game.validate(state)


def test_seega_in_the_moving_phase():
    game = azlab.game("seega")
    start = game.from_diagram("XX.OO\nOOXXO\nX.OX.\nOXXOO\nXOX.O", 1)
    for changes, reason in [
        ({"ply": 1}, "ply does not fit moves"),
        ({"moves": 1}, "ply does not fit moves"),
        ({"quiet": 1}, "quiet is not a number from 0 to moves"),
        ({"quiet": 21, "moves": 21, "ply": 21}, "quiet is more than its limit"),
        ({"quiet": 20, "moves": 20, "ply": 20}, "over is not what stones and limits say"),
        ({"chain": 25}, "chain is no cell of the board"),
        ({"chain": -2}, "chain is no cell of the board"),
        ({"chain": 0}, "chain is not a stone of the seat to move"),
        ({"chain": 3}, "chain is set though nothing was captured"),
        ({"chain": 4, "moves": 1, "ply": 1}, "chain is a stone that cannot capture"),
        ({"blocked": True}, "blocked is not what the board says"),
        ({"over": True}, "over is not what stones and limits say"),
    ]:
        state = start.state
        for name, value in changes.items():
            state[name] = value
        with pytest.raises(AzlabError, match=reason):
            game.validate(state)


def test_a_chain_that_goes_on_has_not_been_stopped():
    game = azlab.game("seega")
    state = game.from_diagram("OXO.O\nXOXXO\nXO.XO\nXOXOX\nXO.XO").play("D3-up").state
    game.validate(state)
    state["ply"] = 2  # one ply for its capture, and one for a stop that cannot have been
    with pytest.raises(AzlabError, match="ply does not fit moves"):
        game.validate(state)


def test_after_a_free_extra_move_seega_knows_who_may_go_on():
    free, plain = azlab.game("seega", extra_move="any"), azlab.game("seega")
    state = free.from_diagram(".....\n.XO.X\n.....\nX....\nO...O").play("B5-left").state
    free.validate(state)
    assert state["chain"][0] == 8  # B4, which cannot capture again
    with pytest.raises(AzlabError, match="extra_any is not False"):
        plain.validate(state)
    state["extra_any"] = False
    with pytest.raises(AzlabError, match="chain is a stone that cannot capture"):
        plain.validate(state)


def test_a_seat_that_is_enclosed_is_passed_over_or_blocked():
    enclosed = "XOXOX\nOXOXO\nXOXO.\nOXOXO\nXOXOX"  # only stones of O are beside the empty cell
    skips, passes = azlab.game("seega"), azlab.game("seega", blocked="pass")
    state = skips.from_diagram(enclosed, 1).state
    state["to_move"] = 0
    with pytest.raises(AzlabError, match="to_move is a seat that cannot move"):
        skips.validate(state)
    state = passes.from_diagram(enclosed, 0).state
    passes.validate(state)
    state["blocked"] = False
    with pytest.raises(AzlabError, match="blocked is not what the board says"):
        passes.validate(state)


def test_states_of_other_games_boards_and_shapes_are_refused():
    go = azlab.game("go", size=5)
    for other in (azlab.game("go", size=6), azlab.game("simple_go"), azlab.game("go", size=5, ko="positional")):
        with pytest.raises(AzlabError, match="another game, another board"):
            go.validate(other.new_states(2))
        with pytest.raises(AzlabError, match="another game, another board"):
            go.position(other.new_states(1)[0])
    for nonsense in (np.zeros(3), np.zeros(136, np.uint8), None, "state", b"\0" * go.dtype.itemsize):
        with pytest.raises(AzlabError, match="This is no state of"):
            go.validate(nonsense)
    with pytest.raises(AzlabError, match="one state, not 2"):
        go.position(go.new_states(2))
    with pytest.raises(AzlabError, match="one state, not 0"):
        go.position(go.new_states(0))


def test_the_state_that_is_wrong_is_named_in_a_large_array():
    game = azlab.game("connect4")
    states = game.new_states(10_000)
    game.validate(states)
    game.validate(states[::7])  # no contiguous array
    states["ply"][[9_000, 9_500]] = 1
    with pytest.raises(AzlabError, match="State 9000 of 10000 is no possible state"):
        game.validate(states)


class Plain(TicTacToe):
    faults = Game.faults


class Strict(TicTacToe):
    def faults(self, states):
        yield "board has a mark in the corner", states["board"][:, 0] >= 0


class Lax(TicTacToe):
    def faults(self, states):
        yield "board has a cell that is no seat's", (states["board"] < -1).any(axis=1)


def test_a_game_without_faults_of_its_own_has_the_common_checks():
    game = Plain()
    state = game.from_moves("a1 b2").state
    state["board"][0, 0] = 9
    game.validate(state)
    game.check(games=1)
    state["to_move"] = 3
    with pytest.raises(AzlabError, match="to_move is neither 0 nor 1"):
        game.validate(state)


def test_check_finds_states_that_are_wrongly_refused_and_wrongly_accepted():
    with pytest.raises(RuleViolation, match="A position of a game is refused by `validate`.*mark in the corner"):
        Strict().check(games=3)
    with pytest.raises(RuleViolation, match="`validate` accepts a state"):
        Lax().check(games=3)


def test_positions_in_normal_form_are_asked_for_by_name():
    game = azlab.game("dots_and_boxes")
    states = ones_of_games(game, 20)
    states = states[~states["over"]]
    plain, _ = game.normal_form(states)
    game.validate(plain, normal_form=True)
    with pytest.raises(AzlabError):
        game.validate(plain)
    for name, value, reason in [("to_move", 1, "not in normal form"), ("boxes", 1, "boxes are not"), ("ply", 0, "ply is not")]:
        wrong = plain.copy()
        wrong[name][-1] = value
        with pytest.raises(AzlabError, match=reason):
            game.validate(wrong, normal_form=True)
    turned = states[states["ply"] == 1][:8]
    turned["boxes"], turned["to_move"] = 0, 0
    with pytest.raises(AzlabError, match="not in normal form"):
        game.validate(turned, normal_form=True)
    with pytest.raises(AzlabError, match="depends on more than the board"):
        azlab.game("tictactoe").validate(azlab.game("tictactoe").new_states(1), normal_form=True)


# --- altered at random ----------------------------------------------------------------------------------------------
# In a process of its own: what this looks for can end a process. Every byte of some states is altered, then several at once.

FUZZ = """
import json, sys
import numpy as np
import azlab
from azlab.games.check import altered, check_altered
from azlab.games.packed import as_bytes

variants, games, each, most = json.loads(sys.argv[1])
rng = np.random.default_rng(1)
played = []
for name, options in variants:
    game = azlab.game(name, **options)
    going, seen = game.new_states(games), []
    while len(going := going[~going["over"]]):
        seen.append(going.copy())
        game.kernels.play(going, game.random_actions(going, rng))
    seen = np.concatenate([*seen, game.playout(game.new_states(games), 1)])
    damaged = [altered(seen, rng, each, bytes_each) for bytes_each in (1, 2, 5)]
    if most > 10:  # every byte of three states
        some = as_bytes(seen[rng.integers(len(seen), size=3)])
        every = np.repeat(some, some.shape[1], axis=0)
        places = np.arange(len(every)), np.tile(np.arange(some.shape[1]), len(some))
        for change in (1, 255, 128, int(rng.integers(256))):
            copies = every.copy()
            copies[places] += np.uint8(change)
            damaged.append(copies.view(game.dtype).reshape(-1))
    played.append(sum(check_altered(game, states, rng, most) for states in damaged))
print(json.dumps(played))
"""


def fuzz(variants, games, each, most, **environment):
    """How many altered states of each variant were accepted and played to the end."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", FUZZ, json.dumps([variants, games, each, most])],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:] or f"the process ended with {done.returncode}"
    return dict(zip(IDS, json.loads(done.stdout), strict=False))


@pytest.mark.slow
def test_no_altered_state_harms_a_compiled_kernel(many):
    played = fuzz(VARIANTS, 8, many(400), 30)
    assert played["go 5 0.5"] > 20 and played["simple_go"] > 5 and played["seega"] > 5  # the number of moves may be another


@pytest.mark.slow
def test_no_altered_state_leads_a_kernel_out_of_an_array(many):
    """As plain Python an index out of bounds is an error."""
    small = [variant for variant in VARIANTS if variant[1].get("size", 5) < 7]
    assert sum(fuzz(small, 1, many(60), 2, NUMBA_DISABLE_JIT="1").values()) > 5
