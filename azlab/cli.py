"""The command `azlab`. Every part is imported when it is asked for, so that `azlab --help` answers at once."""

import argparse
import math
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azlab import __version__
from azlab.endings import STOPPED, Parser, ended
from azlab.errors import AzlabError, literal, one_of

if TYPE_CHECKING:
    from azlab.games.game import Game


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code. An error is printed as one sentence."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    others = [word for word in words if word != "--debug"]

    def run() -> int:
        args = _parsed(others)
        args.is_debugged = others != words
        return args.run(args)

    return ended(run, is_debugged=others != words)


def _parsed(words: list[str]) -> argparse.Namespace:
    """The command and its arguments; flags, names and options such as size=9 may stand in any order behind the command."""
    if any("\0" in word for word in words):
        raise AzlabError("An argument holds a zero byte, which no name can have.")
    parser, commands = _parsers()
    if words and words[0] in commands:
        return commands[words[0]].parse_intermixed_args(words[1:])
    return parser.parse_args(words)


def _parsers() -> tuple[Parser, dict[str, Parser]]:
    """The parser of `azlab` itself, and those of its commands."""
    parser = Parser(prog="azlab", description="Learn game-playing reinforcement learning and check what was claimed.")
    parser.add_argument("--version", action="version", version=f"azlab {__version__}")
    parser.add_argument("--debug", action="store_true", help="show where an error happened; goes with every command")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_play(commands)
    _add_match(commands)
    _add_tournament(commands)
    _add_gtp(commands)
    _add_reproduce(commands)
    _add_train(commands)
    _add_run(commands)
    _add_sweep(commands)
    _add_bench(commands)
    _add_data(commands)
    _add_course(commands)
    doctor = commands.add_parser("doctor", help="what this machine has, what is wrong, how to fix it")
    doctor.set_defaults(run=_doctor)
    return parser, commands.choices


def _option(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"an option looks like size=9, not {text!r}")
    if value in ("true", "false"):  # as config files spell them
        return key, value == "true"
    return key, literal(value)


def _seed(text: str) -> int:
    seed = literal(text)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 on, not {text!r}")
    return seed


def _add_play(commands: argparse._SubParsersAction) -> None:
    play = commands.add_parser("play", help="play a game in the terminal", description="Play a game in the terminal.")
    play.add_argument("game", help="tictactoe, connect4, dots_and_boxes, go, simple_go, seega, or yours: othello.py:Othello")
    play.add_argument("options", nargs="*", type=_option, metavar="OPTION=VALUE", help="options of the game, e.g. size=9")
    play.add_argument(
        "--against",
        default="random",
        help="random, minimax:6, uct:5000, uct:2s, puct:800, perfect, gnugo:10, az, net:FILE (default: random)",
    )
    play.add_argument("--seat", choices=["first", "second", "both"], default="first", help="which seat you take (default: first)")
    play.add_argument("--moves", default="", help="start after these moves")
    play.add_argument("--seed", type=_seed, help="makes the opponent's choices repeatable")
    _add_net(play)
    play.set_defaults(run=_play)


def _play(args: argparse.Namespace) -> int:
    from azlab.arena.terminal import play
    from azlab.games import game

    rules = game(args.game, **dict(args.options))
    _load_code(args)
    position = rules.from_moves(args.moves)
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    play(position, _agent(args.against, seed, rules), {"first": 0, "second": 1, "both": None}[args.seat])
    return 0


def _agent(name: str, seed: int, rules: "Game") -> Any:
    """The agent called `name`; one that cannot play this game says so now, not at its first move."""
    from azlab.arena.agents import agent, ready

    return ready(agent(name, seed), rules)


def _add_match(commands: argparse._SubParsersAction) -> None:
    match = commands.add_parser("match", help="let two agents play each other")
    match.add_argument("game", help="the game, as for play")
    match.add_argument("first", metavar="AGENT", help="e.g. uct:1000")
    match.add_argument("second", metavar="AGENT", help="e.g. minimax:4")
    match.add_argument("options", nargs="*", type=_option, metavar="OPTION=VALUE", help="options of the game, e.g. size=9")
    match.add_argument("--games", type=int, default=100, help="how many, an even number (default: 100)")
    match.add_argument("--openings", type=int, help="random moves before each game (default: 2, more when those are used up)")
    match.add_argument("--seed", type=_seed, default=0, help="of the openings and the agents (default: 0)")
    match.add_argument("--save", metavar="FILE", help="keep every game as JSON lines")
    _add_net(match)
    match.set_defaults(run=_match)


