"""How a net sees a state, and which output of the net belongs to which action: an `Encoding`, which belongs to the net.

The default, `planes`, serves every game: the net reads the game's own planes and has one output an action, in their order. The
others are named by `encoding` in a config's [net], or given to a learner:

- `planes` [B, C, H, W]: the game's own planes (`game.encode`), and `planes_last` [B, H, W, C] the same for Keras;
- `single` [B, 1, H, W]: own 1, other 2, empty 3; 0 is left to the padding (S5);
- `signed` [B, H, W]: own 1, other -1, empty 0; a net may have outputs for the four steps from each cell alone (S4);
- `signed_cells`: the same; a net may have an output for each cell alone, for moves that put a stone there (S4);
- `go` [B, H, W, 4]: own, other, empty, ones; a net may have no output for the pass (S2);
- `lines` [B, H, W]: the matrix of drawn lines; a net may have an output for each of its cells (S3);
- `lines_and_score` [B, H, W]: the same with the lead of the player to move, as a share of all boxes, in the pad of its first row.
  Aguayo's net, against which S3 played, sees lines and lead too; its flag of a forced pass is left out: here nobody passes.

Everything is seen by the player to move. An `Encoding` of your own needs no more than a function from planes to inputs.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game

TRIAL_GAMES = 4  # random games that are looked at to see whether a game has stones


def _every_game(game: Game) -> str:
    return ""


@dataclass(frozen=True)
class Encoding:
    """What a net sees, and where its answers are."""

    name: str
    inputs: Callable[[np.ndarray], np.ndarray]
    # the game's planes float32 [B, C, H, W], which may have been turned by a symmetry -> what the net reads, float32 [B, ...]
    places: Callable[[Game], tuple[np.ndarray, int]] | None = None
    # game -> the output of each action, int64 [A], -1 where it has none, and how many outputs there are; for nets whose outputs
    # are not simply the actions
    lacks: Callable[[Game], str] = _every_game
    # game -> what it lacks to be seen so; "" if nothing

    def encode(self, game: Game, states: np.ndarray) -> np.ndarray:
        """The input of a net for `states` [B]."""
        return self.inputs(game.encode(states))

    def check(self, game: Game) -> None:
        """A sentence if a game cannot be seen so."""
        if why := _lacks(self, game):
            raise AzlabError(f"The encoding {self.name!r} is for games {why}, unlike {game.name}; use 'planes'.")

    def outputs(self, game: Game, count: int) -> np.ndarray:
        """For each action the index of its output in a net with `count` policy outputs, -1 where it has none: int64 [A]."""
        if count == game.num_actions:
            return np.arange(game.num_actions)
        if self.places is not None:
            found, wanted = self.places(game)
            if count == wanted:
                return found
        raise AzlabError(f"The net gives {count} policy outputs, but {game.name} has {game.num_actions} actions.")


@functools.lru_cache(maxsize=256)
def _lacks(encoding: Encoding, game: Game) -> str:
    return encoding.lacks(game)


# --- what the sources' nets need ------------------------------------------------------------------------------------


def _stones(game: Game) -> str:
    """Looks at random games: the first two planes must be 0 or 1, and never both 1."""
    why = "whose first two planes are own and other stones"
    if game.planes_shape[0] < 2:
        return why
    rng, states = np.random.default_rng(0), game.new_states(TRIAL_GAMES)
    while len(states):
        own, other = game.encode(states)[:, :2].swapaxes(0, 1)
        if not (np.isin(own, (0, 1)).all() and np.isin(other, (0, 1)).all()) or (own * other).any():
            return why
        states = states[~states["over"]]
        if len(states):
            game.kernels.play(states, game.random_actions(states, rng))
    return ""


def _marks(game: Game) -> np.ndarray | None:
    """Where each action, played first, marks the first plane: int64 [A]; None if one marks none or several, or two the same."""
    states = game.new_states(game.num_actions)
    if not game.legal_mask(states[:1]).all():
        return None
    game.kernels.play(states, np.arange(game.num_actions))
    drawn = game.encode(states)[:, 0].reshape(game.num_actions, -1) != 0
    cells = drawn.argmax(axis=1)
    return cells if (drawn.sum(axis=1) == 1).all() and len(set(cells.tolist())) == len(cells) else None


def _lines(game: Game) -> str:
    return "" if _marks(game) is not None else "in which every move marks a cell of its own, such as dots_and_boxes"


def _lines_and_lead(game: Game) -> str:
    return _lines(game) or ("" if game.planes_shape[0] > 1 else "whose second plane is the lead, such as dots_and_boxes")


def _a_cell_each(game: Game) -> tuple[np.ndarray, int]:
    """S3: an output for each cell of the matrix, the pads too."""
    cells = _marks(game)
    assert cells is not None  # `lacks` was asked before
    return cells, game.planes_shape[1] * game.planes_shape[2]


def _only_cells(game: Game) -> tuple[np.ndarray, int]:
    """S2: no output for the pass, which is the last action."""
    return _first(game, game.planes_shape[1] * game.planes_shape[2])


def _only_steps(game: Game) -> tuple[np.ndarray, int]:
    """S4: four steps from each cell; none for placing stones or stopping, which come after them."""
    return _first(game, 4 * game.planes_shape[1] * game.planes_shape[2])


def _only_placements(game: Game) -> tuple[np.ndarray, int]:
    """S4: an output for each cell; none for actions that, played first, do not put one stone on a cell."""
    cells = game.planes_shape[1] * game.planes_shape[2]
    found = np.full(game.num_actions, -1)
    actions = np.flatnonzero(game.legal_mask(game.new_states(1))[0])
    states = game.new_states(len(actions))
    game.kernels.play(states, actions)
    stones = game.encode(states)[:, :2].sum(axis=1).reshape(len(actions), cells) != 0
    is_placement = stones.sum(axis=1) == 1
    found[actions[is_placement]] = stones[is_placement].argmax(axis=1)
    return found, cells


def _first(game: Game, count: int) -> tuple[np.ndarray, int]:
    actions = np.arange(game.num_actions)
    return np.where(actions < count, actions, -1), count


def _with_lead(planes: np.ndarray) -> np.ndarray:
    matrix = planes[:, 0].copy()
    matrix[:, 0, -1] = planes[:, 1, 0, -1]  # the lead is the same everywhere on its plane, and symmetries leave pads in place
    return matrix


def _go_planes(planes: np.ndarray) -> np.ndarray:
    own, other = planes[:, 0], planes[:, 1]
    return np.stack([own, other, 1 - own - other, np.ones_like(own)], axis=-1)


PLANES = Encoding("planes", lambda planes: planes)
PLANES_LAST = Encoding("planes_last", lambda planes: np.ascontiguousarray(planes.transpose(0, 2, 3, 1)))
ENCODINGS = {
    encoding.name: encoding
    for encoding in (
        PLANES,
        PLANES_LAST,
        Encoding("single", lambda planes: (3 - 2 * planes[:, 0] - planes[:, 1])[:, None], None, _stones),
        Encoding("signed", lambda planes: planes[:, 0] - planes[:, 1], _only_steps, _stones),
        Encoding("signed_cells", lambda planes: planes[:, 0] - planes[:, 1], _only_placements, _stones),
        Encoding("go", _go_planes, _only_cells, _stones),
        Encoding("lines", lambda planes: np.ascontiguousarray(planes[:, 0]), _a_cell_each, _lines),
        Encoding("lines_and_score", _with_lead, _a_cell_each, _lines_and_lead),
    )
}


def find_encoding(which: str | Encoding) -> Encoding:
    """The encoding of that name; one of your own is itself."""
    if isinstance(which, Encoding):
        return which
    if which not in ENCODINGS:
        raise AzlabError(f"There is no encoding {which!r}; there are {', '.join(ENCODINGS)}.")
    return ENCODINGS[which]


@runtime_checkable
class Encoded(Protocol):
    """A net that says how it sees a state."""

    encoding: str | Encoding


def own_encoding(net: object) -> str | Encoding:
    """The encoding that a net names, else the planes."""
    return net.encoding if isinstance(net, Encoded) and net.encoding else PLANES


def encode(game: Game, states: np.ndarray, which: str | Encoding = PLANES) -> np.ndarray:
    """The input of a net for `states` [B]; see the module's description."""
    encoding = find_encoding(which)
    encoding.check(game)
    return encoding.encode(game, states)


def input_shape(game: Game, which: str | Encoding = PLANES) -> tuple[int, ...]:
    """The shape of one encoded state."""
    return encode(game, game.new_states(1), which).shape[1:]


def outputs_of_actions(game: Game, outputs: int, which: str | Encoding = PLANES) -> np.ndarray:
    """For each action the index of its output in a net with that many policy outputs, -1 where it has none: int64 [A]."""
    encoding = find_encoding(which)
    encoding.check(game)
    return encoding.outputs(game, outputs)
