"""Beyond the source: who is ahead under which rules? The shipped network, fine-tuned to each, plays against itself.

Authors differ most on two rules: whether the first or the last placer moves first, and whether a stone on the centre is safe
(`azlab.games.seega_rules`). On 3x3 the answer is known; on 5x5 games of a good player against itself give an idea of it.
"""

from typing import Any

import numpy as np

import azlab
from azlab.arena.results import score_interval
from azlab.learning.alphazero import trained_learner
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.evaluation import own_games
from azlab.learning.run_folder import RunFolder
from azlab.machine import cores
from azlab.repro.examined import examined
from azlab.repro.record import Recorder
from azlab.repro.sweeps import preset_with, swept

VARIANTS: dict[str, dict[str, Any]] = {
    f"{mover}{'_safe' if safe else ''}": {"first_mover": mover, "safe_centre": safe}
    for mover in ("first", "last_placer")
    for safe in (False, True)
}


def variants(record: Recorder, *, player: str, settings: list, simulations: int, games: int, random_plies: int) -> None:
    """Who wins under which rules: the network fine-tuned to each, its games against itself, and the truth on 3x3.

    player: "az", whose network is fine-tuned, or "untrained", one made on the spot
    settings: of the fine-tuning, beside the preset `seega`
    simulations, games: of the games against itself
    random_plies: up to so many random moves open them
    """
    record.data("3x3", {name: _on_3x3(rules) for name, rules in VARIANTS.items()})
    base = preset_with("seega", settings)
    first = examined(record, base.rules(), player, base)
    configs = {name: _tuned(base, rules, str(first.file)) for name, rules in VARIANTS.items()}
    swept(record, "tuned", configs, [record.seed])
    found = {}
    for name, config in configs.items():
        run = RunFolder(record.folder / "tuned" / "arms" / name / f"seed{record.seed}" / "run")
        learner = trained_learner(run, config, config.iterations)
        with record.progress(f"{name} against itself") as report:
            nets = [learner.evaluator(1) for _ in range(cores())]
            ends = own_games(nets, config.test_search, simulations, games, random_plies, record.seed, report)[1]
        results = ends["result"].tolist()
        low, high = score_interval([[(result + 1) / 2] for result in results])
        found[name] = {
            "won by the first": results.count(1), "drawn": results.count(0), "won by the second": results.count(-1),
            "score": float(np.mean(results) + 1) / 2, "interval": [low, high],
        }  # fmt: skip
        record.data("5x5", found)


def _on_3x3(rules: dict[str, Any]) -> int:
    """The result for the first player."""
    game = azlab.game("seega", size=3, **rules)
    return azlab.oracle(game).result(game.start())


def _tuned(base: AlphaZeroConfig, rules: dict[str, Any], file: str) -> AlphaZeroConfig:
    return base.changed({**{f"options.{key}": value for key, value in rules.items()}, "begin.weights": file})
