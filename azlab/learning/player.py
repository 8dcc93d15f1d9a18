"""A trained network as a player: `agent("az:runs/connect4")`, in matches, in the terminal and in notebooks."""

from dataclasses import replace
from pathlib import Path

from azlab.arena.agents import PuctAgent
from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.learning.alphazero import evaluator_of, trained_learner
from azlab.learning.run_folder import RunFolder


class TrainedAgent(PuctAgent):
    """The network of a run after `iteration` (by default the last one), with the run's test search."""

    def __init__(
        self,
        folder: str | Path,
        simulations: int | None = None,
        iteration: int | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        run = RunFolder(folder)
        config = run.config()
        last = run.iteration()
        if last == 0:
            raise AzlabError(f"The run in {folder} has not finished its first iteration.")
        if iteration is not None and not 1 <= iteration <= last:
            raise AzlabError(f"The run in {folder} has iterations 1 to {last}, not {iteration}.")
        self.game, self.iteration = config.rules(), iteration or last
        learner = trained_learner(run, config, self.iteration)
        search = replace(config.test_search, simulations=simulations or config.test_search.simulations)
        super().__init__(evaluator_of(learner, config, threads), search, f"az:{folder}", seed)

    def prepare(self, game: Game) -> None:
        """Raise a sentence if the network was trained for another game."""
        if game != self.game:
            raise AzlabError(f"{self.name} was trained for {self.game!r}, not for {game!r}.")
