"""The test of the contract: does a game do what `game.py` says? A teacher runs it on a new game as `game.check()`."""

import copy
import pickle

import numpy as np

from azlab.errors import AzlabError, IllegalMove
from azlab.games.game import NO_TRACE, Game, Position, Symmetry
from azlab.games.kernel import new_rng
from azlab.games.packed import as_bytes
from azlab.games.validity import possible


class RuleViolation(AssertionError):
    """A game broke the contract of `azlab.games.game`; the message says which part and after which moves."""


def check_game(game: Game, games: int, seed: int) -> None:
    """Play `games` random games with moves drawn from `seed` and verify every promise of the contract on the way."""
    _check_names(game)
    _check_symmetry_tables(game)
    rng, final = np.random.default_rng(seed), game.start()
    for _ in range(games):
        final = _check_one_game(game, rng)
        for symmetry in game.symmetries:
            _check_symmetry(final, symmetry)
    some = np.concatenate([position.state for position in final.path()])
    check_altered(game, altered(some, rng, 256), rng)
    _check_playouts(game, seed)


def _require(holds: object, what: str, position: Position | None = None) -> None:
    if not holds:
        where = "" if position is None else f" After: {' '.join(position.moves) or 'the start'}."
        raise RuleViolation(f"{what}{where}")


def _check_names(game: Game) -> None:
    names = [game.move_name(action) for action in range(game.num_actions)]
    _require(len(set(names)) == len(names), f"Two actions of {game.name} have the same name.")
    for action, name in enumerate(names):
        _require(game.action(name) == action, f"The name {name!r} does not lead back to action {action}.")


def _check_symmetry_tables(game: Game) -> None:
    height_times_width = game.planes_shape[1] * game.planes_shape[2]
    for symmetry in game.symmetries:
        for table, length in ((symmetry.actions, game.num_actions), (symmetry.cells, height_times_width)):
            _require(np.array_equal(np.sort(table), np.arange(length)), f"The symmetry {symmetry.name!r} is no one-to-one map.")
    _require(np.array_equal(game.symmetries[0].actions, np.arange(game.num_actions)), "The first symmetry is not the identity.")


def _check_one_game(game: Game, rng: np.random.Generator) -> Position:
    """Play a random game and check every position of it; return the last one."""
    position = game.start()
    _require(position.ply == 0 and not position.over, "The start is over or has a move count.")
    while not position.over:
        _check_position(position)
        legal = position.legal_actions
        illegal = np.setdiff1d(np.arange(game.num_actions), legal)
        for action in rng.choice(illegal, min(3, len(illegal)), replace=False):
            _check_refused(position, int(action))
        before = position.state.tobytes()
        following = position.play(int(rng.choice(legal)))
        _require(position.state.tobytes() == before, "Playing a move changed the position it was played in.", position)
        _require(following.ply == position.ply + 1, "The move count did not rise by one.", following)
        if game.kernels.horizon is not None:
            stays = not game.at_horizon(position.state)[0] or game.at_horizon(following.state)[0]
            _require(stays, "A phase that was over goes on.", following)
        _require(following.ply <= game.max_length, f"The game is longer than max_length = {game.max_length}.", following)
        position = following
    _check_position(position)
    _require(game.from_moves(position.moves) == position, "The same moves by name lead elsewhere.", position)
    return position


def _check_position(position: Position) -> None:
    """What holds in every position."""
    game, state = position.game, position.state
    fields = {name: int(state[name][0]) for name in ("to_move", "result")}
    _require(fields["to_move"] in (0, 1), "The seat to move is neither 0 nor 1.", position)
    _require(fields["result"] in (-1, 0, 1), "The result is not -1, 0 or +1.", position)
    _require(position.over or fields["result"] == 0, "There is a result before the end.", position)
    _check_possible(game, state, "A position of a game")
    _require(bool(position.legal_actions) != position.over, "Legal moves must exist until the game is over.", position)
    dirty = np.full((1, *game.planes_shape), np.nan, np.float32)
    game.kernels.encode(state, dirty)
    _require(np.array_equal(dirty, game.encode(state)), "The encoding leaves cells unwritten.", position)
    if game.kernels.lead is not None and position.scores is not None:
        leads = np.full(1, np.nan)
        game.kernels.lead(state, leads)
        first, second = position.scores
        _require(
            -1 <= leads[0] <= 1 and np.sign(leads[0]) == np.sign(first - second), "The lead is not that of the scores.", position
        )
    full = np.ones((1, game.num_actions), np.bool_)
    game.kernels.legal(state, full)
    _require(np.flatnonzero(full[0]).tolist() == position.legal_actions, "The legal mask is not fully written.", position)
    _require(state.tobytes() == position.state.tobytes(), "Asking for moves or planes changed the state.", position)
    for copied in (copy.copy(position), copy.deepcopy(position), _pickled(position)):
        _require(copied == position and hash(copied) == hash(position), "A copy differs.", position)
        _require(copied.moves == position.moves, "A copy lost its moves.", position)