def _match(args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from azlab.arena import match
    from azlab.arena.match import AgentFailed
    from azlab.games import game

    rules = game(args.game, **dict(args.options))
    _load_code(args)
    players = [_agent(name, args.seed + k, rules) for k, name in enumerate((args.first, args.second))]
    if args.save and (os.path.isdir(args.save) or not os.access(os.path.dirname(os.path.abspath(args.save)), os.W_OK)):
        raise AzlabError(f"The games cannot be saved in {args.save}: name a file in a folder that can be written.")
    with tqdm(total=args.games, unit="game", disable=None) as bar:
        progress = lambda done, total: bar.update(done - bar.n)  # noqa: E731
        try:
            result = match(players[0], players[1], args.games, rules, args.openings, args.seed, progress)
        except AgentFailed as failure:
            print(failure.result)
            raise
    print(result)
    if args.save:
        result.save(args.save)
        print(f"The games are in {args.save}.")
    return 0 if result.complete else STOPPED


def _add_tournament(commands: argparse._SubParsersAction) -> None:
    tournament = commands.add_parser(
        "tournament",
        help="let all players in a folder of Python files play each other, and write a page with the games",
        description="A round robin of the files in a folder, one a player, each game in processes of its own with limits "
        "(docs/tournament.md). The same command goes on where it was stopped. It is no protection against malice.",
    )
    tournament.add_argument("folder", metavar="FOLDER", help="the folder with anna.py, ben.py and so on")
    tournament.add_argument("options", nargs="*", type=_option, metavar="OPTION=VALUE", help="options of the game, e.g. rows=4")
    tournament.add_argument("--game", required=True, help="the game, as for play")
    tournament.add_argument("--games", type=int, default=10, help="of each pair of players, an even number (default: 10)")
    tournament.add_argument("--with", dest="agents", action="append", metavar="AGENT", help="an agent plays too, e.g. uct:1000")
    tournament.add_argument("--seconds", type=float, default=5.0, help="for a move (default: 5)")
    tournament.add_argument("--start-seconds", type=float, default=30.0, help="for starting a player (default: 30)")
    tournament.add_argument("--memory", type=int, default=2000, metavar="MB", help="for a player, on Linux (default: 2000)")
    tournament.add_argument(
        "--openings", type=int, help="random moves before each game (default: 2, more when those are used up)"
    )
    tournament.add_argument("--seed", type=_seed, default=0, help="of the openings and the players (default: 0)")
    tournament.add_argument("--processes", type=int, metavar="N", help="how many games at once (default: one a core)")
    tournament.add_argument(
        "--out", metavar="FOLDER", help="folder of the results (default: runs/tournament_ and the folder's name)"
    )
    tournament.add_argument("--again", action="append", metavar="PLAYER", help="play this player's games anew")
    tournament.add_argument("--list", action="store_true", help="say who would play and how much of it is done, and stop")
    tournament.set_defaults(run=_tournament)


def _tournament(args: argparse.Namespace) -> int:
    from azlab.show import tournament_command

    return tournament_command.run(args)


def _add_gtp(commands: argparse._SubParsersAction) -> None:
    gtp = commands.add_parser(
        "gtp",
        help="be a Go engine for Sabaki, GoGui, Lizzie and other programs that speak the Go Text Protocol",
        description="Play Go over stdin and stdout by the Go Text Protocol (docs/gtp.md). `quit` or the end of the input end it.",
    )
    gtp.add_argument("agent", metavar="AGENT", help="who plays, e.g. uct:10000")
    gtp.add_argument("options", nargs="*", type=_option, metavar="OPTION=VALUE", help="options of Go: size=9 komi=7 ko=simple")
    gtp.add_argument("--name", default="", help="what the engine calls itself (default: azlab and the agent)")
    gtp.add_argument(
        "--as-version", metavar="VERSION", default="", help="the version it tells, for programs that want a certain one"
    )
    gtp.add_argument("--log", metavar="FILE", default="", help="write down what is said, to a file that grows")
    gtp.add_argument("--seed", type=_seed, help="makes the agent's choices repeatable")
    _add_net(gtp)
    gtp.set_defaults(run=_gtp, game=None)


def _gtp(args: argparse.Namespace) -> int:
    from azlab.arena.agents import agent
    from azlab.arena.gtp_engine import serve

    _load_code(args)
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    serve(agent(args.agent, seed), dict(args.options), args.name, args.as_version, args.log, args.is_debugged)
    return 0


def _add_reproduce(commands: argparse._SubParsersAction) -> None:
    reproduce = commands.add_parser("reproduce", help="run the experiments that check the sources' claims, and report")
    reproduce.add_argument(
        "what", nargs="*", metavar="WHAT", help="a source (s1), an experiment (s1.tictactoe) or a notebook (default: all)"
    )
    reproduce.add_argument("--profile", choices=["smoke", "laptop", "paper"], help="how large to run (default: smoke)")
    reproduce.add_argument("--seed", type=_seed, help="of everything random (default: 0)")
    reproduce.add_argument("--out", metavar="DIR", help="folder of the run (default: a new one in runs/)")
    reproduce.add_argument("--resume", action="store_true", help="go on with the run in --out, or with the newest unfinished one")
    reproduce.add_argument(
        "--estimate", action="store_true", help="time a few steps, say how long the profile would take, and stop"
    )
    reproduce.add_argument("--keep", action="store_true", help="keep the results in reproductions/, to be committed")
    reproduce.add_argument("--list", action="store_true", help="list sources, experiments and profiles, and stop")
    reproduce.set_defaults(run=_reproduce)
    report = commands.add_parser(
        "report", help="write the page that puts the sources' numbers beside ours, without running anything"
    )
    report.add_argument("runs", nargs="*", metavar="RUN", help="folders of runs to take in besides the results that are kept")
    report.add_argument("--out", metavar="DIR", default="runs/report", help="where to write it (default: runs/report)")
    report.set_defaults(run=_report)
    demo = commands.add_parser("demo", help="a one-minute demonstration: published counts recounted by the rules")
    demo.set_defaults(run=_demo)


def _reproduce(args: argparse.Namespace) -> int:
    from azlab.repro import command

    return command.reproduce(args)


def _report(args: argparse.Namespace) -> int:
    from azlab.repro import command

    return command.report(args)


def _demo(args: argparse.Namespace) -> int:
    from azlab.repro.demo import run

    return 0 if run() else 1


def _add_net(command: argparse.ArgumentParser) -> None:
    command.add_argument("--net", metavar="FILE.py:FUNCTION", help="code of yours that makes the network: a function of the game")


def _load_code(args: argparse.Namespace) -> None:
    """Run the code that the user names, so that the folder of a run may name it too."""
    if args.game:
        from azlab.games.registry import load_game

        load_game(args.game)
    if args.net:
        from azlab.nets.kinds import load_net

        load_net(args.net)


def _add_train(commands: argparse._SubParsersAction) -> None:
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
        type=_option,
        metavar="NAME=VALUE",
        help="options of the game and other settings: size=6 simulations=100",
    )
    _add_net(train)
    train.add_argument("--config", metavar="FILE", help="settings from a TOML file")
    train.add_argument("--out", metavar="FOLDER", help="folder of the run (default: runs/ and the preset's or file's name)")
    train.add_argument("--json", action="store_true", help="print a JSON line an iteration instead of a progress bar")
    train.set_defaults(run=_train)


