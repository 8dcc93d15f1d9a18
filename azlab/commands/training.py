"""`azlab train`, `run` and `sweep`: trainings, and what became of them."""

import argparse
import re
import sys
from typing import Any

from azlab.commands.words import add_net, as_option, load_code
from azlab.endings import STOPPED
from azlab.errors import AzlabError

OWN_RANDOM_PLIES = 8  # up to so many random moves open the games of `azlab run --test own`, or they would all be alike


def add_train(commands: argparse._SubParsersAction) -> None:
    train = commands.add_parser(
        "train",
        help="train a network by self-play",
        description="Train a network by self-play, in a folder. The same command goes on where it was stopped.",
    )
    train.add_argument(
        "preset",
        nargs="?",
        metavar="WHAT",
        help="settings that ship with azlab (tictactoe, connect4, ...) or any game (othello.py:Othello); default: --config",
    )
    train.add_argument(
        "options",
        nargs="*",
        type=as_option,
        metavar="NAME=VALUE",
        help="options of the game and other settings: size=6 simulations=100",
    )
    add_net(train)
    train.add_argument("--config", metavar="FILE", help="settings from a TOML file")
    train.add_argument("--out", metavar="FOLDER", help="folder of the run (default: runs/ and the preset's or file's name)")
    train.add_argument("--json", action="store_true", help="print a JSON line an iteration instead of a progress bar")
    train.set_defaults(run=_train)


def _train(args: argparse.Namespace) -> int:
    from azlab.learning.settings import chosen, folder_for

    if args.preset and re.fullmatch(r"[a-z_.]+=.*", args.preset):  # nothing but settings
        args.options, args.preset = [as_option(args.preset), *args.options], None
    config = chosen(args.preset, args.config, args.options, args.net)
    folder = args.out or folder_for(args.preset, args.config, config)
    from azlab.learning.alphazero import AlphaZero
    from azlab.learning.progress import JsonProgress, TerminalProgress, headline

    progress = JsonProgress() if args.json else TerminalProgress()
    try:
        words = [args.preset, *(f"--{k} {vars(args)[k]}" for k in ("config", "net") if vars(args)[k])]
        words += [f"{k}={_word(v)}" for k, v in args.options]
        command = " ".join(["azlab train", *(word for word in words if word)])
        # the command is kept as text, and the name of a file need not be one
        run = AlphaZero.from_config(config, folder, progress, command.encode("utf-8", "backslashreplace").decode())
        metrics = run.train()
    except KeyboardInterrupt:
        print(f"\nStopped. Finished iterations are in {folder}; the same command goes on from there.", file=sys.stderr)
        return STOPPED
    finally:
        if isinstance(progress, TerminalProgress):
            progress.close()
    if not args.json:
        print(f"The run is in {folder}: {headline(metrics[-1])}.")
    return 0


def _word(value: object) -> str:
    return str(value).replace(" ", "")