def _pickled(position: Position) -> Position:
    try:
        return pickle.loads(pickle.dumps(position))
    except (pickle.PicklingError, AttributeError) as error:
        raise RuleViolation(
            f"A position cannot be sent to another process ({error}): define the game and its functions at the top level of "
            "a file or notebook, and make the game anew after changing one."
        ) from None


def _check_refused(position: Position, action: int) -> None:
    try:
        position.play(action)
    except IllegalMove:
        return
    _require(False, f"The illegal action {action} was accepted.", position)


def _check_symmetry(final: Position, symmetry: Symmetry) -> None:
    """Replay a game with every move relabelled: legal moves, planes and results must be relabelled too, and nothing else."""
    plain, turned = final.game.start(), final.game.start()
    for action in (*final.actions, None):
        where = f"under the symmetry {symmetry.name!r}."
        game = plain.game
        mask = symmetry.on_actions(game.legal_mask(plain.state)[0])
        _require(np.array_equal(mask, game.legal_mask(turned.state)[0]), f"Legal moves change {where}", plain)
        planes = symmetry.on_planes(game.encode(plain.state))
        _require(np.array_equal(planes, game.encode(turned.state)), f"The encoding does not follow {where}", plain)
        same = (plain.to_move, plain.over, plain.result, plain.scores) == (
            turned.to_move, turned.over, turned.result, turned.scores
        )  # fmt: skip
        _require(same, f"Turn, end, result or scores change {where}", plain)
        if action is not None:
            plain, turned = plain.play(action), turned.play(int(symmetry.actions[action]))


def _check_playouts(game: Game, seed: int) -> None:
    """Random playouts end, within the limit, depend on the seed alone, and leave finished games as they are."""
    count = 8
    final, trace = game.new_states(count), np.full((count, game.max_length), -1, np.int32)
    game.kernels.playout(final, new_rng(seed, count), trace)
    _require(final["over"].all(), "A playout stopped before the end.")
    _require((final["ply"] <= game.max_length).all(), "A playout is longer than max_length.")
    _require(np.isin(final["result"], (-1, 0, 1)).all(), "A playout has a result other than -1, 0 and +1.")
    _require(game.playout(game.new_states(count), seed).tobytes() == final.tobytes(), "The same seed gave other playouts.")
    for i in range(count):
        position = game.start()
        for action in trace[i][trace[i] >= 0]:
            _require(action in position.legal_actions, f"A playout played the illegal action {action}.", position)
            position = position.play(int(action))
        _require(position.state.tobytes() == final[i : i + 1].tobytes(), "A playout's moves lead elsewhere.", position)
    alone, rng = game.new_states(1), new_rng(seed, count)[-1:].copy()
    game.kernels.playout(alone, rng, NO_TRACE)
    _require(alone.tobytes() == final[-1:].tobytes(), "A playout depends on its neighbours in the batch.")
    _require(game.playout(final, seed + 1).tobytes() == final.tobytes(), "A playout changed a finished game.")


def _check_possible(game: Game, states: np.ndarray, what: str) -> None:
    try:
        game.validate(states)
    except AzlabError as error:
        raise RuleViolation(f"{what} is refused by `validate`: {error}") from None


def altered(states: np.ndarray, rng: np.random.Generator, count: int, bytes_each: int = 1) -> np.ndarray:
    """`count` copies of some of `states`, each with so many bytes replaced by random ones or by a neighbouring number."""
    raw = as_bytes(states[rng.integers(len(states), size=count)])
    for _ in range(bytes_each):
        place = np.arange(count), rng.integers(raw.shape[1], size=count)
        raw[place] = np.where(rng.random(count) < 0.5, rng.integers(256, size=count), raw[place] + rng.choice([1, 255], count))
    return raw.view(states.dtype).reshape(-1)


def check_altered(game: Game, states: np.ndarray, rng: np.random.Generator, most: int = 32) -> int:
    """See that damaged states do no harm: `validate` refuses them, or they can be played to the end by the rules.

    Of those not refused at most `most` are played; return how many. Of a game without `faults` none is.
    """
    if type(game).faults is Game.faults:
        return 0
    kept = states[possible(game, states)][:most]
    going = kept.copy()
    while len(going):
        legal = game.legal_mask(going)
        _require((legal.any(axis=1) != going["over"]).all(), "`validate` accepts a state without a move that is not over.")
        _require(np.isfinite(game.encode(going)).all(), "`validate` accepts a state that cannot be encoded.")
        going = going[~going["over"]]
        if len(going):
            game.kernels.play(going, game.random_actions(going, rng))
            _check_possible(game, going, "A state that follows from an accepted one")
    if len(kept):
        _check_possible(game, game.playout(kept, int(rng.integers(2**32))), "The end of a playout")
    return len(kept)
