"""How a state becomes the input of a net, and which output of the net belongs to which action.

`encode(game, states, name)` gives a float32 array for B states, seen by the player to move:

- `planes` [B, C, H, W]: the game's own planes (`game.encode`), and `planes_last` [B, H, W, C] the same for Keras;
- `single` [B, 1, H, W]: own 1, other 2, empty 3; 0 is left to the padding (S5);
- `signed` [B, H, W]: own 1, other -1, empty 0 (S4);
- `go` [B, H, W, 4]: own, other, empty, ones (S2);
- `lines` [B, H, W]: the matrix of drawn lines (S3);
- `lines_and_score` [B, H, W]: the same with the lead of the player to move, as a share of all boxes, in the pad of its first row.
  Aguayo's net, against which S3 played, sees lines and lead too; its flag of a forced pass is left out: here nobody passes.

All but `planes` need a game whose first planes are own and other stones, or, for those of lines, Dots and Boxes.
"""

import numpy as np

from azlab.errors import AzlabError
from azlab.games.game import Game

STONES = ("tictactoe", "connect4", "go", "simple_go", "seega")  # games whose first two planes are own and other stones
ENCODINGS = {
    "planes": None,  # any game
    "planes_last": None,
    "single": STONES,
    "signed": STONES,
    "go": STONES,
    "lines": ("dots_and_boxes",),
    "lines_and_score": ("dots_and_boxes",),
}


def check_encoding(game: Game, name: str) -> None:
    """A sentence if the encoding does not exist or does not fit the game."""
    if name not in ENCODINGS:
        raise AzlabError(f"There is no encoding {name!r}; there are {', '.join(ENCODINGS)}.")
    fits = ENCODINGS[name]
    if fits is not None and game.name not in fits:
        raise AzlabError(f"The encoding {name!r} is for {', '.join(fits)}, not for {game.name}; use 'planes'.")


def encode(game: Game, states: np.ndarray, name: str) -> np.ndarray:
    """The input of a net for `states` [B]; see the module's description."""
    check_encoding(game, name)
    return from_planes(game.encode(states), name)


def from_planes(planes: np.ndarray, name: str) -> np.ndarray:
    """The same from the game's own planes [B, C, H, W], which may have been turned by a symmetry."""
    if name == "planes":
        return planes
    if name == "planes_last":
        return np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
    if name == "lines":
        return np.ascontiguousarray(planes[:, 0])
    if name == "lines_and_score":
        matrix = planes[:, 0].copy()
        matrix[:, 0, -1] = planes[:, 1, 0, -1]  # the lead is the same everywhere on its plane, and symmetries leave pads in place
        return matrix
    own, other = planes[:, 0], planes[:, 1]
    if name == "signed":
        return own - other
    if name == "go":
        return np.stack([own, other, 1 - own - other, np.ones_like(own)], axis=-1)
    return (3 - 2 * own - other)[:, None]


def input_shape(game: Game, name: str) -> tuple[int, ...]:
    """The shape of one encoded state."""
    return encode(game, game.new_states(1), name).shape[1:]


def outputs_of_actions(game: Game, outputs: int) -> np.ndarray:
    """For each action the index of its output in a net with that many policy outputs, -1 where it has none: int64 [A].

    The nets of the sources do not number moves as our games do: S3 has an output for each of the 7x4 cells of its matrix, S2 none
    for the pass, S4 none for placing stones (its moving net) or stopping.
    """
    actions = np.arange(game.num_actions)
    if outputs == game.num_actions:
        return actions
    _, height, width = game.planes_shape
    if game.name == "dots_and_boxes" and outputs == height * width:
        planes = np.zeros((game.num_actions, *game.planes_shape), np.float32)
        states = game.new_states(game.num_actions)
        game.kernels.play(states, actions)
        game.kernels.encode(states, planes)
        return planes[:, 0].reshape(len(actions), -1).argmax(axis=1)
    if game.name in ("go", "simple_go") and outputs == height * width:
        return np.where(actions < outputs, actions, -1)
    if game.name == "seega" and outputs == 4 * height * width:
        return np.where(actions < outputs, actions, -1)
    raise AzlabError(f"A net with {outputs} policy outputs does not fit {game.name} with its {game.num_actions} actions.")
