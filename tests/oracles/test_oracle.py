"""What all oracles have in common, seen on tic-tac-toe; how an oracle is found; what it says to bad input."""

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.games.count import exact_value
from azlab.oracles import oracle
from azlab.oracles.exhaustive import ExhaustiveOracle

TICTACTOE = azlab.game("tictactoe")


@pytest.fixture(scope="module")
def perfect():
    return oracle("tictactoe")


def random_states(game, count: int, seed: int = 0) -> np.ndarray:
    """States of random games at all depths, the finished ones included."""
    rng = np.random.default_rng(seed)
    states = game.new_states(count)
    seen = [states.copy()]
    while not states["over"].all():
        states = states[~states["over"]]
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in game.legal_mask(states)])
        game.kernels.play(states, actions)
        seen.append(states.copy())
    return np.concatenate(seen)


def test_tictactoe_is_a_draw_and_every_opening_keeps_it(perfect):
    start = TICTACTOE.start()
    assert (perfect.value(start), perfect.result(start)) == (0, 0)
    assert perfect.scores(start) == dict.fromkeys(start.legal_moves, 0.0)
    assert perfect.best_moves(start) == start.legal_moves


def test_only_the_centre_answers_a_corner(perfect):
    corner = TICTACTOE.from_moves("a1")
    assert perfect.best_moves(corner) == ["b2"]
    assert {move for move, score in perfect.scores(corner).items() if score == 1} == set(corner.legal_moves) - {"b2"}


def test_values_and_scores_agree_with_trying_everything(perfect):
    states = random_states(TICTACTOE, 60)
    values = perfect.values(states)
    assert values.dtype == np.float64 and (values == exact_value(TICTACTOE, states)).all()
    scores = perfect.action_scores(states)
    assert (np.isnan(scores) == ~TICTACTOE.legal_mask(states)).all()
    going_on = ~states["over"]
    signed = np.where(states["to_move"] == 0, 1, -1)[going_on]
    assert (np.nanmax(scores[going_on] * signed[:, None], axis=1) * signed == values[going_on]).all()


def test_best_actions_are_those_that_keep_the_value(perfect):
    states = random_states(TICTACTOE, 60, seed=1)
    best, scores = perfect.best_actions(states), perfect.action_scores(states)
    assert best.dtype == np.bool_ and (best.any(axis=1) == ~states["over"]).all()
    assert (best == (scores == perfect.values(states)[:, None])).all()


def test_best_moves_of_both_lead_to_the_value(perfect):
    rng = np.random.default_rng(0)
    for opening in ("", "a1", "b1 a1", "b2 b1", "a1 c3 b1"):
        position = TICTACTOE.from_moves(opening)
        result = perfect.result(position)
        while not position.over:
            position = position.play(str(rng.choice(perfect.best_moves(position))))
        assert position.result == result


def test_a_finished_game_has_a_value_but_no_moves_to_judge(perfect):
    final = TICTACTOE.from_moves("a1 a2 b1 b2 c1")
    assert (perfect.value(final), perfect.result(final)) == (1, 1)
    for ask in (perfect.scores, perfect.best_moves):
        with pytest.raises(AzlabError, match="^The game is over; "):
            ask(final)
    assert not perfect.best_actions(final.state).any() and np.isnan(perfect.action_scores(final.state)).all()


def test_an_empty_batch_is_no_trouble(perfect):
    none = TICTACTOE.new_states(0)
    assert perfect.values(none).shape == (0,)
    assert perfect.action_scores(none).shape == perfect.best_actions(none).shape == (0, 9)


def test_exhaustive_search_serves_other_small_games():
    boxes = azlab.game("dots_and_boxes", rows=1, cols=2)
    assert ExhaustiveOracle(boxes).value(boxes.start()) == 0
    connect4 = azlab.game("connect4", rows=4, cols=4)
    position = connect4.from_moves("1 2 3 4 1 2 3 4")
    assert ExhaustiveOracle(connect4).value(position) == exact_value(connect4, position.state)[0]


def test_a_game_too_large_to_try_everything_is_refused():
    with pytest.raises(AzlabError, match="more than 1,000 positions here, too many to try them all.$"):
        ExhaustiveOracle(TICTACTOE, limit=1000).value(TICTACTOE.start())


