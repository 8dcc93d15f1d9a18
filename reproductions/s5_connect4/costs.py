"""What the source's hours of self-play bought, so that runs of other networks on other machines lie over its curves.

Its cost is hours of self-play on one RTX 2070S, whatever the network; training and tests ran elsewhere and are not counted.
"""

from azlab.games.connect4 import Connect4
from azlab.nets.residual import ResidualConfig, count_multiplications

MOVES_A_SECOND = 135.8  # the speed that its cost measure is made of, with the network and the search of the baseline
EVALUATIONS_A_MOVE = 344  # 343 nodes and the root
NETWORK = ResidualConfig.for_game(Connect4(), encoding="single", blocks=5, filters=128)  # table 2


def equivalent_hours(evaluations: float, multiplications: float) -> float:
    """The source's hours for so many evaluations of a network with `multiplications` for each (`count_multiplications`)."""
    a_second = MOVES_A_SECOND * EVALUATIONS_A_MOVE * count_multiplications(NETWORK)
    return evaluations * multiplications / a_second / 3600
