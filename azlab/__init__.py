"""azlab: learn game-playing reinforcement learning, and check what was claimed about it.

Nothing heavy is loaded here; each part is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

from azlab.errors import AzlabError, IllegalMove

if TYPE_CHECKING:
    from azlab.games.game import Game

__version__ = "0.1.0"
__all__ = ["AzlabError", "IllegalMove", "__version__", "game"]


def game(name: str, **options: Any) -> "Game":
    """The game called `name`, with its options: game("connect4"), game("go", size=9, komi=7, ko="positional").

    Names: tictactoe, connect4, dots_and_boxes, go, simple_go, seega.
    """
    from azlab.games import game as find

    return find(name, **options)
