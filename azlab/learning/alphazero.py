"""AlphaZero: play, train, gate, evaluate, repeat. One loop for all games, nets and variants; the variants are settings.

    from azlab.learning import AlphaZero, preset
    run = AlphaZero.from_config(preset("tictactoe"), "runs/tictactoe")
    run.train()

Any game and any network can be handed in: AlphaZero(game, TorchLearner(game, net, loss), config, folder).

Killed at any moment, the same call goes on after the last finished iteration, with the same network, optimiser, window,
unfinished games and Elo. Random numbers are drawn from the seed, the iteration and the purpose, so a resumed run on a CPU
equals one that was never interrupted.
"""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from azlab.arena.agents import PuctAgent, close, ready
from azlab.arena.agents import agent as agent_by_name
from azlab.arena.elo import added_rating, fit
from azlab.arena.match import match
from azlab.arena.phases import PhaseAgent
from azlab.arena.results import Tally
from azlab.errors import AzlabError
from azlab.files import load_arrays
from azlab.games.game import Game
from azlab.learning.beginning import first_examples, take_beginning
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.evaluation import Graded, graded, network_accuracy, sample, search_accuracy
from azlab.learning.horizon import find_judge, judged_match, keep_judge
from azlab.learning.learner import KerasLearner, Learner, LossConfig, TorchLearner
from azlab.learning.made_of import check_same, described, with_objects
from azlab.learning.parts import Parts, both_seats, complete, parts_of
from azlab.learning.progress import counter
from azlab.learning.run_files import clock, spent
from azlab.learning.run_folder import RunFolder
from azlab.learning.schedules import linear
from azlab.learning.selfplay import Collected, SelfPlay, nothing_collected, together
from azlab.learning.window import Window
from azlab.nets.kinds import is_torch, new_net
from azlab.nets.threads import threads
from azlab.search.evaluators import PhaseEvaluator, RestEvaluator, refresh

# Called as progress(what is being done, steps done, steps in all); after an iteration as
# progress("iteration", iteration, iterations, **metrics).
Progress = Callable[..., None]
PLAY, TRAIN = range(2)  # purposes of random numbers


def silent(what: str, done: int, total: int, **metrics: Any) -> None:
    """Reports to nobody."""


def new_learner(game: Game, net: dict[str, Any], loss: LossConfig, seed: int) -> Learner:
    """The learner that a config's [net] describes, with weights drawn from `seed`."""
    made, encoding = new_net(game, net, seed)
    if is_torch(made):
        return TorchLearner(game, made, loss, encoding=encoding)
    return KerasLearner(game, made, loss, seed, encoding=encoding)


def trained_learner(folder: RunFolder, config: AlphaZeroConfig, iteration: int) -> Learner:
    """A learner with the network of a run after `iteration`."""
    learner = new_learner(config.rules(), config.net, config.loss, config.seed)
    learner.load(folder.net_file(iteration, learner.suffix))
    return learner


def evaluator_of(
    learner: Learner, config: AlphaZeroConfig, threads: int | None = None, beyond: Any = None, file: Path | None = None
) -> Any:
    """The learner's network, or that of a file of its run, as the evaluator of the config's searches.

    beyond: the evaluator that judges positions at a horizon, where the config has one
    """
    found = learner.evaluator(threads) if file is None else learner.version(file, threads)
    if beyond is not None:
        return PhaseEvaluator(learner.game, found, beyond)
    return RestEvaluator(found, learner.game) if config.search.margin else found


