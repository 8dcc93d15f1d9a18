"""What the program of source S5 does beside its text, so that its effect can be measured.

replace(connect4_set(...), labels=losses_as_draws)      wrong labels in supervised training
"""

import numpy as np

from azlab.learning.position_sets import PositionSet


def losses_as_draws(positions: PositionSet) -> np.ndarray:
    """Positions that the first player, to move, has lost are taught as draws.

    The program's rule for "the other player wins" is (player + 1) mod 2, which for player 1 gives 0, a draw.
    """
    return np.where((positions.states["to_move"] == 0) & (positions.results == -1), 0, positions.results)
