"""Perfect Go on 2x2 and 3x3: published values, endless play, and the search with a past against a plain one."""

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.games import stones
from azlab.games.game import Position
from azlab.oracles import oracle
from azlab.oracles.small_go import boards_of

ALL_KO = ("simple", "positional", "situational")
SUPERKO = ALL_KO[1:]


@pytest.fixture(scope="module")
def perfect():
    """An oracle with komi 0 for (size, ko), each made once."""
    made = {}

    def find(size: int, ko: str):
        if (size, ko) not in made:
            made[size, ko] = oracle("go", size=size, komi=0, ko=ko)
        return made[size, ko]

    return find


def random_positions(game, count: int, longest: int, seed: int = 0) -> list:
    """Unfinished positions after up to `longest` random moves, few of them passes."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        position = game.start()
        for _ in range(rng.integers(longest + 1)):
            moves = position.legal_moves[:-1]
            following = position.play(str(rng.choice(moves)) if moves and rng.random() > 0.05 else "pass")
            if following.over:
                break
            position = following
        found.append(position)
    return found


def margin(position) -> float:
    return position.scores[0] - position.scores[1]


def plain_value(position, low: float = -9, high: float = 9) -> float:
    """Alpha-beta over the rules themselves, without any table."""
    if position.over:
        return margin(position)
    for action in reversed(position.legal_actions):
        value = plain_value(position.play(action), low, high)
        if position.to_move == 0:
            low = max(low, value)
        else:
            high = min(high, value)
        if low >= high:
            break
    return low if position.to_move == 0 else high


@pytest.mark.parametrize(("size", "count"), [(2, 57), (3, 12675)])
def test_all_boards_are_known(size, count):
    assert boards_of(size).count == count  # Tromp's counts of legal positions


@pytest.mark.parametrize("ko", ALL_KO)
def test_3x3_has_its_published_values(perfect, ko):
    black = perfect(3, ko)
    start = black.game.start()
    scores = black.scores(start)
    assert black.value(start) == 9 and black.best_moves(start) == ["b2"]
    assert scores == {"b2": 9} | dict.fromkeys(["a2", "b1", "b3", "c2"], 3) | dict.fromkeys(["a1", "a3", "c1", "c3", "pass"], -9)


@pytest.mark.parametrize("ko", SUPERKO)
def test_2x2_with_superko_is_won_by_one_point(perfect, ko):
    black = perfect(2, ko)
    start = black.game.start()
    assert black.value(start) == 1 and black.bounds(start) == (1, 1)
    assert black.scores(start) == {"a1": 1, "a2": 1, "b1": 1, "b2": 1, "pass": -1}


def test_2x2_with_simple_ko_has_no_forced_end(perfect):
    black = perfect(2, "simple")
    start = black.game.start()
    assert black.bounds(start) == (-4, 4)
    assert black.value(start) == 0 and black.result(start) == 0


@pytest.mark.parametrize("ko", ALL_KO)
@pytest.mark.parametrize("komi", [-2.5, 1, 7, 9, 9.5])
@pytest.mark.slow
def test_komi_comes_off_the_value(ko, komi):
    black = oracle("go", size=3, komi=komi, ko=ko)
    start = black.game.start()
    assert black.value(start) == 9 - komi and black.result(start) == np.sign(9 - komi)
    assert black.bounds(start) == (9 - komi, 9 - komi)


def test_endless_play_is_a_draw_whatever_the_komi():
    for komi, value in [(0, 0), (3.5, 0), (4.5, -0.5), (-4.5, 0.5)]:  # Black cannot have more than 4 points
        black = oracle("go", size=2, komi=komi)
        assert black.value(black.game.start()) == value


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("ko", ALL_KO)
def test_values_are_the_best_of_the_scores_and_scores_the_values_after_each_move(perfect, size, ko):
    black = perfect(size, ko)
    for position in random_positions(black.game, 25, 20):
        value, scores = black.value(position), black.scores(position)
        assert value == (max if position.to_move == 0 else min)(scores.values())
        assert scores == {move: black.value(position.play(move)) for move in position.legal_moves}
        assert {scores[move] for move in black.best_moves(position)} == {value}
        low, high = black.bounds(position)
        assert low <= high and value == np.clip(0, low, high)


@pytest.mark.parametrize("ko", SUPERKO)
def test_the_search_with_a_past_agrees_with_a_plain_one(perfect, ko):
    black = perfect(2, ko)
    positions = random_positions(black.game, 150, 24)
    assert len({black.value(position) for position in positions}) > 3
    for position in positions:
        assert black.value(position) == plain_value(position)


def test_the_past_matters_with_superko(perfect):
    black = perfect(2, "positional")
    seen: dict[tuple, set[float]] = {}
    for position in random_positions(black.game, 200, 24, seed=1):
        board = tuple(position.state["board"][0][stones.points(2)])
        seen.setdefault((board, position.to_move), set()).add(black.value(position))
    assert any(len(values) > 1 for values in seen.values())


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("ko", ALL_KO)
@pytest.mark.parametrize("other", ["best", "random"])
@pytest.mark.slow
def test_perfect_players_get_at_least_the_value(perfect, size, ko, other):
    judge = perfect(size, ko)
    rng = np.random.default_rng(2)
    for start in random_positions(judge.game, 12, 12, seed=3):
        value, position = judge.value(start), start
        seat = 1 if value < 0 else 0
        while not position.over:
            plays_best = position.to_move == seat or other == "best"
            position = position.play(str(rng.choice(judge.best_moves(position) if plays_best else position.legal_moves)))
        if value == 0 and position.ply == judge.game.max_length:
            continue  # an endless game, cut off where it stood
        assert (margin(position) - value) * (1 - 2 * seat) >= 0
        assert other == "random" or margin(position) == value


def test_proofs_that_are_forgotten_are_found_again(perfect, monkeypatch):
    black = oracle("go", size=3, komi=0, ko="positional")
    monkeypatch.setattr(black.superko, "MAX_PROOFS", 1000)
    assert black.scores(black.game.start()) == perfect(3, "positional").scores(black.game.start())


def test_the_limit_of_moves_is_left_out_of_account_until_it_ends_the_game(perfect):
    for ko in ALL_KO:
        black = perfect(3, ko)
        start = black.game.new_states(1)
        start["max_moves"] = 2
        one = Position(black.game, start).play("b2")  # a limit that the game itself does not have
        assert black.value(one) == 9 and set(black.scores(one).values()) == {9}
        ended = one.play("a2")
        assert ended.over and black.value(ended) == margin(ended) == 0


def test_finished_and_unfinished_states_mix_in_a_batch(perfect):
    for ko in ALL_KO:
        black = perfect(3, ko)
        positions = [black.game.from_moves(moves) for moves in ("", "b2 pass pass", "pass", "a1 pass pass")]
        states = np.concatenate([position.state for position in positions])
        assert black.values(states).tolist() == [9, 9, -9, 9]
        assert black.best_actions(states).any(axis=1).tolist() == [True, False, True, False]


def test_states_that_cannot_arise_are_refused(perfect):
    for ko in ALL_KO:
        black = perfect(3, ko)
        state = black.game.new_states(1)
        state["board"][0, stones.points(3)] = 0
        with pytest.raises(AzlabError, match="^One of these states cannot arise in Go: "):
            black.values(state)
    wrong_ko = perfect(3, "simple").game.new_states(1)
    wrong_ko["ko"] = stones.points(3)[4]
    with pytest.raises(AzlabError, match="a ko point out of place.$"):
        perfect(3, "simple").values(wrong_ko)


def test_all_positions_are_those_that_play_can_reach(perfect):
    """On 2x2 found again by playing every move; on 3x3 random games must not leave the list."""

    def known(states):
        return {(s["board"].tobytes(), int(s["to_move"]), int(s["ko"]), int(s["passes"])) for s in states}

    game = perfect(2, "simple").game
    found, border = {}, [game.start()]
    while border:
        position = border.pop(0)
        mark = next(iter(known(position.state)))
        if mark not in found and not position.over:
            found[mark] = position
            if position.ply < 20:
                border += [position.play(move) for move in position.legal_moves]
    states = perfect(2, "simple").positions()
    assert known(states) == set(found) and len(states) == len(found) == 170
    listed = known(perfect(3, "simple").positions())
    three, rng = perfect(3, "simple").game, np.random.default_rng(1)
    for _ in range(20):
        position = three.start()
        while not position.over:
            assert known(position.state) <= listed
            position = position.play(int(rng.choice(position.legal_actions)))
    assert len(listed) == len(perfect(3, "simple").positions()) and not perfect(3, "simple").positions()["over"].any()
    with pytest.raises(AzlabError, match="list the positions of ko='simple'"):
        perfect(2, "positional").positions()