def _train(args: argparse.Namespace) -> int:
    from azlab.learning.settings import chosen, folder_for

    if args.preset and re.fullmatch(r"[a-z_.]+=.*", args.preset):  # nothing but settings
        args.options, args.preset = [_option(args.preset), *args.options], None
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


def _add_run(commands: argparse._SubParsersAction) -> None:
    run = commands.add_parser("run", help="what a training run has done so far", description="Show a training run.")
    run.add_argument("folder", metavar="FOLDER", help="the folder of the run")
    run.add_argument("--game", metavar="FILE.py:CLASS", help="the game, if it is code of yours, for --test and --player")
    _add_net(run)
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

    _load_code(args)
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


def _add_sweep(commands: argparse._SubParsersAction) -> None:
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


OWN_RANDOM_PLIES = 8  # up to so many random moves open the games of `azlab run --test own`, or they would all be alike


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


def _add_bench(commands: argparse._SubParsersAction) -> None:
    bench = commands.add_parser("bench", help="measure speeds on this machine")
    bench.add_argument("part", nargs="*", help="what to measure: games, search, oracles, nets, learning, compile (default: all)")
    bench.add_argument("--peers", action="store_true", help="measure open_spiel, pgx and mctx too, where they are installed")
    bench.add_argument("--seconds", type=float, default=1.0, help="time for each figure (default: 1)")
    bench.add_argument("--json", action="store_true", help="print JSON instead of a table")
    bench.set_defaults(run=_bench)