def test_an_oracle_is_found_by_name_or_game():
    for found in (oracle("go", size=2, komi=0), oracle(azlab.game("go", size=2, komi=0))):
        assert found.game == azlab.game("go", size=2, komi=0)
    assert repr(oracle("tictactoe")) == "<perfect player of azlab.game('tictactoe')>"
    assert oracle("tictactoe", limit=10).limit == 10  # an option of the oracle


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("chess",), {}, "There is no game 'chess'; "),
        (("simple_go",), {}, "There is no oracle for simple_go; perfect play is known for tictactoe; connect4; "),
        ((azlab.game("simple_go"),), {}, "There is no oracle for simple_go; "),
        ((azlab.game("seega", size=7),), {}, "Perfect play of Seega is known on 3x3 and 5x5, not on 7x7."),
        (("go",), {"size": 4}, "Perfect Go is known here on 2x2 and 3x3 points only, not on 4x4."),
        (("go",), {"width": 3}, "go has no option 'width'; "),
        (("dots_and_boxes",), {"rows": 3, "cols": 4}, "3x4 boxes have 31 lines, too many for a table"),
        ((TICTACTOE,), {"size": 3}, "The oracle of tictactoe has no option 'size'; its options are: limit."),
        ((TICTACTOE.start(),), {}, "An oracle is made for a game or its name"),
    ],
)
def test_what_cannot_be_had_is_said_in_a_sentence(arguments, options, sentence):
    with pytest.raises(AzlabError, match=f"^{sentence}") as error:
        oracle(*arguments, **options)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_a_position_of_another_game_is_refused(perfect):
    for ask in (perfect.value, perfect.result, perfect.scores, perfect.best_moves):
        with pytest.raises(
            AzlabError,
            match="^This oracle knows azlab.game('tictactoe'); the position is".replace("(", r"\(").replace(")", r"\)"),
        ):
            ask(azlab.game("connect4").start())
        with pytest.raises(AzlabError, match="^An oracle is asked about a position"):
            ask("a1")
    for ask in (perfect.values, perfect.action_scores, perfect.best_actions):
        for states in (azlab.game("connect4").new_states(1), TICTACTOE.start(), TICTACTOE.new_states(1)[0]):
            with pytest.raises(AzlabError, match="^This oracle reads a one-dimensional array of states"):
                ask(states)


def test_what_a_move_gives_away():
    game = azlab.game("tictactoe")
    perfect = azlab.oracle(game)
    won, drawn = (
        game.from_moves("a1 b1 a2 b2"),
        game.from_moves("b2"),
    )  # X has a3, O threatens b3; after the centre an edge loses
    cost = lambda position, move: perfect.given_away(position.state, np.array([game.action(move)]))[0]  # noqa: E731
    assert [cost(won, move) for move in ("a3", "b3", "c1")] == [0, 1, 2]
    assert [cost(drawn, move) for move in ("a1", "b1")] == [0, 1]
    with pytest.raises(AzlabError, match="not legal"):
        cost(drawn, "b2")


def test_a_small_game_of_anyones_is_solved(perfect):
    class Mine(type(TICTACTOE)):
        name = "mine"

    found = oracle(Mine())
    states = random_states(TICTACTOE, 20)
    assert (found.values(states) == perfect.values(states)).all() and found.game == Mine()
    for position in (Mine().start(), Mine().from_moves("a1")):
        assert found.best_moves(position) == perfect.best_moves(TICTACTOE.from_moves(position.moves))


def test_a_larger_one_is_refused_at_once_and_its_endgames_can_be_judged():
    class Wide(type(azlab.game("connect4"))):
        name = "wide"

    with pytest.raises(AzlabError, match="'wide'.* has more than 2,000 positions here, too many to try them all"):
        oracle(Wide(), limit=2000)
    position = Wide().from_moves("1 2 1 2 1 2")
    assert ExhaustiveOracle(Wide(rows=4, cols=4)).value(Wide(rows=4, cols=4).from_moves("1 2 1 2 1 2 3 4")) in (-1, 0, 1)
    assert position.play("1").winner == 0


def test_a_game_with_the_name_of_another_is_not_judged_by_the_others_oracle():
    class Connect4(type(TICTACTOE)):
        name = "connect4"

    assert type(oracle(Connect4())).__name__ == "SolvedOracle"
