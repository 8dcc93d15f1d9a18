"""All positions that can follow from one, as a list with numbers: small enough for a table of values and for exact sums.

small = SmallGame(azlab.game("tictactoe").from_moves("b2 b1"))
small.positions[0]           the position it begins with; every position comes before those that follow from it
small.children[s]            {move: number of the position after it}, empty when the game is over
small.to_move[s]             0 or 1, whose turn it is
small.result[s]              +1, 0 or -1 for the first player when the game is over, otherwise None
"""

from azlab.errors import AzlabError
from azlab.games.game import Position

LIMIT = 20_000


class SmallGame:
    """The game below `start`. Positions that are reached by different orders of moves count once."""

    def __init__(self, start: Position) -> None:
        number = {start: 0}
        self.positions, self.children = [start], []
        for position in self.positions:  # it grows while it is read, one ply after the other
            following = {}
            for action in position.legal_actions:
                after = position.play(action)
                if after not in number:
                    number[after] = len(self.positions)
                    self.positions.append(after)
                    if len(self.positions) > LIMIT:
                        raise AzlabError(f"More than {LIMIT:,} positions follow; begin nearer to the end of the game.")
                following[position.game.move_name(action)] = number[after]
            self.children.append(following)
        self.to_move = [position.to_move for position in self.positions]
        self.result = [position.result for position in self.positions]

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def going_on(self) -> list[int]:
        """The numbers of positions in which there is a move to choose."""
        return [s for s in range(len(self)) if self.result[s] is None]
