"""What a training may begin with in place of random weights and self-play: the [begin] section of a config.

    azlab train connect4_strong hours=2.4 --out runs/first
    azlab train connect4_strong begin.weights=runs/first --out runs/second             # on with its network, in a run of its own
    azlab train connect4_strong filters=96 begin.games=runs/second --out runs/larger   # a larger network learns its games first

Each is read once. The run keeps the weights as `nets/00000` and the games as those of its first iteration; when that is finished
what it began with may go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.learning.learner import Learner
from azlab.learning.parts import FirstExamples, Parts
from azlab.learning.schedules import linear
from azlab.learning.selfplay import Collected, SelfPlayConfig, nothing_collected
from azlab.learning.window import Examples, joined

if TYPE_CHECKING:
    from azlab.learning.config import AlphaZeroConfig


@dataclass(frozen=True)
class BeginConfig:
    """What the first iteration finds."""

    weights: str = ""
    # the folder of a run (its last network), a file of its nets/, or a player's file: of the same game, perhaps with other rules
    # or komi, and a network of the same shape
    games: str = ""
    # the folder of a run of the same game: the first iteration learns from its latest games, as many as fit into the window, and
    # plays none
    judge: str = ""
    # with a horizon (azlab.learning.horizon): the folder of a run of the same game, whose last network says what positions at the
    # horizon are worth, or a player's file


def take_beginning(learner: Learner, config: "AlphaZeroConfig") -> None:
    """Give `learner` the weights that the config begins with, and see that the games are there."""
    if config.begin.games and _finished_run(Path(config.begin.games), config).is_retired:
        raise AzlabError(f"The games of the run in {config.begin.games} were deleted to save room: begin with another's.")
    if not config.begin.weights:
        return
    path = Path(config.begin.weights)
    if path.is_dir():
        run = _finished_run(path, config, any_rules=True)
        learner.load(run.net_file(run.iteration(), learner.suffix))
    elif not path.is_file():
        raise AzlabError(f"There is neither a run nor a file of weights {path}: see begin.weights.")
    else:
        _take_file(learner, path, config)


def _take_file(learner: Learner, path: Path, config: "AlphaZeroConfig") -> None:
    """A network of a run, or a player."""
    from azlab.learning.shipped import is_player, load_player

    if not is_player(path):
        learner.load(path)
        return
    player, its_config = load_player(path)
    _check_game(path, its_config, config, any_rules=True)
    weights = player.weights()
    if [array.shape for array in weights] != [array.shape for array in learner.weights()]:
        raise AzlabError(f"{path} holds a network of another shape than this training's: set [net] as in the player's training.")
    learner.set_weights(weights)


def first_examples(whole: "AlphaZeroConfig", parts: Parts) -> FirstExamples | None:
    """What gives the first iteration's examples, if it does not play: games of another run, or a part that was handed in."""
    if not whole.begin.games:
        return parts.first_examples
    if parts.first_examples is not None:
        raise AzlabError("The first examples come from begin.games or from a part of the training, not from both.")

    def latest(game: Game, config: SelfPlayConfig, seed: Sequence[int], progress: Callable) -> Collected:
        most = int(linear(whole.training.window, 1))
        return nothing_collected(game)._replace(examples=_latest_games(game, whole, most, progress))

    return latest


def _latest_games(game: Game, config: "AlphaZeroConfig", most: int, progress: Callable[..., None]) -> Examples:
    """The `most` latest examples of the run that begin.games names, oldest first."""
    run = _finished_run(Path(config.begin.games), config)
    parts: list[Examples] = []
    for iteration in range(run.iteration(), 0, -1):
        parts.insert(0, run.load_games(iteration, game))
        found = sum(part.size for part in parts)
        progress("reading games", min(found, most), most)
        if found >= most:
            break
    return joined(game, parts).take(slice(-most, None))


def _finished_run(path: Path, config: "AlphaZeroConfig", any_rules: bool = False) -> Any:
    """The folder of a run of the same game that has finished an iteration; a sentence otherwise."""
    from azlab.learning.run_folder import RunFolder

    run = RunFolder(path)
    _check_game(path, run.config(), config, any_rules)
    if run.iteration() == 0:
        raise AzlabError(f"The run in {path} has not finished its first iteration: there is nothing to begin with.")
    return run


def _check_game(path: Path, theirs: "AlphaZeroConfig", ours: "AlphaZeroConfig", any_rules: bool = False) -> None:
    """By name, and by options unless `any_rules` will do; no code has to be loaded for it."""
    if theirs.game != ours.game or (theirs.options != ours.options and not any_rules):
        raise AzlabError(f"{path} was trained for {_told(theirs)}, not for {_told(ours)}: begin with something else.")


def _told(config: "AlphaZeroConfig") -> str:
    return f"{config.game}({', '.join(f'{name}={value}' for name, value in config.options.items())})"
