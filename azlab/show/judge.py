"""The oracles of boards: which boards have one, made once for all boards of a game, asked by one thread at a time."""

import threading

from azlab.games.game import Game, Position
from azlab.oracles import ORACLES, Oracle, oracle
from azlab.show.worker import lock_of

# boards that a game's oracle can judge, where that is not all of them
JUDGED = {
    "dots_and_boxes": lambda game: game.num_actions <= 27,
    "go": lambda game: game.size <= 3,
    "seega": lambda game: game.size <= 5 and game.options["move_limit"] is None and game.options["extra_move"] == "same",
}

_made: dict[Game, Oracle] = {}
_making = threading.Lock()


def can_judge(game: Game) -> bool:
    """Whether there is an oracle for this board."""
    return game.name in ORACLES and JUDGED.get(game.name, lambda _: True)(game)


def shared_oracle(game: Game) -> Oracle:
    """The oracle of a game; the first time this may take seconds."""
    with _making:
        if game not in _made:
            _made[game] = oracle(game)
        return _made[game]


def value_of(judge: Oracle, position: Position) -> float | None:
    """The value of a position for seat 0; None where the oracle does not know it, since it has endgames only."""
    with lock_of(judge):  # its tables are written while it thinks
        return float(judge.value(position)) if judge.knows(position.state)[0] else None
