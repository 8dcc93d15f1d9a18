"""The source's loop as it was: three trainings, what a seat is worth, one version epoch by epoch, and matches."""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import azlab
from azlab.arena import match
from azlab.arena.results import MatchResult
from azlab.learning import AlphaZero, preset
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.evaluation import graded
from azlab.learning.learner import in_all_symmetries
from azlab.learning.player import TrainedAgent
from azlab.learning.selfplay import SelfPlay
from azlab.learning.window import Examples
from azlab.nets.encodings import outputs_of_actions
from azlab.repro.record import Recorder, write_json
from azlab_reproductions.s3_dots_and_boxes.kept import Kept
from azlab_reproductions.s3_dots_and_boxes.lesson import at_random, right

BOXES = azlab.game("dots_and_boxes")  # 3x3
SUBSETS = "ABC"
LOSSES = {"loss": "loss", "policy": "policy_loss", "value": "value_loss"}  # by the claims' names
KEPT = ("mcts_accuracy", "mean_loss", "network_accuracy", "loss", "policy_loss", "value_loss")


@dataclass(frozen=True)
class Sizes:
    """What the three trainings have in common."""

    first_games: int
    first_playouts: int
    test_positions: int
    seed: int

    def of(
        self, subset: str, versions: int, games: int, epochs: int, walks: int, gate_games: int, layers: list
    ) -> AlphaZeroConfig:
        """The preset of a subset with the sizes of a profile."""
        boards = 24 * games
        sizes: dict[str, Any] = {"iterations": versions, "net.layers": layers, "selfplay.positions": boards}
        sizes |= {"gate.games": gate_games, "budget.simulations": walks, "evaluation.simulations": walks, "seed": self.seed}
        sizes |= {"parts.first_player": f"onesided:{self.first_playouts}", "parts.first_games": self.first_games}
        passes = 0.8 * 8 * epochs  # four fifths of the boards, in 8 copies, in each epoch
        sizes |= {"training.passes": [[1, passes]], "training.window": [[1, 24 * self.first_games], [2, boards]]}
        sizes |= {"selfplay.games": min(games, 100)}
        sizes |= {"evaluation.positions": "random", "evaluation.count": self.test_positions}
        return preset(f"s3_{subset.lower()}").changed(sizes)


def pipeline(
    record: Recorder,
    *,
    versions: list,
    version_games: list,
    version_epochs: list,
    walks: list,
    gate_games: list,
    layers: list,
    first_games: int,
    first_playouts: int,
    mcts_playouts: int,
    match_games: int,
    aguayo_iterations: int,
    curve_games: int,
    curve_epochs: int,
    test_positions: int,
) -> None:
    """The trainings A, B and C, their matches, and one version epoch by epoch (S3, sections 5.1 to 5.2.4, appendix A).

    versions, version_games, version_epochs, walks, gate_games, layers: one for each subset. A version learns from its games in 8
        symmetric copies, so many epochs; a walk is a simulation that goes on to the end of the game
    first_games, first_playouts: games of plain MCTS, from which the first version learns, and its playouts a move
    mcts_playouts: of plain MCTS as an opponent; the source's five seconds are about a million
    match_games: games of a match between players, for each seat
    aguayo_iterations: of the training with another author's settings
    curve_games, curve_epochs: of the version that is followed epoch by epoch
    test_positions: random positions on which every version is examined
    """
    sizes = Sizes(first_games, first_playouts, test_positions, record.seed)
    runs: dict[str, AlphaZero] = {}
    for subset, *own in zip(SUBSETS, versions, version_games, version_epochs, walks, gate_games, layers):
        runs[subset] = AlphaZero.from_config(sizes.of(subset, *own), record.folder / subset)
        with record.progress(f"subset {subset}") as runs[subset].progress:
            runs[subset].train()
    _trainings(record, runs, test_positions)
    team = {subset: player(runs[subset], subset, record.seed) for subset in SUBSETS}
    _seats(record, team["A"], 2 * max(match_games, gate_games[0]))
    _curve(record, runs["A"], curve_games, curve_epochs)
    team["B 60"] = player(runs["B"], "B", record.seed, max(1, round(0.6 * versions[1])))
    _matches(record, team, f"onesided:{mcts_playouts}", match_games)
    _aguayo(record, team, layers[1], aguayo_iterations, match_games)


