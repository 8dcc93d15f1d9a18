"""What a training run is made of: its game and its network, described so that another one is noticed when the run goes on.

`made_of.json` in the folder has the game's name and options, the network's class, shapes and number of parameters, and for code
of the user's the SHA-256 of its file.
"""

import hashlib
import inspect
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.games.game import Game
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.learner import Learner
from azlab.nets.kinds import GIVEN, is_keras, is_torch, net_maker

FILE = "made_of.json"


def with_objects(config: AlphaZeroConfig, game: Game | None, learner: Learner | None) -> AlphaZeroConfig:
    """The config that tells of the game and the learner handed in, instead of those it named; a sentence if they are none."""
    if game is not None and not isinstance(game, Game):
        raise AzlabError(f"The game of a training is a Game, such as azlab.game('connect4'), not {game!r}.")
    if is_torch(learner) or is_keras(learner):
        kind = "TorchLearner" if is_torch(learner) else "KerasLearner"
        raise AzlabError(
            f"A network learns through a learner: hand in {kind}(game, net, LossConfig()) instead of the net itself."
        )
    if learner is not None and not isinstance(learner, Learner):
        raise AzlabError(f"A learner is a TorchLearner or a KerasLearner, not {learner!r}.")
    if learner is not None:
        if game is not None and game != learner.game:
            raise AzlabError(f"The learner was made for {learner.game!r}, not for {game!r}.")
        game = learner.game
        config = replace(config, net={"kind": GIVEN}, loss=learner.config)
    return config if game is None or _is_named(game, config) else replace(config, game=game.spec, options=_options(game))


def _is_named(game: Game, config: AlphaZeroConfig) -> bool:
    """Whether the config's names lead to this game."""
    try:
        return config.game == game.spec and config.rules() == game
    except AzlabError:
        return False


def _options(game: Game) -> dict[str, Any]:
    """The options that are not the default."""
    parameters = inspect.signature(type(game)).parameters
    return {k: v for k, v in game.options.items() if k not in parameters or parameters[k].default != v}


def described(game: Game, learner: Learner, config: AlphaZeroConfig) -> dict[str, dict[str, Any]]:
    """What made_of.json holds."""
    kind = config.net.get("kind", "residual")
    shapes = [list(array.shape) for array in learner.weights()]
    return {
        "game": {
            "name": game.spec,
            "options": {name: repr(value) for name, value in game.options.items()},
            "actions": game.num_actions,
            "state": game.dtype.itemsize,
            "sha256": _digest(type(game).__module__),
        },
        "net": {
            "kind": kind,
            "class": type(learner.net).__name__,
            "parameters": sum(array.size for array in learner.weights()),
            "shapes": shapes,
            "sha256": "" if kind == GIVEN else _digest(net_maker(kind).__module__),
        },
    }


def _digest(module: str) -> str:
    """The SHA-256 of the file of the user's that a class or function came from; "" for azlab's own, for cells and for the program
    itself, which may change from one start to the next."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or module.partition(".")[0] == "azlab" or file is None or not Path(file).is_file():
        return ""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def check_same(folder: Path, now: dict[str, dict[str, Any]]) -> None:
    """Keep the description of a new run; a sentence if an old one was made of something else."""
    file = folder / FILE
    if not file.is_file():
        write_aside(file, lambda aside: aside.write_text(json.dumps(now, indent=1) + "\n"))
        return
    try:
        before = json.loads(file.read_text("utf-8"))
        changed = {part: [key for key in now[part] if before[part].get(key) != now[part][key]] for part in now}
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise AzlabError(f"{file} cannot be read ({error}). Remove it if game and network are still the run's own.") from None
    for part, keys in changed.items():
        if keys == ["sha256"]:
            raise AzlabError(
                f"The file of the {part} {now[part].get('name', now[part].get('kind'))} has changed since the run in {folder} "
                f"was begun. If it still makes the same {part}, remove {file} and go on; if not, take another folder."
            )
        if keys:
            raise AzlabError(
                f"The run in {folder} was begun with another {part}: {_said(before[part], part)}, not {_said(now[part], part)}. "
                "Hand in the same again, or take another folder."
            )


def _said(made: dict[str, Any], part: str) -> str:
    if part == "game":
        options = ", ".join(f"{name}={value}" for name, value in made.get("options", {}).items())
        return f"{made.get('name')}({options}) with {made.get('actions')} actions"
    return f"a {made.get('class')} of {made.get('parameters'):,} numbers in {len(made.get('shapes', []))} arrays"
