"""What the program of source S2 does beside Monte Carlo control, so that its effect can be measured.

MonteCarloControl(game, taught=result_or_the_one_before)    a tie learns from the game before
AnswersPasses(table)                                        passes whenever the opponent does (section 6.1)
"""

from azlab.errors import AzlabError
from azlab.games.game import Position
from azlab.games.kernel import kernel
from azlab.learning.tabular import MonteCarloControl, TableAgent


@kernel
def result_or_the_one_before(result, before):
    """The program turns a score into a result only if it is not zero: after a tie the variable still holds the last one."""
    if result == 0:
        return before
    return result


class AnswersPasses(TableAgent):
    """Passes whenever the opponent has just passed, whatever the table says: without that its games would not end."""

    def __init__(self, table: MonteCarloControl, name: str = "table") -> None:
        if "passes" not in (table.game.dtype.names or ()):
            raise AzlabError(f"{table.game.name} has no pass that could be answered.")
        super().__init__(table, name)

    def choose(self, position: Position) -> int:
        return position.game.action("pass") if position.state["passes"][0] else super().choose(position)