def player(run: AlphaZero, name: str, seed: int, version: int | None = None) -> TrainedAgent:
    """A version of a training, the last one if none is named, with the search of its tests."""
    agent = TrainedAgent(run.folder.path, iteration=version, seed=seed)
    agent.name = f"{name} v{agent.iteration}"
    return agent


def _trainings(record: Recorder, runs: dict[str, AlphaZero], test_positions: int) -> None:
    """Every version's exam and losses, and its match against the best so far, in which it sits second."""
    exams = {subset: {what: [row[what] for row in run.metrics] for what in KEPT} for subset, run in runs.items()}
    record.data("versions", exams)
    record.data("moving at random", at_random(graded(BOXES, "random", test_positions, record.seed)))
    gates = {subset: [row for row in run.metrics if row["gate_score"] is not None] for subset, run in runs.items()}
    names = {"old": "gate_against", "new": "iteration", "share": "gate_score", "accepted": "accepted"}
    record.data("gates", {subset: [{new: row[old] for new, old in names.items()} for row in gates[subset]] for subset in runs})
    for subset, games, claim in (("A", 50, "s3.a.new_wins"), ("B", 200, "s3.b.new_wins")):
        rows = gates[subset]
        record.curve(claim, [row["iteration"] for row in rows], [games * row["gate_score"] for row in rows])
    record("s3.a.mean_new_wins", np.mean([row["gate_score"] for row in gates["A"]]), note=f"{len(gates['A'])} matches")
    both = list(zip(*(runs[subset].metrics for subset in "BC")))
    same = [all(one[what] == other[what] for what in (*KEPT, "gate_score")) for one, other in both]
    record.data("versions of B and C", {"in both": len(same), "equal to the last digit": sum(same)})


def _seats(record: Recorder, agent: TrainedAgent, games: int) -> None:
    """How often a player wins against itself in the second seat."""
    with record.progress(f"{agent.name} against itself") as report:
        alone = match(agent, agent, games, BOXES, openings=0, seed=record.seed, progress=report)
    share = alone.first_seat.losses / alone.first_seat.games
    note = f"the last version of subset A against itself, {alone.distinct} different games"
    record("s3.second.share", share, note=note)
    record.data("against itself", {"player": agent.name, "games": games, "different": alone.distinct, "second wins": share})


def _curve(record: Recorder, run: AlphaZero, games: int, epochs: int) -> None:
    """Train the last version on boards of its own games; a fifth of the shuffled boards, and whole games, are set aside."""
    file = record.folder / "curve.json"
    if file.exists():
        found = json.loads(file.read_text(encoding="utf-8"))
    else:
        found = _trained_by_epochs(record, run, games, epochs)
        write_json(file, found)
    x = list(range(1, epochs + 1))
    for short, name in LOSSES.items():
        record.curve(f"s3.curve.{short}", x, found["history"][name])
        record.curve(f"s3.curve.test{'' if short == 'loss' else '_' + short}", x, found["history"][f"val_{name}"])
    record.data("losses on new games", found["new"])
    record.data("games of the curve", found["games"])


def _trained_by_epochs(record: Recorder, run: AlphaZero, games: int, epochs: int) -> dict[str, Any]:
    """The losses of every epoch on training boards, on shuffled copies and on new games."""
    from azlab.nets.keras_nets import load_keras

    config, learner, more = run.config, run.learner, games * 5 // 4
    how = config.search, config.budget, config.explore, replace(config.selfplay, games=more), run.parts
    examples = SelfPlay(BOXES, [learner.evaluator()], *how).play(24 * more, [record.seed, 4]).examples
    which = np.cumsum(np.diff(examples.states["ply"].astype(int), prepend=99) < 0) - 1  # a new game begins where the ply falls
    is_new = which % 5 == 4
    mixed = np.random.default_rng(record.seed).permutation(8 * (~is_new).sum())
    training, tested = np.split(mixed, [int(0.8 * len(mixed))])
    seen, unseen = _arrays(examples, ~is_new), _arrays(examples, is_new)
    net: Any = learner.net
    load_keras().utils.set_random_seed(record.seed)  # of the order of boards
    net.compile(optimizer="adam", loss={"policy": "categorical_crossentropy", "value": "mse"})  # Adam's rate is 0.001
    history: dict[str, list] = {}
    on_new: dict[str, list] = {}
    with record.progress("one version") as report:
        for epoch in range(epochs):
            fit = net.fit(*_rows(seen, training), batch_size=64, verbose=0, validation_data=_rows(seen, tested), shuffle=True)
            new = net.evaluate(*unseen, batch_size=1024, verbose=0, return_dict=True)
            for losses, kept in ((fit.history, history), ({name: [new[name]] for name in LOSSES.values()}, on_new)):
                for name, values in losses.items():
                    kept.setdefault(name, []).extend(values)
            report(epoch + 1, epochs)
    counted = {"games": int(which.max()) + 1, "boards": examples.size, "kept away": len(np.unique(which[is_new]))}
    return {"history": history, "new": on_new, "games": counted}