def _bench(args: argparse.Namespace) -> int:
    from azlab import bench
    from azlab.bench import games, learning, nets, oracles, peers, search

    groups = {
        "games": [bench.on_one_core(games.playouts(args.seconds))],
        "search": [bench.on_one_core(part(args.seconds)) for part in (search.uct_rows, search.puct_rows)],
        "oracles": [bench.on_one_core(oracles.rows())],
        "nets": [nets.rows(args.seconds)],
        "learning": [learning.rows()],
        "compile": [games.first_use()],
    }
    if args.peers:
        groups["games"].append(bench.on_one_core(peers.playouts(args.seconds)))
        groups["search"].append(bench.on_one_core(peers.searches(args.seconds)))
    groups["search"].append(search.network_rows())
    for name in args.part:
        one_of("part", name, tuple(groups))
    if not 0 < args.seconds < math.inf:
        raise AzlabError("--seconds must be positive.")
    parts = [part for name in args.part or groups for part in groups[name]]
    rows = []
    for row in (row for part in parts for row in part):
        print(f"measured {row.what}", end="\r\033[K" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
        rows.append(row)
    print(bench.as_json(rows) if args.json else bench.table(rows))
    return 0


def _add_data(commands: argparse._SubParsersAction) -> None:
    data = commands.add_parser(
        "data",
        help="data sets: which are here, get a public one, make one",
        description="List the data sets, download a public one, or make one by perfect play (docs/data.md). `azlab data make` "
        "alone says what can be made; the same command goes on where it was stopped.",
    )
    data.add_argument("action", nargs="?", choices=["list", "get", "make"], default="list")
    data.add_argument(
        "name", nargs="*", metavar="NAME", help="get: data sets as the list names them; make: connect4 perfect=0.5 count=10000"
    )
    data.add_argument(
        "--out", metavar="FILE.txt.gz", help="make: where to write it, a folder for tables (default: where azlab finds it)"
    )
    data.add_argument("--processes", type=int, metavar="N", help="make: how many processes (default: one a core)")
    data.set_defaults(run=_data)


def _data(args: argparse.Namespace) -> int:
    from azlab.formats import datasets

    if args.action == "make":
        from azlab.oracles import making_command

        for word in args.name[1:]:
            if "=" not in word:
                raise AzlabError(f"An option of what is made looks like count=1000, not {word!r}.")
        return making_command.run(args.name[:1], dict(map(_option, args.name[1:])), args.out, args.processes)
    if args.out or args.processes:
        raise AzlabError("--out and --processes are for `azlab data make`.")
    if args.action == "list":
        if args.name:
            raise AzlabError("`azlab data` lists all data sets; to get one, say `azlab data get NAME`.")
        for row in datasets.status():
            size = f"{row.size / 1e6:.1f} MB"
            print(f"{row.name:<30} {row.where:<8} {size:>8}  {row.description} (licence: {row.licence})")
        return 0
    if not args.name:
        raise AzlabError("Say which data set to get; `azlab data` lists them.")
    for name in args.name:
        print(f"{name} is in {datasets.get(name, _show_bytes)}")
    return 0


def _show_bytes(done: int, total: int | None) -> None:
    print(f"\r{done / 1e6:.1f} MB{f' of {total / 1e6:.1f}' if total else ''}", end="", file=sys.stderr, flush=True)


def _add_course(commands: argparse._SubParsersAction) -> None:
    course = commands.add_parser(
        "course",
        help="make the notebooks of students from the instructor's",
        description="Make both versions of the lessons that have exercises to write: one with solutions, one without.",
    )
    course.add_argument("action", choices=["build"])
    course.add_argument("name", nargs="*", metavar="NAME", help="lessons, such as 02_minimax (default: all)")
    course.add_argument("--student", metavar="DIR", help="where to write the notebooks without solutions")
    course.add_argument("--instructor", metavar="DIR", help="where to write those with solutions")
    course.set_defaults(run=_course)


def _course(args: argparse.Namespace) -> int:
    from azlab.course.build import build
    from azlab.files import expanded

    student, instructor = (expanded(folder) if folder else None for folder in (args.student, args.instructor))
    for path in build(args.name, student, instructor):
        print(path)
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from azlab.doctor import report

    text, is_well = report()
    print(text)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