class AlphaZero:
    """A training run in a folder.

    game, learner: any; None takes those that the config names. A run that was begun with objects goes on with the same ones.
    config: None goes on with the folder's own; what it says of game, options, net and loss gives way to what is handed in
    """

    def __init__(
        self,
        game: Game | None,
        learner: Learner | None,
        config: AlphaZeroConfig | None,
        folder: str | Path,
        progress: Progress | None = None,
        command: str = "",
        parts: Parts | None = None,
    ) -> None:
        if isinstance(game, AlphaZeroConfig):
            raise AzlabError(
                "AlphaZero takes (game, learner, config, folder); of a config alone AlphaZero.from_config(config, folder)."
            )
        self.folder = RunFolder(folder)
        self.config = with_objects(config if config is not None else self.folder.config(), game, learner)
        self.progress = progress or silent
        self.command = command  # that began the run, for the record
        self.game = game or (learner.game if learner else self.config.rules())
        self._given = learner
        self.judge = find_judge(self.game, self.config, self.folder.path)
        self.parts = parts or parts_of(self.config)
        self._test: Graded | None = None
        self._start()

    @classmethod
    def from_config(
        cls,
        config: AlphaZeroConfig | None,
        folder: str | Path,
        progress: Progress | None = None,
        command: str = "",
        parts: Parts | None = None,
    ) -> "AlphaZero":
        """A run whose game and network are those that the config names; without one, those of the folder."""
        return cls(None, None, config, folder, progress, command, parts)

    def _start(self) -> None:
        """The state of a run before its first iteration, but for the weights of a learner that was handed in."""
        self.learner = self._given or new_learner(self.game, self.config.net, self.config.loss, self.config.seed)
        workers = self.config.selfplay.workers
        share = max(1, threads() // workers)
        judges = [self.judge.learner.evaluator(share) if self.judge else None for _ in range(workers)]
        self._judging = judges[0]  # in gate and evaluation, where one thread plays
        self.evaluators = [evaluator_of(self.learner, self.config, share, beyond) for beyond in judges]
        settings = self.config.search, self.config.budget, self.config.explore, self.config.selfplay
        self.selfplay = SelfPlay(self.game, self.evaluators, *settings, self.parts)
        self.window = Window(self.game, self.config.training.merge)
        self.iteration = 0
        self.metrics: list[dict[str, Any]] = []
        self._is_between = True  # no iteration was begun and not finished

    # --- the loop -------------------------------------------------------------------------------------------------

    def train(self) -> list[dict[str, Any]]:
        """Run all iterations that are still to be done; return the metrics of all."""
        for _ in self.rows():
            pass
        return self.metrics

    def rows(self) -> Iterator[dict[str, Any]]:
        """The same step by step: the metrics of every iteration, those of finished ones first."""
        with self.folder.locked():
            if not self.folder.iteration() and not self._first_files()[1].is_file():
                take_beginning(self.learner, self.config)  # before a wrong name of it is written down
            self.folder.begin(self.config, self.parts)
            check_same(self.folder.path, described(self.game, self.learner, self.config))
            if self.judge is not None:
                keep_judge(self.judge, self.folder.path)
            if self.command:
                self.folder.set_command(self.command)
            self.folder.go_back(self.folder.iteration())
            self.resume()
            self._keep_first_weights()
            self._prepare_evaluation()
            yield from list(self.metrics)
            while self.iteration < self.config.iterations and not self._is_time_up() and not self._is_flat():
                self._iterate(self.iteration + 1)
                yield self.metrics[-1]

    def resume(self) -> None:
        """Take over the state of the last finished iteration in the folder, also after Ctrl-C in the one that followed."""
        done = self.folder.iteration()
        if done != self.iteration or not self._is_between:
            self._start()
            self._take_over(done)
        self.metrics = self.folder.all_metrics(done)

    def _first_files(self) -> tuple[Path, Path]:
        return self.folder.net_file(0, self.learner.suffix), self.folder.optimiser_file(0)  # the second is written last

    def _keep_first_weights(self) -> None:
        """Of a learner that was handed in, or of another run: nothing else can make them again. The first gate may want them."""
        if self.folder.iteration() or not (self._given or self.config.begin.weights or self._plays_untrained):
            return
        if self._first_files()[1].is_file():
            self.learner.load(*self._first_files())
        else:
            self.learner.save(*self._first_files())
        self._refresh()

    @property
    def _plays_untrained(self) -> bool:
        return self.config.gate.first == "untrained"

    def _take_over(self, done: int) -> None:
        if done == 0:
            return
        for iteration in range(1, done + 1):
            self.progress("reading games", iteration, done)
            with self.folder.remedy(iteration) if iteration == done else contextlib.nullcontext():
                self.window.add(self.folder.load_games(iteration, self.game))
            self.window.trim(self._window(iteration))
        with self.folder.remedy(done):
            self.learner.load(self.folder.net_file(done, self.learner.suffix), self.folder.optimiser_file(done))
            files = self.folder.unfinished_files(done)
            if len(files) != len(self.selfplay.workers):
                raise AzlabError(f"The last checkpoint in {self.folder.path} lacks files of unfinished games.")
            for worker, file in zip(self.selfplay.workers, files, strict=True):
                worker.resume(load_arrays(file, worker.most_bytes), file)
        self._refresh()
        self.iteration = done

    def _is_time_up(self, more: float = 0.0) -> bool:
        """Whether the hours are used up, after `more` seconds of the present iteration."""
        spent = sum(row["seconds"] for row in self.metrics) + more
        return 0 < self.config.hours * 3600 <= spent

    def _is_flat(self) -> bool:
        """Whether the last `patience` tests of the search were no better than the best before them."""
        patience = self.config.evaluation.patience
        tests = [row["mcts_accuracy"] for row in self.metrics if "mcts_accuracy" in row]
        return 0 < patience < len(tests) and max(tests[-patience:]) <= max(tests[:-patience])

    def _iterate(self, iteration: int) -> None:
        """One iteration, which counts once its checkpoint is written."""
        began = begin, cpu = clock()
        row: dict[str, Any] = {"iteration": iteration}
        self._is_between = False
        row |= self._play(iteration)
        played, played_cpu = clock()
        row |= self._learn(iteration)
        row["play_seconds"], row["train_seconds"] = played - begin, time.perf_counter() - played
        row["play_cpu_seconds"], row["train_cpu_seconds"] = played_cpu - cpu, time.process_time() - played_cpu
        self.learner.save(self.folder.net_file(iteration, self.learner.suffix), self._optimiser_aside())
        if self.config.gate.score:
            row |= self._gate(iteration)
        before = time.perf_counter()
        last = iteration == self.config.iterations or self._is_time_up(before - begin)
        if self._test is not None and (iteration % self.config.evaluation.network_every == 0 or last):
            row |= network_accuracy(self.evaluators[0], self._test)
        if iteration % self.config.evaluation.search_every == 0 or last:
            row |= self._evaluate(iteration)
        row["evaluation_seconds"] = time.perf_counter() - before
        row |= spent(began, self.metrics)
        unfinished = [worker.unfinished() for worker in self.selfplay.workers]
        self.folder.finish(iteration, self._optimiser_aside().replace, unfinished, row)
        self.iteration, self._is_between = iteration, True
        self.metrics.append(row)
        self.progress("iteration", iteration, self.config.iterations, **row)

    def _optimiser_aside(self) -> Path:
        return self.folder.path / "optimiser.safetensors"

    def _seed(self, iteration: int, purpose: int) -> list[int]:
        return [self.config.seed, iteration, purpose]

    def _refresh(self) -> None:
        for evaluator in self.evaluators:
            refresh(evaluator)

    # --- play -----------------------------------------------------------------------------------------------------

    def _play(self, iteration: int) -> dict[str, Any]:
        """Self-play until enough examples are there; they go into the window and to disk."""
        config, found = self.config.selfplay, nothing_collected(self.game)
        if iteration == 1 and (first := first_examples(self.config, self.parts)) is not None:
            found = first(self.game, config, self._seed(iteration, PLAY), self.progress)
            fresh = self.window.add(found.examples)
            self.folder.save_games(iteration, found.examples)
            return _facts_of_play(found, fresh)
        counted, fresh, rounds = 0, 0, 0
        while counted < config.positions:
            report = counter(self.progress, "playing", config.positions, counted)
            part = self.selfplay.play(config.positions - counted, [*self._seed(iteration, PLAY), rounds], report)
            counted += self.window.count_new(part.examples) if config.count_new else part.examples.size
            fresh += self.window.add(part.examples)
            found, rounds = together(self.game, [found, part]), rounds + 1
            if config.count_new and 100 * (counted + 1) < found.examples.size:
                raise AzlabError("Fewer than 1 in 100 positions played are new: this game is explored. Set count_new = false.")
        self.folder.save_games(iteration, found.examples)
        return _facts_of_play(found, fresh)

    # --- train ----------------------------------------------------------------------------------------------------

    def _window(self, iteration: int) -> int:
        return int(linear(self.config.training.window, iteration))

    def _learn(self, iteration: int) -> dict[str, Any]:
        """Go through the window, in batches drawn without repetition within a pass."""
        config = self.config.training
        self.window.trim(self._window(iteration))
        examples = self.window.examples()
        rng = np.random.default_rng(self._seed(iteration, TRAIN))
        steps = max(1, round(linear(config.passes, iteration) * examples.size / config.batch))
        order, losses = np.zeros(0, np.int64), []
        for step in range(steps):
            if len(order) < config.batch:
                order = np.concatenate([order, rng.permutation(examples.size)])
            rows, order = order[: config.batch], order[config.batch :]
            rate, momentum = config.rate_at(iteration, step / steps), config.momentum_at(step / steps)
            losses.append(self.learner.step(examples.take(rows), rate, momentum, rng))
            if step % 10 == 9 or step == steps - 1:
                self.progress("training", step + 1, steps)
        self._refresh()
        means = {name: float(np.mean([row[name] for row in losses])) for name in losses[0]}
        return {"window": examples.size, "steps": steps, "rate": config.rate_at(iteration, 0.5)} | means

    # --- gate and evaluation --------------------------------------------------------------------------------------

    def _player(self, evaluator: Any, name: str, seed: int, in_gate: bool = False) -> Any:
        """A network as a player of matches: in the gate with self-play's search, else with that of tests."""
        config, parts = self.config, self.parts
        if in_gate:
            player = PuctAgent(evaluator, config.search, config.budget, name, seed, searcher=parts.searcher)
        else:
            settings = config.test_search, config.evaluation.simulations, name, seed
            player = PuctAgent(evaluator, *settings, searcher=parts.test_searcher)
        if self.judge is None or (in_gate and self._is_judged):
            return player
        return PhaseAgent(player, self.judge.player(seed, self._judging), name)

    @property
    def _is_judged(self) -> bool:
        """Whether the gate's games end at the horizon; a gate that was handed in has players of whole games."""
        return self.judge is not None and self.config.gate.beyond == "judged" and self.parts.gate is both_seats

    def _version(self, iteration: int) -> Any:
        """An earlier network as an evaluator."""
        file = self.folder.net_file(iteration, self.learner.suffix)
        return evaluator_of(self.learner, self.config, threads(), self._judging, file)

    def _gate(self, iteration: int) -> dict[str, Any]:
        """Let the new network play the best so far; if it does not win, go back (AlphaGo Zero)."""
        best = next((row["iteration"] for row in reversed(self.metrics) if row.get("accepted")), None)
        if best is None:
            if not self._plays_untrained:
                return {"accepted": True, "gate_score": None}
            best = 0
        config, seed = self.config.gate, self.config.seed + iteration
        new = self._player(self.evaluators[0], f"version {iteration}", seed, in_gate=True)
        old = self._player(self._version(best), f"version {best}", seed + 1, in_gate=True)
        found = self._gate_match(new, old, seed)
        score = found.score if isinstance(found, Tally) else float(found)
        accepted = score >= config.score
        if not accepted:
            self.learner.load(self.folder.net_file(best, self.learner.suffix))
            self.learner.save(self.folder.net_file(iteration, self.learner.suffix), self._optimiser_aside())
            self._refresh()
        row = {"accepted": bool(accepted), "gate_score": score, "gate_against": best}
        if isinstance(found, Tally):
            row |= {"gate_wins": found.wins, "gate_draws": found.draws, "gate_losses": found.losses}
            known = {old["iteration"]: old["gate_elo"] for old in self.metrics if "gate_elo" in old}
            row["gate_elo"] = known.get(best, 0.0) + added_rating(found)
        return row

    def _gate_match(self, new: Any, old: Any, seed: int) -> Tally | float:
        config, report = self.config.gate, functools.partial(self.progress, "gate")
        if self._is_judged:
            return judged_match(new, old, self.game, config, self._judging, seed, report)
        return self.parts.gate(new, old, self.game, config, seed, report)

    def _evaluate(self, iteration: int) -> dict[str, Any]:
        """The search on graded positions, and matches against fixed agents and earlier versions, from which Elo is fitted."""
        config = self.config.evaluation
        row: dict[str, Any] = {}
        if self._test is not None:
            row |= self._search_accuracy(sample(self._test, config.count))
        seed = 1000 * self.config.seed + iteration
        me = self._player(self.evaluators[0], f"version {iteration}", seed)
        opponents = self._opponents(seed)
        evaluated = [old["iteration"] for old in self.metrics if "elo" in old][-config.earlier :] if config.earlier else []
        opponents += [self._player(self._version(old), f"version {old}", seed + 1) for old in evaluated]
        for opponent in opponents:
            report = functools.partial(self.progress, f"playing {opponent.name}")
            try:
                played = complete(match(me, opponent, config.games, self.game, config.opening_plies, seed, report))
            finally:
                close(opponent)
            result = [played.wins, played.draws, played.losses]
            self.folder.add_match({"iteration": iteration, "player": me.name, "opponent": opponent.name, "result": result})
            if opponent.name in config.opponents:
                row[f"score {opponent.name}"] = played.score
        if config.opponents or config.earlier:
            row["elo"] = self._elo(me.name)
        return row

    def _opponents(self, seed: int) -> list[Any]:
        """The agents of the config, ready to play."""
        return [ready(agent_by_name(name, seed), self.game) for name in self.config.evaluation.opponents]

    def _prepare_evaluation(self) -> None:
        """Find positions and opponents before the first iteration, not after it: what is wrong with them is said at once."""
        for opponent in self._opponents(0):
            close(opponent)
        config = self.config.evaluation
        if config.positions and self._test is None:
            self.progress("grading positions", 0, 1)
            count = config.count if config.positions == "random" else 0
            self._test = graded(self.game, config.positions, count, self.config.seed)

    def _search_accuracy(self, test: Graded) -> dict[str, float]:
        report = counter(self.progress, "testing", len(test.states))
        settings = self.config.test_search, self.config.evaluation.simulations, 0, report, self.parts.test_searcher
        return search_accuracy(self.evaluators, test, *settings)

    def _elo(self, name: str) -> float | None:
        """The player's Elo from all matches so far; the first version, or the first opponent, stands at 0."""
        games = [
            (row["player"], row["opponent"], score)
            for row in self.folder.matches()
            for score, count in zip((1.0, 0.5, 0.0), row["result"], strict=True)
            for _ in range(count)
        ]
        if not games:
            return 0.0
        anchor = self.config.evaluation.opponents[0] if self.config.evaluation.opponents else games[0][1]
        return fit(games, anchor=(anchor, 0.0), first_advantage=False)[name].value


def _facts_of_play(found: Collected, fresh: int) -> dict[str, Any]:
    """What is worth knowing of a stretch of self-play."""
    return {
        "games": found.games,
        "examples": found.examples.size,
        "moves": found.moves,
        "game_length": found.lengths / max(1, found.games),
        "first_wins": found.wins[0] / max(1, found.games),
        "draws": found.wins[1] / max(1, found.games),
        "diversity": fresh / max(1, found.examples.size),
        "searches": found.searches,
        "simulations": found.simulations,
        "evaluations": found.evaluations,
        "computed": found.computed,
        "network_share": found.network_seconds / max(1e-9, found.seconds),
    }