def _arrays(examples: Examples, chosen: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Inputs and targets of some examples in 8 symmetric copies, as Keras takes them."""
    planes, policy, values = in_all_symmetries(BOXES, examples.take(chosen))
    target = np.zeros((len(policy), 28), np.float32)
    target[:, outputs_of_actions(BOXES, 28, "lines")] = policy
    return planes[:, 0], {"policy": target, "value": values[:, None]}


def _rows(data: tuple[np.ndarray, dict[str, np.ndarray]], chosen: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    return data[0][chosen], {name: part[chosen] for name, part in data[1].items()}


def _matches(record: Recorder, team: dict[str, TrainedAgent], mcts: str, games: int) -> None:
    """The pairings of tables 5.4 and 5.7 to 5.12 among our networks, from the empty board."""

    def plain(name: str) -> Kept:
        return Kept(mcts, record.seed + 1, record.folder / f"{name}.jsonl")

    pairs: dict[str, tuple[Any, Any]] = {"s3.a.mcts": (team["A"], plain("a_mcts")), "s3.b.mcts": (team["B"], plain("b_mcts"))}
    pairs |= {"s3.b.v60": (team["B"], team["B 60"]), "s3.c.v60": (team["C"], team["B 60"]), "s3.c.v100": (team["C"], team["B"])}
    rows = []
    for name, (one, other) in pairs.items():
        with record.progress(f"{one.name} against {other.name}") as report:
            played = match(one, other, 2 * games, BOXES, openings=0, seed=record.seed, progress=report)
        claims = {"s3.a.mcts": ["", name], "s3.b.mcts": ["", ""]}.get(name, [f"{name}.first", f"{name}.second"])
        for tally, claim in zip(played.by_seat, claims):
            if claim:
                record(claim, tally.score, note=f"{games} games, trained at this scale")
        if name == "s3.b.mcts":
            record(name, played.score, note="both seats")
        rows.append({"claims": claims, **_row(played)})
    record.data("matches", rows)


def _row(played: MatchResult) -> dict[str, Any]:
    seats = {seat: {"score": tally.score, "results": str(tally)} for seat, tally in zip(("first", "second"), played.by_seat)}
    return {"names": list(played.names), **seats, "different": played.distinct, "games": len(played.records)}


def _aguayo(record: Recorder, team: dict[str, TrainedAgent], layers: list, iterations: int, games: int) -> None:
    """A right search with those settings of Aguayo's training that are published, and matches from random openings."""
    aguayo: dict[str, Any] = {"net.layers": layers, "net.dropout": 0.3, "iterations": iterations}
    aguayo |= {"budget.simulations": 25, "evaluation.simulations": 25, "selfplay.positions": 600, "selfplay.games": 25}
    aguayo |= {"gate.score": 0.6, "gate.games": 20, "training.passes": [[1, 10.0]], "training.window": [[1, 600], [20, 12_000]]}
    run = AlphaZero.from_config(right(record.seed).changed(aguayo), record.folder / "aguayo")
    with record.progress("Aguayo's settings") as run.progress:
        run.train()
    opponent = player(run, "Aguayo", record.seed)
    rows = [_row(match(team[subset], opponent, 2 * games, BOXES, seed=record.seed)) for subset in SUBSETS]
    minutes = sum(row["cpu_seconds"] for row in run.metrics) / 60
    record.data("Aguayo's settings", {"iterations": iterations, "core minutes": minutes, "matches": rows})