def add_run(commands: argparse._SubParsersAction) -> None:
    run = commands.add_parser("run", help="what a training run has done so far", description="Show a training run.")
    run.add_argument("folder", metavar="FOLDER", help="the folder of the run")
    run.add_argument("--game", metavar="FILE.py:CLASS", help="the game, if it is code of yours, for --test and --player")
    add_net(run)
    run.add_argument("--watch", action="store_true", help="stay and show every new iteration, until Ctrl-C")
    run.add_argument("--curves", metavar="FILE", help="draw the learning curves to a picture (.png or .svg)")
    run.add_argument(
        "--test",
        metavar="POSITIONS",
        help="accuracy on graded positions: reachable, random, a data set's name, or own (its own games)",
    )
    run.add_argument("--count", type=int, default=0, help="how many positions, or own games, to test on (default: all; 1000)")
    run.add_argument("--iteration", type=int, help="test this iteration's network (default: the last)")
    run.add_argument("--player", metavar="FILE", help="write the network to a small file that plays by itself (data/players/)")
    run.add_argument("--record", metavar="FILE", help="write command, settings, machine and curve to a small JSON file")
    run.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from azlab.learning.progress import headline
    from azlab.learning.run_folder import RunFolder

    load_code(args)
    folder = RunFolder(args.folder)
    folder.settings()  # of any learner's run; says so if this is none
    for row in folder.follow() if args.watch else folder.metrics():
        print(headline(row), flush=True)
    if not folder.metrics():
        print("No iteration is finished yet.")
    if args.curves:
        from azlab.show import curves

        figure = curves(args.folder)
        try:
            figure.savefig(args.curves)
        except (OSError, ValueError) as error:  # a folder that cannot be written, or a kind of picture that is not known
            raise AzlabError(f"The curves cannot be drawn to {args.curves}: {error}") from None
        print(f"The curves are in {args.curves}.")
    tests = {}
    if args.test:
        tests = _tested(args)
    if args.player:
        from azlab.learning.alphazero import trained_learner
        from azlab.learning.shipped import save_player

        config = folder.config()
        save_player(trained_learner(folder, config, args.iteration or folder.iteration()), config, args.player)
        print(f"The player is in {args.player}.")
    if args.record:
        from azlab.repro.training import save_record

        save_record(args.folder, args.record, tests)
        print(f"The record is in {args.record}.")
    return 0


def _tested(args: argparse.Namespace) -> dict[str, Any]:
    """Accuracy of a run's network on graded positions, printed and returned."""
    from tqdm import tqdm

    from azlab.learning.evaluation import graded, graded_by_oracle, network_accuracy, own_positions, search_accuracy
    from azlab.learning.player import TrainedAgent
    from azlab.machine import cores

    players = [TrainedAgent(args.folder, iteration=args.iteration, threads=1) for _ in range(cores())]
    nets = [player.evaluator for player in players]
    settings = players[0].search, players[0].budget
    if args.test == "own":
        states = own_positions(nets, *settings, args.count or 1000, OWN_RANDOM_PLIES)
        test = graded_by_oracle(players[0].game, states)
    else:
        test = graded(players[0].game, args.test, args.count)
    with tqdm(total=len(test.states), unit="position", disable=None, leave=False) as bar:
        searched = search_accuracy(nets, test, *settings, 0, bar.update, players[0].searcher)
    found = network_accuracy(nets[0], test) | searched
    for name, share in found.items():
        figure = f"{share:.4f}" if name == "mean_loss" else f"{share:.2%}"
        print(f"{name.replace('_', ' ')}: {figure} of {len(test.states):,}")
    return {"positions": args.test, "count": len(test.states), "iteration": players[0].iteration, **found}


def add_sweep(commands: argparse._SubParsersAction) -> None:
    sweep = commands.add_parser(
        "sweep",
        help="train several settings with several seeds, and compare them",
        description="Train every arm of a file with every seed, one core each. The same command goes on where it was stopped.",
    )
    sweep.add_argument(
        "file", metavar="FILE", help="a TOML file: a preset, seeds, and arms with their settings (docs/training.md)"
    )
    sweep.add_argument("--out", metavar="DIR", help="folder of the sweep (default: runs/ and the file's name)")
    sweep.add_argument("--processes", type=int, metavar="N", help="how many trainings at once (default: one a core)")
    sweep.add_argument("--only", action="append", metavar="ARM", help="run this arm alone; may be given several times")
    sweep.add_argument("--list", action="store_true", help="say what would run and how much of it is done, and stop")
    sweep.add_argument("--game", action="append", metavar="FILE.py:CLASS", help="code of yours that the file names as a game")
    sweep.add_argument("--net", action="append", metavar="FILE.py:FUNCTION", help="code of yours that the file names as a net")
    sweep.set_defaults(run=_sweep)


def _sweep(args: argparse.Namespace) -> int:
    from azlab.learning import sweep_command

    return sweep_command.run(args)
