"""A network's own choice: the move it likes best, or one drawn by its chances, without any search. `agent("net:FILE")` is one.

In Go such a player needs more than a network: when does it pass, and does it fill its own eyes? A net that predicts moves often
has no output for the pass, and where nothing else is left it would kill its own stones. So these are settings:

    PolicyAgent(evaluator, game)                                         # never fills its eyes, passes when only they are left
    PolicyAgent(evaluator, game, own_eyes=True, passes="after_opponent")   # as source S2's program plays

`sampled` lets it draw its moves at the start of a game, so that two games differ; after that it always answers alike.
"""

from collections.abc import Sequence

import numpy as np

from azlab.errors import AzlabError, one_of, whole_number
from azlab.games.game import Game, Position
from azlab.games.go import Go
from azlab.search import Analysis
from azlab.search.evaluators import Evaluator
from azlab.search.tree import UNPROVEN

EYES_LEFT, AFTER_OPPONENT, NET = "eyes_left", "after_opponent", "net"
PASSES = ("", EYES_LEFT, AFTER_OPPONENT, NET)


class PolicyAgent:
    """The policy of an evaluator as a player.

    game: the one that the evaluator is for; others of its kind with equal boards will do (another komi, say)
    own_eyes: in Go, whether it may fill its own eyes
    passes: in Go, when it passes: "eyes_left", when no other point is left to play; "after_opponent", only right after the
        opponent has passed, or if it has no legal point; "net", when the network likes the pass best. "" is "net" if the network
        knows the pass, else "eyes_left"
    sampled: its moves among the first so many of a game are drawn by their chances
    """

    def __init__(
        self,
        evaluator: Evaluator,
        game: Game,
        name: str = "net",
        *,
        own_eyes: bool = False,
        passes: str = "",
        sampled: int = 0,
        seed: int = 0,
    ) -> None:
        one_of("own_eyes", own_eyes, (True, False))
        one_of("passes", passes, PASSES)
        if not isinstance(game, Go) and (own_eyes or passes):
            raise AzlabError(f"own_eyes and passes are for go; the network {name} plays {game.name}.")
        self.evaluator, self.game, self.name, self.own_eyes = evaluator, game, name, own_eyes
        self.sampled = whole_number("sampled", sampled, 0, 10**9)
        self.passes = passes or (NET if not isinstance(game, Go) or _knows_pass(evaluator, game) else EYES_LEFT)
        self._rng = np.random.default_rng(seed)

    def prepare(self, game: Game) -> None:
        """Raise a sentence if the network is for another game or board."""
        mine, other = ((one.name, one.planes_shape, one.num_actions) for one in (self.game, game))
        if mine != other:
            raise AzlabError(f"{self.name} was trained for {self.game!r}, not for {game!r}.")

    def chances(self, positions: Sequence[Position]) -> np.ndarray:
        """The chances of the moves that it considers: float32 [B, A]."""
        game = positions[0].game
        self.prepare(game)
        states = np.concatenate([position.state for position in positions])
        considered = game.legal_mask(states)
        if isinstance(game, Go):
            considered = self._in_go(game, states, considered)
        return self.evaluator.evaluate(states, considered)[0]

    def _in_go(self, game: Go, states: np.ndarray, legal: np.ndarray) -> np.ndarray:
        """The moves that it considers in Go; where it has to pass, the pass alone."""
        considered = legal if self.own_eyes else legal & ~game.own_eyes(states)
        if self.passes == NET:
            return considered
        considered[:, -1] = False
        if self.passes == AFTER_OPPONENT:
            considered[states["passes"] > 0] = False
        considered[~considered.any(axis=1), -1] = True
        return considered

    def choose(self, position: Position) -> int:
        return self.choose_many([position])[0]

    def choose_many(self, positions: Sequence[Position]) -> list[int]:
        """The actions for many positions of one game."""
        chances = self.chances(positions)
        return [self._chosen(own, position) for own, position in zip(chances, positions, strict=True)]

    def _chosen(self, chances: np.ndarray, position: Position) -> int:
        if position.ply >= self.sampled:
            return int(chances.argmax())
        exact = chances.astype(np.float64)
        return int(self._rng.choice(len(exact), p=exact / exact.sum()))

    def analyse(self, position: Position) -> Analysis:
        """The chances, and all attention on the move that it likes best; what the network thinks of the result."""
        self.prepare(position.game)
        state = position.state
        chances = self.chances([position])[0].astype(np.float64)
        value = float(self.evaluator.evaluate(state, position.game.legal_mask(state))[1][0])
        best, count = int(chances.argmax()), len(chances)
        visits = np.zeros(count, np.int64)
        visits[best] = 1
        nothing, unproven = np.full(count, np.nan), np.full(count, UNPROVEN, np.int8)
        line = [position.game.move_name(best)]
        return Analysis(position, visits, nothing, chances, unproven, value, line, 1, 1, 1, choice=best)


def _knows_pass(evaluator: Evaluator, game: Game) -> bool:
    """Whether the network has an output for the pass, the last action: one without gives it no chance while others are legal."""
    states = game.new_states(1)
    return bool(evaluator.evaluate(states, game.legal_mask(states))[0][0, -1] > 0)
